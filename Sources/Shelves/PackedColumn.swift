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
    /// The parts that many rows have, all different. The most frequent ones come first when rows are packed.
    private(set) var parts = TextColumn()
    /// The codes of each row.
    private(set) var codes = TextColumn()
    /// The bytes of rows and parts that were added since the rows were packed. With few rows, all codes are loose.
    private(set) var looseBytes = 0

    private static let rest: UInt8 = 0
    private static let bytes: UInt8 = 1
    /// The code of the first part.
    private static let firstPart = 2
    /// The length up to which a piece of a row may be a part, in bytes. Of longer ones, only the name may be.
    private static let partLimit = 64
    /// The number of bytes that a row has at most instead of a part.
    private static let codeBytes = 4
    /// Columns with fewer rows are packed again when they are merged.
    private static let fewRows = 64
    /// The number of loose bytes up to which packing again saves too little.
    private static let fewBytes = 4096
    /// The maximum length of a row in an image, in bytes.
    private static let rowLimit = 1 << 24
    /// The maximum length of all rows together in an image, and when they are packed again. A text column has less than 4 GiB.
    private static let totalLimit = 1 << 31

    init() {}

    /// Creates a column from its parts; nil if the codes are damaged, parts are equal, or there are too many bytes.
    init?(parts: TextColumn, codes: TextColumn, looseBytes: Int) {
        (self.parts, self.codes, self.looseBytes) = (parts, codes, looseBytes)
        guard looseBytes <= max(Self.fewBytes, byteCount) else { return nil }
        var numbers = ByteNumbers()
        let areDifferent = (0..<parts.count).allSatisfy { part in parts.withBytes(part) { numbers.number(of: $0).isNew }
        }
        guard areDifferent, usage != nil else { return nil }
    }

    var count: Int { codes.count }
    /// The size in memory, in bytes.
    var size: Int { parts.size + codes.size }
    private var byteCount: Int { parts.arena.count + codes.arena.count }

    // MARK: - Packing

    /// Packs the rows of another column.
    ///
    /// - Parameter order: the numbers of the rows, in their new order.
    /// - Complexity: O(*n*) for *n* bytes.
    init(_ rows: TextColumn, _ order: [UInt32]) {
        // Each different piece gets a number, and so does each different name of the rare ones.
        var (pieces, counts, found) = (ByteNumbers(), [UInt32](), [UInt32]())
        var (names, nameCounts) = (ByteNumbers(), [UInt32]())
        func countName(of piece: UnsafeRawBufferPointer, _ occurrences: UInt32) {
            let length = Self.nameLength(piece)
            guard length > 0, length <= Self.partLimit else { return }
            let (name, isNew) = names.number(of: UnsafeRawBufferPointer(rebasing: piece[..<length]))
            if isNew { nameCounts.append(0) }
            nameCounts[Int(name)] += occurrences
        }
        for row in order {
            rows.withBytes(Int(row)) { bytes in
                Self.forEachPiece(bytes) { piece in
                    guard piece.count <= Self.partLimit else { return countName(of: piece, 1) }
                    let (number, isNew) = pieces.number(of: piece)
                    if isNew { counts.append(0) }
                    counts[Int(number)] += 1
                    found.append(number)
                }
            }
        }
        for (number, occurrences) in counts.enumerated() {
            pieces.withBytes(number) { if !Self.isWorth(occurrences, $0.count) { countName(of: $0, occurrences) } }
        }
        var frequent: [(count: UInt32, isName: Bool, number: Int)] = []
        for (number, count) in counts.enumerated() where Self.isWorth(count, pieces.withBytes(number, \.count)) {
            frequent.append((count, false, number))
        }
        for (number, count) in nameCounts.enumerated() where Self.isWorth(count, names.withBytes(number, \.count)) {
            // A piece may have the bytes of a name.
            let isPiece = names.withBytes(number) { pieces.known($0) }.map {
                Self.isWorth(counts[Int($0)], pieces.withBytes(Int($0), \.count))
            }
            if isPiece != true { frequent.append((count, true, number)) }
        }
        frequent.sort { ($1.count, $0.isName ? 1 : 0, $0.number) < ($0.count, $1.isName ? 1 : 0, $1.number) }
        // The code of each piece and of each name; 0 if it is not a part.
        var pieceCodes = [UInt32](repeating: 0, count: counts.count)
        var nameCodes = [UInt32](repeating: 0, count: nameCounts.count)
        for (place, one) in frequent.enumerated() {
            if one.isName {
                nameCodes[one.number] = UInt32(place + Self.firstPart)
            } else {
                pieceCodes[one.number] = UInt32(place + Self.firstPart)
            }
            (one.isName ? names : pieces).withBytes(one.number) { parts.append($0) }
        }
        func code(ofName bytes: UnsafeRawBufferPointer) -> UInt32 {
            let piece = pieces.known(bytes).map { pieceCodes[Int($0)] } ?? 0
            return piece != 0 ? piece : names.known(bytes).map { nameCodes[Int($0)] } ?? 0
        }
        var (writer, next) = (Writer(), 0)
        for row in order {
            rows.withBytes(Int(row)) { bytes in
                Self.forEachPiece(bytes) { piece in
                    if piece.count <= Self.partLimit {
                        let code = pieceCodes[Int(found[next])]
                        next += 1
                        if code != 0 { return writer.append(part: code) }
                    }
                    let length = Self.nameLength(piece)
                    let name = length > 0 ? code(ofName: UnsafeRawBufferPointer(rebasing: piece[..<length])) : 0
                    if name != 0 { writer.append(part: name) }
                    writer.append(UnsafeRawBufferPointer(rebasing: piece[(name != 0 ? length : 0)...]))
                }
            }
            writer.finish(into: &codes)
        }
        (parts, codes) = (parts.withoutRoom, codes.withoutRoom)
        looseBytes = count < Self.fewRows ? codes.arena.count : 0
    }

    /// Whether a part saves more than it takes. A code replaces it in each row, and bytes after it need a code and a length.
    private static func isWorth(_ count: UInt32, _ length: Int) -> Bool {
        Int(count) * (length - codeBytes) > length + 4
    }

    /// Calls a body with the pieces of a row: the members of an object, and the bytes before and after them.
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

        /// Appends the codes to a column, and begins another row.
        mutating func finish(into column: inout TextColumn) {
            if !literal.isEmpty {
                codes.append(PackedColumn.rest)
                codes.append(contentsOf: literal)
            }
            codes.withUnsafeBytes { column.append($0) }
            codes.removeAll(keepingCapacity: true)
            literal.removeAll(keepingCapacity: true)
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

    /// The use of parts by all rows, and their other bytes.
    private struct Usage {
        /// Whether each part is in a row.
        var isUsed: [Bool]
        /// The number of bytes that rows have as they are.
        var literalBytes = 0
    }

    /// The use of parts by the codes; nil if they are damaged, or rows are longer than an image may have.
    ///
    /// - Complexity: O(*n*) for *n* codes. No row is put together.
    private var usage: Usage? {
        var usage = Usage(isUsed: [Bool](repeating: false, count: parts.count))
        var total = 0
        for row in 0..<count {
            let isValid = codes.withBytes(row) { codes in
                var (reader, length) = (Reader(codes), 0)
                while let element = reader.next() {
                    switch element {
                    case .part(let number):
                        guard number < parts.count else { return false }
                        usage.isUsed[number] = true
                        length += parts.withBytes(number, \.count)
                    case .bytes(let bytes):
                        usage.literalBytes += bytes.count
                        length += bytes.count
                    }
                    guard length <= Self.rowLimit else { return false }
                }
                total += length
                return !reader.isDamaged && total <= Self.totalLimit
            }
            guard isValid else { return nil }
        }
        return usage
    }

    /// The number of bytes that rows have as they are, and that parts would save: those of pieces that came before, without their codes.
    ///
    /// - Complexity: O(*n*) for *n* codes. No row is put together.
    private var repeatedBytes: Int {
        var (pieces, repeated) = (ByteNumbers(), 0)
        for row in 0..<count {
            codes.withBytes(row) { codes in
                var reader = Reader(codes)
                while let element = reader.next() {
                    guard case .bytes(let bytes) = element else { continue }
                    Self.forEachPiece(bytes) { piece in
                        guard piece.count > Self.codeBytes, piece.count <= Self.partLimit else { return }
                        if !pieces.number(of: piece).isNew { repeated += piece.count - Self.codeBytes }
                    }
                }
            }
        }
        return repeated
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

    /// Returns the rows whose bytes differ from those of the same row of another column, which has as many rows.
    ///
    /// - Complexity: O(*n*) for *n* bytes; only rows with other codes are put together, if both columns have the same parts.
    func rowsWithOtherBytes(than other: PackedColumn) -> [Int] {
        let haveSameParts = parts == other.parts
        if haveSameParts, codes == other.codes { return [] }
        return (0..<count).filter { row in
            if haveSameParts, TextColumn.compare(codes, row, other.codes, row) == 0 { return false }
            return withBytes(row) { bytes in other.withBytes(row) { !bytes.elementsEqual($0) } }
        }
    }

    // MARK: - Changing

    /// Returns the column with other bytes in some rows.
    ///
    /// - Complexity: O(*n*).
    func replacing(_ rows: [Int: [UInt8]]) -> PackedColumn {
        var column = self
        column.codes = codes.replacing(rows.mapValues { $0.isEmpty ? [] : [Self.rest] + $0 })
        column.looseBytes += rows.values.reduce(0) { $0 + $1.count }
        return column.packedAgain
    }

    /// Creates a column from rows of others. It may have parts that no row has, and is not packed again.
    ///
    /// - Complexity: O(*n*) for *n* bytes of rows and parts.
    init(_ columns: [PackedColumn], _ segments: some Collection<(column: Int, rows: Range<Int>)>) {
        guard let first = columns.first else { return }
        // Rows of the first column keep their codes.
        (parts, looseBytes) = (first.parts, first.looseBytes)
        var numbers = ByteNumbers()
        if columns.dropFirst().contains(where: { $0.parts.count > 0 }) {
            for part in 0..<parts.count { _ = parts.withBytes(part) { numbers.number(of: $0) } }
        }
        var translated: [[UInt32]] = [[]]
        for column in columns.dropFirst() {
            looseBytes += column.looseBytes
            translated.append(
                (0..<column.parts.count).map { part in
                    column.parts.withBytes(part) { bytes in
                        let (number, isNew) = numbers.number(of: bytes)
                        if isNew {
                            parts.append(bytes)
                            looseBytes += bytes.count
                        }
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
                        case .part(let number): writer.append(part: translated[segment.column][number])
                        case .bytes(let bytes): writer.append(bytes)
                        }
                    }
                }
                writer.finish(into: &codes)
            }
        }
        (parts, codes) = (parts.withoutRoom, codes.withoutRoom)
    }

    /// The column, packed again if half of its bytes are loose. Those of parts that no row has are loose, too.
    ///
    /// - Complexity: O(*n*) for *n* bytes.
    var packedAgain: PackedColumn {
        // The codes of most large columns need not be read, because their parts have few bytes.
        guard isWorthPacking(looseBytes + parts.arena.count), let usage,
            isWorthPacking(looseBytes + unusedBytes(usage))
        else { return self }
        return newlyPacked
    }

    /// The column of a union, packed again if half of its bytes are loose, or a quarter repeats others.
    ///
    /// Pieces that are rare in each of several shelves are as they are in its rows, but may be frequent in all. A changed shelf does not count
    /// them, because each change would read all its rows.
    ///
    /// - Complexity: O(*n*) for *n* bytes.
    var packedAsUnion: PackedColumn {
        guard let usage else { return self }
        let isLoose = isWorthPacking(looseBytes + unusedBytes(usage))
        // Packing saves all repeated bytes, but perhaps few of the loose ones.
        let repeats = { isWorthPacking(usage.literalBytes, ofEach: 4) && isWorthPacking(repeatedBytes, ofEach: 4) }
        return isLoose || repeats() ? newlyPacked : self
    }

    /// Whether packing pays for these bytes: they are not few, and more than one in a number of all bytes.
    private func isWorthPacking(_ bytes: Int, ofEach share: Int = 2) -> Bool {
        bytes > Self.fewBytes && share * bytes > byteCount
    }

    /// The number of bytes of parts that no row has.
    private func unusedBytes(_ usage: Usage) -> Int {
        usage.isUsed.indices.lazy.filter { !usage.isUsed[$0] }.reduce(0) { $0 + parts.byteCount($1..<($1 + 1)) }
    }

    private var newlyPacked: PackedColumn {
        var rows = TextColumn()
        for row in 0..<count { withBytes(row) { rows.append($0) } }
        return PackedColumn(rows, (0..<UInt32(count)).map { $0 })
    }
}

extension PackedColumn: Equatable {
    /// Whether both have the same rows, whatever their parts are.
    static func == (a: PackedColumn, b: PackedColumn) -> Bool {
        a.count == b.count && a.rowsWithOtherBytes(than: b).isEmpty
    }
}
