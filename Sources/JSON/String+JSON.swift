extension String {
    /// Appends the string as JSON, with quotes and escapes. Source: RFC 8259, section 7.
    package func appendAsJSON(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: jsonCapacity) { buffer in
            let count = writeAsJSON(to: buffer.baseAddress!)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The maximum length of the string as JSON, in bytes.
    package var jsonCapacity: Int { 6 * utf8.count + 2 }

    /// Writes the string as JSON, with quotes and escapes, and returns the number of bytes.
    ///
    /// - Parameter start: memory for at least `jsonCapacity` bytes.
    package func writeAsJSON(to start: UnsafeMutablePointer<UInt8>) -> Int {
        let length: Int? = utf8.withContiguousStorageIfAvailable { Self.write($0, to: start) }
        if let length { return length }
        var native = self
        return native.withUTF8 { Self.write($0, to: start) }
    }

    private static func write(_ utf8: UnsafeBufferPointer<UInt8>, to start: UnsafeMutablePointer<UInt8>) -> Int {
        var end = start
        func append(_ byte: UInt8) {
            end.pointee = byte
            end += 1
        }
        append(UInt8(ascii: "\""))
        for byte in utf8 {
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                append(byte)
                continue
            }
            append(UInt8(ascii: "\\"))
            switch byte {
            case 0x0A: append(UInt8(ascii: "n"))
            case 0x0D: append(UInt8(ascii: "r"))
            case 0x09: append(UInt8(ascii: "t"))
            case 0..<0x20:
                for digit in ["u", "0", "0", byte >> 4 == 0 ? "0" : "1"] as [Unicode.Scalar] {
                    append(UInt8(ascii: digit))
                }
                let low = byte & 15
                append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") - 10 + low)
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
        return end - start
    }
}
