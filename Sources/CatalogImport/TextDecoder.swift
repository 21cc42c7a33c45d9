internal import Catalog

/// A streaming converter of text files to UTF-8.
///
/// A byte without a character becomes 0xFF. This is not valid UTF-8, so the field is rejected.
struct TextDecoder {
    /// The UTF-8 bytes of each byte of a single-byte encoding, the first one in the lowest 8 bits; nil for UTF-8 and UTF-16.
    private let table: [UInt32]?
    private let isLittleEndian: Bool
    /// Whether the bytes are UTF-8 already.
    let isIdentity: Bool
    /// The first byte of an incomplete UTF-16 code unit.
    private var half: UInt8?
    /// A high surrogate that waits for its low one.
    private var surrogate: UInt16?

    private static let invalid: UInt32 = 0xFF

    /// - Parameter candidates: further single-byte encodings in which the file may be written. A byte that has another
    ///   character in a candidate is invalid.
    init(_ encoding: TextEncoding, agreeingWith candidates: [TextEncoding] = []) {
        isIdentity = encoding == .utf8
        isLittleEndian = encoding == .utf16LittleEndian
        table = encoding.upperHalf.map { upper in
            let others = candidates.compactMap(\.upperHalf)
            return (0..<128).map { UInt32($0) }
                + upper.indices.map { index in
                    guard let scalar = upper[index], others.allSatisfy({ $0[index] == scalar }) else {
                        return Self.invalid
                    }
                    return Array(UTF8.encode(scalar)!).reversed().reduce(0) { $0 << 8 | UInt32($1) }
                }
        }
    }

    /// Appends a chunk of the file as UTF-8.
    mutating func decode(_ chunk: UnsafeRawBufferPointer, into text: inout [UInt8]) {
        text.reserveCapacity(text.count + chunk.count + chunk.count / 8)
        if let table {
            for byte in chunk {
                if byte < 0x80 { text.append(byte) } else { Self.append(table[Int(byte)], to: &text) }
            }
        } else if isIdentity {
            text.append(contentsOf: chunk)
        } else {
            for byte in chunk {
                guard let first = half.take() else {
                    half = byte
                    continue
                }
                let (low, high) = isLittleEndian ? (first, byte) : (byte, first)
                decode(UInt16(high) << 8 | UInt16(low), into: &text)
            }
        }
    }

    /// Ends the file; an incomplete character is invalid.
    mutating func end(into text: inout [UInt8]) {
        if half.take() != nil || surrogate.take() != nil { text.append(UInt8(Self.invalid)) }
    }

    private mutating func decode(_ unit: UInt16, into text: inout [UInt8]) {
        if let high = surrogate.take() {
            if UTF16.isTrailSurrogate(unit) {
                let value = 0x10000 + (UInt32(high) & 0x3FF) << 10 + UInt32(unit) & 0x3FF
                return text.append(contentsOf: UTF8.encode(Unicode.Scalar(value)!)!)
            }
            text.append(UInt8(Self.invalid))
        }
        if UTF16.isLeadSurrogate(unit) {
            surrogate = unit
        } else if let scalar = Unicode.Scalar(UInt32(unit)) {
            text.append(contentsOf: UTF8.encode(scalar)!)
        } else {
            text.append(UInt8(Self.invalid))
        }
    }

    private static func append(_ packed: UInt32, to text: inout [UInt8]) {
        var rest = packed
        repeat {
            text.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        } while rest != 0
    }
}
