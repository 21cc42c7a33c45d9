#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif
internal import Synchronization

/// A lower-case UUID, which a device can generate without the server.
package struct UniqueID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// Parses a UUID in any letter case; nil for anything else.
    package init?(_ given: some StringProtocol) {
        let bytes = Array(given.lowercased().utf8)
        guard bytes.count == 36,
            bytes.indices.allSatisfy({ index in
                [8, 13, 18, 23].contains(index)
                    ? bytes[index] == UInt8(ascii: "-")
                    : (48...57).contains(bytes[index]) || (97...102).contains(bytes[index])
            })
        else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    private init(bytes: [UInt8]) {
        // Each request has an id, so it is written in place.
        text = String(unsafeUninitializedCapacity: 36) { buffer in
            var end = 0
            for (index, byte) in bytes.enumerated() {
                if [4, 6, 8, 10].contains(index) { buffer.append(UInt8(ascii: "-"), at: &end) }
                buffer.append(hexadecimal: byte, at: &end)
            }
            return end
        }
    }

    /// Returns a random UUID. Source: RFC 9562, version 4.
    package static func random() -> UniqueID {
        var bytes = RandomBytes.take16()
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UniqueID(bytes: bytes)
    }

    /// Returns a UUID of 16 bytes, except for the bits of its version. Source: RFC 9562, version 8.
    package static func custom(_ bytes: [UInt8]) -> UniqueID {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UniqueID(bytes: bytes)
    }

    package var description: String { text }
    package static func < (a: UniqueID, b: UniqueID) -> Bool { a.text < b.text }
}

/// A supply of random bytes for the ids of requests: a system call takes longer than making several ids.
private enum RandomBytes {
    private static let supply = Mutex<[UInt8]>([])

    static func take16() -> [UInt8] {
        supply.withLock { supply in
            if supply.isEmpty { supply = .random(1024) }
            defer { supply.removeLast(16) }
            return Array(supply.suffix(16))
        }
    }
}

extension [UInt8] {
    /// The bytes as lower-case hexadecimal digits.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 2 * count) { buffer in
            var end = 0
            for byte in self { buffer.append(hexadecimal: byte, at: &end) }
            return end
        }
    }

    /// Returns bytes from the system's cryptographic random generator.
    package static func random(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // A call returns at most 256 bytes.
            while filled < count {
                let length = Swift.min(256, count - filled)
                guard getentropy(buffer.baseAddress! + filled, length) == 0 else {
                    fatalError("no random bytes: errno \(errno)")
                }
                filled += length
            }
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    fileprivate func append(_ byte: UInt8, at end: inout Int) {
        self[end] = byte
        end += 1
    }

    /// Appends two lower-case digits.
    fileprivate func append(hexadecimal byte: UInt8, at end: inout Int) {
        for digit in [byte >> 4, byte & 15] {
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit, at: &end)
        }
    }
}
