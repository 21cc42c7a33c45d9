#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The bytes of one text or key per row, in one arena.
struct TextColumn: Sendable, Equatable {
    private(set) var arena: [UInt8] = []
    /// The end of each row's bytes in the arena.
    private(set) var ends: [UInt32] = []

    init() {}

    /// Creates a column from its parts; nil if the ends do not divide the arena.
    init?(arena: [UInt8], ends: [UInt32]) {
        guard ends.isDivision(of: arena.count) else { return nil }
        (self.arena, self.ends) = (arena, ends)
    }

    var count: Int { ends.count }
    /// The size in memory, in bytes.
    var size: Int { arena.capacity + 4 * ends.capacity }

    mutating func reserve(_ rows: Int, bytes: Int) {
        ends.reserveCapacity(rows)
        arena.reserveCapacity(bytes)
    }

    /// Appends the bytes of the next row.
    ///
    /// - Precondition: all rows together have less than 4 GiB.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        arena.append(contentsOf: bytes)
        ends.append(UInt32(arena.count))
    }

    /// Appends the bytes of the next row, in two parts.
    mutating func append(_ start: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) {
        arena.append(contentsOf: start)
        append(rest)
    }

    /// Appends the bytes of the next row, in memory.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        arena.append(contentsOf: bytes)
        ends.append(UInt32(arena.count))
    }

    /// Returns the rows in another order.
    func gathered(_ order: [UInt32]) -> TextColumn {
        var column = TextColumn()
        column.reserve(order.count, bytes: order.reduce(0) { $0 + range(Int($1)).count })
        arena.withUnsafeBytes { bytes in
            for row in order { column.append(UnsafeRawBufferPointer(rebasing: bytes[range(Int(row))])) }
        }
        return column
    }

    /// The column without much room for more rows.
    var withoutRoom: TextColumn {
        guard size > arena.count + 4 * ends.count + max(1024, size / 16) else { return self }
        var column = TextColumn()
        column.reserve(count, bytes: arena.count)
        column.append(0..<count, of: self)
        return column
    }

    /// Returns the column with other bytes in some rows.
    ///
    /// - Complexity: O(*n*).
    func replacing(_ rows: [Int: [UInt8]]) -> TextColumn {
        var column = TextColumn()
        column.reserve(count, bytes: arena.count + rows.values.reduce(0) { $0 + $1.count })
        var start = 0
        for (row, bytes) in rows.sorted(by: { $0.key < $1.key }) {
            column.append(start..<row, of: self)
            column.append(bytes)
            start = row + 1
        }
        column.append(start..<count, of: self)
        return column
    }

    /// Runs a body with the bytes of a row.
    func withBytes<Result>(_ row: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        arena.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range(row)])) }
    }

    /// Whether a row has these bytes.
    func isEqual(_ row: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        withBytes(row) { own in
            guard own.count == bytes.count else { return false }
            guard let x = own.baseAddress, let y = bytes.baseAddress, own.count > 0 else { return true }
            return memcmp(x, y, own.count) == 0
        }
    }

    /// Whether a row has these bytes.
    func isEqual(_ row: Int, _ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { isEqual(row, $0) } }

    /// Returns the row of each text that is in the column.
    ///
    /// - Complexity: O(*n* + *m*) for *n* rows and *m* texts.
    func rows(of texts: some Collection<String>) -> [String: Int] {
        // Most rows have no bit of a text's hash, which takes no longer to find out than to read the row.
        let mask = UInt64(max(64, 64 * texts.count.nextPowerOfTwo) - 1)
        var bits = [UInt64](repeating: 0, count: Int(mask + 1) / 64)
        for text in texts {
            let bit = Array(text.utf8).withUnsafeBytes(ByteNumbers.hash) & mask
            bits[Int(bit / 64)] |= 1 << (bit % 64)
        }
        let wanted = Set(texts)
        var rows: [String: Int] = [:]
        for row in 0..<count {
            let bit = withBytes(row, ByteNumbers.hash) & mask
            guard bits[Int(bit / 64)] >> (bit % 64) & 1 == 1 else { continue }
            let text = text(row)
            if wanted.contains(text) { rows[text] = row }
        }
        return rows
    }

    /// Appends rows of another column.
    mutating func append(_ rows: Range<Int>, of other: TextColumn) {
        guard let first = rows.first, let last = rows.last else { return }
        let start = other.range(first).lowerBound
        let offset = arena.count - start
        arena.append(contentsOf: other.arena[start..<other.range(last).upperBound])
        ends.append(contentsOf: other.ends[rows].lazy.map { UInt32(Int($0) + offset) })
    }

    private func range(_ row: Int) -> Range<Int> { ends.part(row) }

    /// Returns the number of bytes of adjacent rows.
    func byteCount(_ rows: Range<Int>) -> Int {
        guard let first = rows.first, let last = rows.last else { return 0 }
        return range(last).upperBound - range(first).lowerBound
    }

    subscript(row: Int) -> ArraySlice<UInt8> { arena[range(row)] }

    func text(_ row: Int) -> String { String(decoding: self[row], as: UTF8.self) }

    /// Compares the bytes of two rows: negative, zero or positive.
    static func compare(_ a: TextColumn, _ i: Int, _ b: TextColumn, _ j: Int) -> Int {
        a.arena.withUnsafeBufferPointer { x in
            b.arena.withUnsafeBufferPointer { y in
                compareBytes(.init(rebasing: x[a.range(i)]), .init(rebasing: y[b.range(j)]))
            }
        }
    }

    /// Compares the bytes of a row with others: negative, zero or positive.
    func compare(_ row: Int, _ bytes: [UInt8]) -> Int {
        arena.withUnsafeBufferPointer { x in
            bytes.withUnsafeBufferPointer { compareBytes(.init(rebasing: x[range(row)]), $0) }
        }
    }

    /// Returns eight bytes of a row from an offset as a number; missing bytes are zero. The numbers order rows with different bytes there.
    func number(_ row: Int, at offset: Int) -> UInt64 {
        withBytes(row) { bytes in
            if bytes.count >= offset + 8 {
                return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            var (number, shift): (UInt64, UInt64) = (0, 64)
            for byte in bytes.dropFirst(offset) {
                shift -= 8
                number |= UInt64(byte) << shift
            }
            return number
        }
    }
}

extension Int {
    /// The least power of two that is not less; at least 1.
    fileprivate var nextPowerOfTwo: Int { self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}

/// Compares bytes, as PostgreSQL compares `bytea`: negative, zero or positive.
private func compareBytes(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
    let common = min(a.count, b.count)
    if common > 0, let x = a.baseAddress, let y = b.baseAddress {
        let order = memcmp(x, y, common)
        if order != 0 { return Int(order) }
    }
    return a.count - b.count
}
