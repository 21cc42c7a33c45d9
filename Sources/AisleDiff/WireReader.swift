/// A reader for the wire format. It never reads past the end and only allocates memory for existing data.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func byte() throws(ShelfDiffError) -> UInt8 {
        guard position < bytes.count else { throw .malformed }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func varint() throws(ShelfDiffError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw .malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                // Only the shortest form is valid.
                guard byte > 0 || shift == 0 else { throw .malformed }
                return value
            }
        }
        throw .malformed
    }

    /// Reads a number up to a limit.
    mutating func number(upTo limit: Int) throws(ShelfDiffError) -> Int {
        let value = try varint()
        guard value <= UInt64(limit) else { throw .malformed }
        return Int(value)
    }

    /// Reads ranges of indexes below a limit.
    mutating func ranges(below limit: Int) throws(ShelfDiffError) -> [Int32] {
        let count = try number(upTo: limit)
        var indexes: [Int32] = []
        var end = -1
        for _ in 0..<count {
            let start = end + 1 + (try number(upTo: limit))
            end = start + (try number(upTo: limit)) + 1
            guard end <= limit else { throw .malformed }
            indexes.append(contentsOf: Int32(start)..<Int32(end))
        }
        return indexes
    }

    mutating func packed(_ count: Int, bits: Int) throws(ShelfDiffError) -> [Int32] {
        guard (count * bits + 7) / 8 <= bytes.count - position else { throw .malformed }
        var values: [Int32] = []
        values.reserveCapacity(count)
        var pending: UInt64 = 0
        var filled = 0
        let mask = UInt64(1) << UInt64(bits) - 1
        for _ in 0..<count {
            while filled < bits {
                pending |= UInt64(bytes[position]) << UInt64(filled)
                position += 1
                filled += 8
            }
            values.append(Int32(truncatingIfNeeded: pending & mask))
            pending >>= UInt64(bits)
            filled -= bits
        }
        // Unused bits of the last byte must be zero.
        guard pending == 0 else { throw .malformed }
        return values
    }

    mutating func text(bytes limit: Int) throws(ShelfDiffError) -> String {
        let length = try number(upTo: limit)
        guard length <= bytes.count - position,
            let text = String(validating: bytes[position..<(position + length)], as: UTF8.self)
        else { throw .malformed }
        position += length
        return text
    }
}
