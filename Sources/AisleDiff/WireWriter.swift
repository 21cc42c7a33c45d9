/// A writer for the wire format.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    /// Writes seven bits per byte, least significant first; the top bit means that more follow (LEB128).
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func varint(_ value: Int) { varint(UInt64(value)) }

    /// Writes ascending indexes as ranges: the count, then each one's distance from the previous one and its length minus 1.
    mutating func ranges(_ indexes: [Int32]) {
        var ranges: [(start: Int, count: Int)] = []
        for index in indexes {
            if let last = ranges.last, last.start + last.count == Int(index) {
                ranges[ranges.count - 1].count += 1
            } else {
                ranges.append((Int(index), 1))
            }
        }
        varint(ranges.count)
        // Ranges are at least one apart, otherwise they would be merged, so the distance is written minus 1.
        var end = -1
        for range in ranges {
            varint(range.start - end - 1)
            varint(range.count - 1)
            end = range.start + range.count
        }
    }

    /// Writes numbers of the given bit width, least significant bit first.
    mutating func packed(_ values: some Sequence<Int32>, bits: Int) {
        var pending: UInt64 = 0
        var filled = 0
        for value in values {
            pending |= UInt64(UInt32(bitPattern: value)) << UInt64(filled)
            filled += bits
            while filled >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                filled -= 8
            }
        }
        if filled > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
    }

    /// Returns the number of bits needed for numbers below a limit.
    static func bits(below limit: Int) -> Int { limit <= 1 ? 0 : Int.bitWidth - (limit - 1).leadingZeroBitCount }
}
