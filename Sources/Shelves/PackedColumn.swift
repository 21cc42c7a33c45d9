/// The bytes of one row each, in which the parts that many rows have are kept once.
///
/// The attributes of products are JSON, so most of their bytes are names and frequent values. A row is a list of codes:
///
///     0 · the rest of the row, as it is
///     1 · a length · as many bytes, as they are
///     2 and more · a part, by its number plus 2
///
/// A code and a length have seven bits in each byte, the lowest first, and the highest bit of each byte but the last.
struct PackedColumn: Sendable {
    /// The parts that many rows have, the most frequent ones first.
    private(set) var parts = TextColumn()
    /// The codes of each row.
    private(set) var codes = TextColumn()
    /// The size in memory when the rows were packed, in bytes.
    private var packedSize = 0

    private static let rest: UInt8 = 0
    private static let bytes: UInt8 = 1
    /// The code of the first part.
    private static let firstPart = 2
    /// The least number of rows that have a part. A part itself takes as much memory as one row that has it, and its end.
    private static let leastRows = 4
    /// The least length of a part in bytes. The longest frequent code has two.
    private static let leastLength = 3

    init() {}

    /// Creates a column from its parts; nil if the codes are damaged.
    init?(parts: TextColumn, codes: TextColumn) {
        (self.parts, self.codes) = (parts, codes)
        packedSize = parts.size + codes.size
        guard (0..<codes.count).allSatisfy({ hasValidCodes($0) }) else { return nil }
    }

    var count: Int { codes.count }
    /// The size in memory, in bytes.
    var size: Int { parts.size + codes.size }

    // MARK: - Packing

    /// Packs the rows of another column.
    ///
    /// - Complexity: O(*n*) for *n* bytes.
    init(_ rows: TextColumn) {
        // Rows are divided, and each different piece gets a number.
        var (numbers, counts, found, ends) = (ByteNumbers(), [UInt32](), [UInt32](), [UInt32]())
        ends.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            rows.withBytes(row) { bytes in
                Self.forEachPiece(bytes) { piece in
                    let (number, isNew) = numbers.number(of: piece)
                    if isNew { counts.append(0) }
                    counts[Int(number)] += 1
                    found.append(number)
                }
            }
            ends.append(UInt32(found.count))
        }
        // Of rare pieces, only the beginning can be frequent: the name of an attribute.
        var (names, nameCounts, lengths) = (ByteNumbers(), [UInt32](), [Int](repeating: 0, count: counts.count))
        var nameNumbers = [UInt32](repeating: 0, count: counts.count)
        for (number, count) in counts.enumerated() where count < Self.leastRows {
            numbers.withBytes(number) { piece in
                let length = Self.nameLength(piece)
                guard length > 0 else { return }
                let (name, isNew) = names.number(of: UnsafeRawBufferPointer(rebasing: piece[..<length]))
                if isNew { nameCounts.append(0) }
                nameCounts[Int(name)] += count
                (lengths[number], nameNumbers[number]) = (length, name)
            }
        }
        func isFrequent(_ count: UInt32, _ length: Int) -> Bool {
            count >= Self.leastRows && length >= Self.leastLength
        }
        var frequent: [(count: UInt32, isName: Bool, number: Int)] = []
        for (number, count) in counts.enumerated() where isFrequent(count, numbers.withBytes(number, \.count)) {
            frequent.append((count, false, number))
        }
        for (number, count) in nameCounts.enumerated() where isFrequent(count, names.withBytes(number, \.count)) {
            frequent.append((count, true, number))
        }
        frequent.sort { ($1.count, $0.isName ? 1 : 0, $0.number) < ($0.count, $1.isName ? 1 : 0, $1.number) }
        var partOfPiece = [UInt32](repeating: 0, count: counts.count)
        var partOfName = [UInt32](repeating: 0, count: nameCounts.count)
        parts.reserve(
            frequent.count,
            bytes: frequent.reduce(0) { $0 + ($1.isName ? names : numbers).withBytes($1.number, \.count) }
        )
        for (place, one) in frequent.enumerated() {
            if one.isName {
                partOfName[one.number] = UInt32(place + Self.firstPart)
            } else {
                partOfPiece[one.number] = UInt32(place + Self.firstPart)
            }
            (one.isName ? names : numbers).withBytes(one.number) { parts.append($0) }
        }
        var writer = Writer()
        var packed = TextColumn()
        packed.reserve(rows.count, bytes: 0)
        for row in 0..<rows.count {
            for number in found[ends.part(row)].lazy.map(Int.init) {
                let (code, length) = (partOfPiece[number], lengths[number])
                numbers.withBytes(number) { piece in
                    if code != 0 { return writer.append(part: code) }
                    let name = length > 0 ? partOfName[Int(nameNumbers[number])] : 0
                    if name != 0 { writer.append(part: name) }
                    writer.append(UnsafeRawBufferPointer(rebasing: piece[(name != 0 ? length : 0)...]))
                }
            }
            packed.append(writer.finish())
        }
        // A copy has no room for more rows.
        codes = packed.gathered((0..<UInt32(packed.count)).map { $0 })
        packedSize = size
    }

    /// Calls a body with the pieces of a row: the members of an object, what is before them, and what is behind.
    private static func forEachPiece(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var start = 0
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "}") {
                body(UnsafeRawBufferPointer(rebasing: bytes[start...index]))
                start = index + 1
            } else if byte == UInt8(ascii: ","), index + 2 < bytes.count, bytes[index + 1] == UInt8(ascii: " "),
                bytes[index + 2] == UInt8(ascii: "\""), index > start
            {
                body(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
                start = index
            }
            index += 1
        }
        if start < bytes.count { body(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
    }

    /// Returns the number of bytes up to the value of a member; 0 for another piece.
    private static func nameLength(_ piece: UnsafeRawBufferPointer) -> Int {
        var index = 0
        while index + 2 < piece.count {
            if piece[index] == UInt8(ascii: "\""), piece[index + 1] == UInt8(ascii: ":"),
                piece[index + 2] == UInt8(ascii: " ")
            {
                return index + 3
            }
            index += 1
        }
        return 0
    }

    /// Writes the codes of a row.
    private struct Writer {
        private var codes: [UInt8] = []
        /// Bytes that are kept as they are, before the next part.
        private var literal: [UInt8] = []

        mutating func append(_ bytes: UnsafeRawBufferPointer) { literal.append(contentsOf: bytes) }

        mutating func append(part code: UInt32) {
            if !literal.isEmpty {
                codes.append(PackedColumn.bytes)
                append(number: literal.count)
                codes.append(contentsOf: literal)
                literal.removeAll(keepingCapacity: true)
            }
            append(number: Int(code))
        }

        private mutating func append(number: Int) {
            var rest = number
            while rest > 127 {
                codes.append(UInt8(truncatingIfNeeded: rest) | 128)
                rest >>= 7
            }
            codes.append(UInt8(rest))
        }

        /// Returns the codes, and begins another row.
        mutating func finish() -> [UInt8] {
            if !literal.isEmpty { codes += [PackedColumn.rest] + literal }
            defer {
                codes.removeAll(keepingCapacity: true)
                literal.removeAll(keepingCapacity: true)
            }
            return codes
        }
    }

    // MARK: - Reading

    /// One element of a row.
    private enum Element {
        case part(Int)
        case bytes(UnsafeRawBufferPointer)
    }

    /// Reads the elements of a row.
    private struct Reader {
        private var reader: MemoryReader
        /// Whether a code was damaged.
        private(set) var isDamaged = false

        init(_ codes: UnsafeRawBufferPointer) { reader = MemoryReader(codes) }

        private mutating func number() -> Int? {
            var (number, shift) = (0, 0)
            while shift < 32 {
                guard let byte: UInt8 = reader.value() else { return nil }
                number |= Int(byte & 127) << shift
                shift += 7
                if byte < 128 { return number }
            }
            return nil
        }

        /// Returns the next element; nil at the end, and for a damaged code.
        mutating func next() -> Element? {
            guard !reader.isAtEnd else { return nil }
            let element = element()
            isDamaged = element == nil
            return element
        }

        private mutating func element() -> Element? {
            guard let code = number() else { return nil }
            if code >= firstPart { return .part(code - firstPart) }
            if code == Int(PackedColumn.rest) { return .bytes(reader.rest()) }
            return number().flatMap { UInt32(exactly: $0) }.flatMap { reader.part($0) }.map { .bytes($0) }
        }
    }

    private func hasValidCodes(_ row: Int) -> Bool {
        codes.withBytes(row) { codes in
            var reader = Reader(codes)
            while let element = reader.next() {
                if case .part(let number) = element, number >= parts.count { return false }
            }
            return !reader.isDamaged
        }
    }

    /// Runs a body with the bytes of a row.
    func withBytes<Result>(_ row: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        codes.withBytes(row) { codes in
            // Most rows of products without attributes are as they are.
            if codes.first == Self.rest { return body(UnsafeRawBufferPointer(rebasing: codes[1...])) }
            let length = sum(codes) { $0.count }
            return withUnsafeTemporaryAllocation(byteCount: length, alignment: 1) { buffer in
                var offset = 0
                _ = sum(codes) { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]).copyMemory(from: bytes)
                    offset += bytes.count
                    return 0
                }
                return body(UnsafeRawBufferPointer(buffer))
            }
        }
    }

    /// Calls a body with the bytes of each element of a row, and returns the sum of its results.
    private func sum(_ codes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Int) -> Int {
        var (reader, sum) = (Reader(codes), 0)
        while let element = reader.next() {
            switch element {
            case .part(let number): sum += parts.withBytes(number, body)
            case .bytes(let bytes): sum += body(bytes)
            }
        }
        return sum
    }

    subscript(row: Int) -> [UInt8] { withBytes(row, Array.init) }

    /// Whether a row has these bytes.
    func isEqual(_ row: Int, _ bytes: [UInt8]) -> Bool { withBytes(row) { $0.elementsEqual(bytes) } }

    /// Whether a row has the bytes of a row of another column.
    func isEqual(_ row: Int, _ other: PackedColumn, _ otherRow: Int) -> Bool {
        withBytes(row) { bytes in other.withBytes(otherRow) { bytes.elementsEqual($0) } }
    }

    /// Whether another column has the same codes and parts, and so the same rows.
    func isSame(as other: PackedColumn) -> Bool { codes == other.codes && parts == other.parts }

    // MARK: - Changing

    /// Returns the column with other bytes in some rows.
    ///
    /// - Complexity: O(*n*).
    func replacing(_ rows: [Int: [UInt8]]) -> PackedColumn {
        var column = self
        column.codes = codes.replacing(rows.mapValues { $0.isEmpty ? [] : [Self.rest] + $0 })
        return column.packedAgain
    }

    /// Creates a column from rows of others.
    ///
    /// - Complexity: O(*n*) for *n* bytes of rows and parts.
    init(_ columns: [PackedColumn], _ segments: some Collection<(column: Int, rows: Range<Int>)>) {
        guard let first = columns.first else { return }
        // Rows of the first column keep their codes.
        var numbers = ByteNumbers()
        var code: [[UInt32]] = [[]]
        parts = first.parts
        for part in 0..<parts.count { _ = parts.withBytes(part) { numbers.number(of: $0) } }
        for column in columns.dropFirst() {
            code.append(
                (0..<column.parts.count).map { part in
                    column.parts.withBytes(part) { bytes in
                        let (number, isNew) = numbers.number(of: bytes)
                        if isNew { parts.append(bytes) }
                        return number + UInt32(Self.firstPart)
                    }
                }
            )
        }
        codes.reserve(
            segments.reduce(0) { $0 + $1.rows.count },
            bytes: segments.reduce(0) { $0 + columns[$1.column].codes.byteCount($1.rows) }
        )
        var writer = Writer()
        for segment in segments {
            let column = columns[segment.column]
            if segment.column == 0 || column.parts.count == 0 {
                codes.append(segment.rows, of: column.codes)
                continue
            }
            for row in segment.rows {
                column.codes.withBytes(row) { bytes in
                    var reader = Reader(bytes)
                    while let element = reader.next() {
                        switch element {
                        case .part(let number): writer.append(part: code[segment.column][number])
                        case .bytes(let bytes): writer.append(bytes)
                        }
                    }
                }
                codes.append(writer.finish())
            }
        }
        packedSize = columns.reduce(0) { $0 + $1.packedSize }
        self = packedAgain
    }

    /// The column, packed again if changes have doubled its size.
    private var packedAgain: PackedColumn {
        guard size > 2 * packedSize + Self.smallSize else { return self }
        var rows = TextColumn()
        for row in 0..<count { withBytes(row) { rows.append($0) } }
        return PackedColumn(rows)
    }

    /// The size up to which packing again saves too little, in bytes.
    private static let smallSize = 4096
}

extension PackedColumn: Equatable {
    /// Whether both have the same rows, whatever their parts are.
    static func == (a: PackedColumn, b: PackedColumn) -> Bool {
        a.isSame(as: b) || a.count == b.count && (0..<a.count).allSatisfy { a.isEqual($0, b, $0) }
    }
}
