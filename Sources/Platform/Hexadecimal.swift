/// Lower-case hexadecimal numbers of a fixed length.
package enum Hexadecimal {
    /// Writes the 16 digits of a number.
    package static func write(_ number: UInt64, to buffer: UnsafeMutableBufferPointer<UInt8>) {
        for index in 0..<16 {
            buffer[index] = digit(UInt8(truncatingIfNeeded: number >> (60 - 4 * UInt64(index))) & 0xF)
        }
    }

    /// Returns a number from its digits; nil for other characters, upper-case digits included.
    static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for byte in digits {
            guard let value = value(byte) else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
