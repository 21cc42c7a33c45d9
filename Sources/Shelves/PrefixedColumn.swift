/// Optional texts with a common prefix, such as URLs, which is kept once.
struct PrefixedColumn: Sendable {
    /// The common prefix of all texts, shorter than each of them.
    private(set) var prefix: [UInt8] = []
    /// The rest of each text after the prefix; empty for a row without a text.
    private(set) var rests = TextColumn()

    init() {}

    init(prefix: [UInt8], rests: TextColumn) { (self.prefix, self.rests) = (prefix, rests) }

    /// Creates a column from texts; an empty one is none.
    init(_ texts: TextColumn) {
        var first: Int?
        var (length, present) = (0, 0)
        for row in 0..<texts.count {
            texts.withBytes(row) { text in
                guard !text.isEmpty else { return }
                present += 1
                guard let known = first else { return (first, length) = (row, text.count - 1) }
                length = texts.withBytes(known) { min(length, text.count - 1, Self.commonLength($0, text)) }
            }
        }
        guard let first, length > 0 else {
            rests = texts
            return
        }
        prefix = Array(texts[first].prefix(length))
        rests.reserve(texts.count, bytes: texts.arena.count - length * present)
        for row in 0..<texts.count {
            texts.withBytes(row) { rests.append(UnsafeRawBufferPointer(rebasing: $0.dropFirst(length))) }
        }
    }

    /// Creates a column from rows of others.
    init(_ columns: [PrefixedColumn], _ parts: some Collection<(column: Int, rows: Range<Int>)>) {
        let prefixes = columns.filter(\.hasText).map(\.prefix)
        var length = prefixes.first?.count ?? 0
        for other in prefixes {
            length = other.withUnsafeBytes { a in prefixes[0].withUnsafeBytes { min(length, Self.commonLength(a, $0)) }
            }
        }
        prefix = Array((prefixes.first ?? []).prefix(length))
        rests.reserve(
            parts.reduce(0) { $0 + $1.rows.count },
            bytes: parts.reduce(0) { $0 + byteCount($1.rows, of: columns[$1.column]) }
        )
        for part in parts { append(part.rows, of: columns[part.column]) }
        // The only text with another prefix may have gone.
        if prefix.isEmpty, hasText { self = PrefixedColumn(rests) }
    }

    /// Returns the number of bytes with which both begin.
    private static func commonLength(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let limit = min(a.count, b.count)
        var length = 0
        while length < limit, a[length] == b[length] { length += 1 }
        return length
    }

    private var hasText: Bool { !rests.arena.isEmpty }

    var count: Int { rests.count }
    /// The size in memory, in bytes.
    var size: Int { prefix.capacity + rests.size }

    /// Appends rows of a column whose texts begin with the same prefix.
    private mutating func append(_ rows: Range<Int>, of other: PrefixedColumn) {
        let middle = middle(other)
        guard !middle.isEmpty else { return rests.append(rows, of: other.rests) }
        for row in rows { rests.append(other.rests[row].isEmpty ? [] : middle, other.rests[row]) }
    }

    /// Returns the part of another column's prefix after that of this one.
    private func middle(_ other: PrefixedColumn) -> ArraySlice<UInt8> {
        other.hasText ? other.prefix.dropFirst(prefix.count) : []
    }

    /// Returns the number of bytes of another column's rows after the prefix of this one.
    private func byteCount(_ rows: Range<Int>, of other: PrefixedColumn) -> Int {
        let middle = middle(other).count
        let texts = middle == 0 ? 0 : rows.count { !other.rests[$0].isEmpty }
        return other.rests.byteCount(rows) + middle * texts
    }

    /// Returns the column with other texts in some rows; an empty one is none.
    ///
    /// - Complexity: O(*n*).
    func replacing(_ rows: [Int: [UInt8]]) -> PrefixedColumn {
        if !prefix.isEmpty, rows.values.allSatisfy({ $0.isEmpty || $0.count > prefix.count && $0.starts(with: prefix) })
        {
            return PrefixedColumn(
                prefix: prefix,
                rests: rests.replacing(rows.mapValues { Array($0.dropFirst(prefix.count)) })
            )
        }
        var texts = TextColumn()
        for row in 0..<count { texts.append(rows[row] ?? bytes(row)) }
        return PrefixedColumn(texts)
    }

    /// Returns the bytes of a row's text; empty without one.
    func bytes(_ row: Int) -> [UInt8] { rests[row].isEmpty ? [] : prefix + rests[row] }

    func text(_ row: Int) -> String? { rests[row].isEmpty ? nil : String(decoding: bytes(row), as: UTF8.self) }
}
