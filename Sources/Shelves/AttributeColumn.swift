package import Catalog
internal import Synchronization

/// The values of an attribute on a shelf, one per row, in a form that is sorted, filtered and counted without parsing.
package struct AttributeColumn: Sendable {
    enum Values: Sendable {
        /// Numbers, days, ranks of options, and booleans as `SortValue` has them; `missing` for rows without a value.
        case numbers(NarrowNumbers)
        /// Numbers in the texts, which are in their order, or `ShelfTable.none`.
        case texts([UInt32], CollatedTexts)
        /// Numbers in the lists, or `ShelfTable.none`. The lists have numbers of elements.
        case sets([UInt32], NumberLists, CollatedTexts)
    }

    package let attribute: ResolvedAttribute
    let values: Values
    /// Counts the memory while a cache or a view has the column.
    package var counted: CountedMemory?

    /// The number of a missing value.
    static let missing = NarrowNumbers.missing

    /// The size in memory, in bytes.
    package var size: Int {
        let arrays =
            switch values {
            case .numbers(let numbers): numbers.size
            case .texts(let numbers, let texts): 4 * numbers.capacity + texts.size
            case .sets(let numbers, let lists, let texts): 4 * numbers.capacity + lists.size + texts.size
            }
        return arrays + MemoryLayout<AttributeColumn>.size + 7 * ShelfTable.arrayOverhead
    }
}

/// Memory that belongs to a total until its last owner releases it.
package final class CountedMemory: Sendable {
    /// The size of all memory that is in use, in bytes.
    package final class Total: Sendable {
        fileprivate let bytes = Atomic<Int>(0)

        package init() {}

        package var size: Int { bytes.load(ordering: .relaxed) }
    }

    private let size: Int
    private let total: Total

    /// - Parameter size: the size in bytes.
    package init(_ size: Int, in total: Total) {
        (self.size, self.total) = (size, total)
        total.bytes.add(size, ordering: .relaxed)
    }

    deinit { total.bytes.subtract(size, ordering: .relaxed) }
}

extension ShelfTable {
    /// Returns the table with columns of attributes, which orders, filters and facets by these attributes need.
    package func with(_ columns: [AttributeColumn]) -> ShelfTable {
        guard !columns.isEmpty else { return self }
        var table = self
        for column in columns { table.attributes[column.attribute] = column }
        return table
    }

    /// Returns the table with the columns of a view.
    func with(_ columns: [ResolvedAttribute: AttributeColumn]) -> ShelfTable {
        guard !columns.isEmpty else { return self }
        var table = self
        table.attributes = columns
        return table
    }

    /// Reads the column of an attribute.
    ///
    /// - Parameter key: returns the sort key of a text in the language of the store.
    /// - Precondition: the attribute is not a ratio, whose values follow from other columns.
    /// - Complexity: O(*n*) for *n* bytes of all attributes.
    package func column(of attribute: ResolvedAttribute, key: (String) -> [UInt8]) -> AttributeColumn {
        var reader = AttributeReader(attribute)
        var rows = [UInt32](repeating: Self.none, count: count)
        switch attribute.form {
        case .number, .enumeration, .boolean, .date:
            let numbers = (0..<count).map { row in reader.number(details, row) ?? AttributeColumn.missing }
            return AttributeColumn(attribute: attribute, values: .numbers(NarrowNumbers(numbers)))
        case .text:
            var values = DistinctValues()
            for row in 0..<count { rows[row] = values.number(of: reader.value(details, row)) }
            let texts = values.all.map { value in CollatedText(value.text, key: key(value.text)) }
            let (collated, ranks) = CollatedTexts.numbered(texts)
            let translated = texts.map { ranks[$0]! }
            return AttributeColumn(
                attribute: attribute,
                values: .texts(rows.map { $0 == Self.none ? $0 : translated[Int($0)] }, collated)
            )
        case .set:
            var values = DistinctValues()
            for row in 0..<count { rows[row] = values.number(of: reader.value(details, row)) }
            let sets = values.all.map { value in value.elements.map { CollatedText($0, key: key($0)) } }
            let (collated, ranks) = CollatedTexts.numbered(sets.lazy.flatMap { $0 })
            let lists = NumberLists(sets.lazy.map { $0.lazy.map { ranks[$0]! } })
            return AttributeColumn(attribute: attribute, values: .sets(rows, lists, collated))
        case .ratio, .unknown: preconditionFailure("a ratio has no column")
        }
    }

    /// Whether two tables have the same values of attributes in some rows.
    func hasSameValues(of attributes: [ResolvedAttribute], as other: ShelfTable, in rows: [Int]) -> Bool {
        attributes.allSatisfy { attribute in
            var (reader, otherReader) = (AttributeReader(attribute), AttributeReader(attribute))
            return rows.allSatisfy { reader.value(details, $0) == otherReader.value(other.details, $0) }
        }
    }

    /// Returns the texts of attributes that searches read, by ascending rows.
    ///
    /// - Precondition: none of the attributes is a ratio.
    /// - Complexity: O(*n*) for *n* bytes of all attributes.
    package func searchedTexts(of attributes: [ResolvedAttribute]) -> [SearchIndex.Text] {
        guard !attributes.isEmpty else { return [] }
        var readers = attributes.map { AttributeReader($0) }
        var texts: [SearchIndex.Text] = []
        for row in 0..<count {
            for (number, attribute) in attributes.enumerated() {
                guard let value = readers[number].value(details, row) else { continue }
                for text in attribute.searchedTexts(of: value) {
                    texts.append(SearchIndex.Text(row: UInt32(row), text: text))
                }
            }
        }
        return texts
    }

    /// Returns the column from that of an earlier table, which has the same products in the same rows, and other values in some.
    ///
    /// - Parameter changed: the rows with other values.
    /// - Complexity: O(*n* + *k* log *k*) for *n* rows, and *k* distinct texts and elements of sets in them. Only the changed rows are parsed.
    package func column(
        _ earlier: AttributeColumn,
        changed: [UInt32],
        key: (String) -> [UInt8]
    ) -> AttributeColumn {
        let attribute = earlier.attribute
        var reader = AttributeReader(attribute)
        switch earlier.values {
        case .numbers(let earlier):
            var numbers = Array(earlier)
            for row in changed.lazy.map(Int.init) {
                numbers[row] = reader.number(details, row) ?? AttributeColumn.missing
            }
            return AttributeColumn(attribute: attribute, values: .numbers(NarrowNumbers(numbers)))
        case .texts(var rows, let texts):
            let found = changed.map { row in
                reader.value(details, Int(row)).map { CollatedText($0.text, key: key($0.text)) }
            }
            let isUsed = Self.used(&rows, without: changed, of: texts.count)
            let (all, numbers) = texts.following(isUsed, adding: found.compactMap { $0 })
            if let numbers { rows = rows.map { $0 == Self.none ? $0 : numbers[Int($0)] } }
            for (row, text) in zip(changed, found) {
                rows[Int(row)] = text.flatMap { all.number(of: $0) } ?? Self.none
            }
            return AttributeColumn(attribute: attribute, values: .texts(rows, all))
        case .sets(var rows, let lists, let texts):
            let found = changed.map { row in
                reader.value(details, Int(row)).map { value in value.elements.map { CollatedText($0, key: key($0)) } }
            }
            let isUsed = Self.used(&rows, without: changed, of: lists.count)
            var isUsedText = [Bool](repeating: false, count: texts.count)
            for list in lists.indices where isUsed[list] {
                for number in lists[list] { isUsedText[Int(number)] = true }
            }
            let (all, numbers) = texts.following(isUsedText, adding: found.flatMap { $0 ?? [] })
            let wanted = found.map { set in set.map { $0.compactMap { all.number(of: $0) } } }
            var known = Dictionary(wanted.compactMap { $0.map { ($0[...], Self.none) } }) { first, _ in first }
            var (kept, keptNumbers) = (NumberLists(), [UInt32](repeating: Self.none, count: lists.count))
            for list in lists.indices where isUsed[list] {
                keptNumbers[list] = UInt32(kept.count)
                if let numbers {
                    kept.append(lists[list].lazy.map { numbers[Int($0)] })
                } else {
                    kept.append(lists[list])
                }
                if let place = known.index(forKey: kept[kept.count - 1]) { known.values[place] = keptNumbers[list] }
            }
            rows = rows.map { $0 == Self.none ? $0 : keptNumbers[Int($0)] }
            for (row, list) in zip(changed, wanted) {
                guard let list else { continue }
                if known[list[...]] == Self.none {
                    known[list[...]] = UInt32(kept.count)
                    kept.append(list)
                }
                rows[Int(row)] = known[list[...]]!
            }
            return AttributeColumn(attribute: attribute, values: .sets(rows, kept, all))
        }
    }

    /// Removes the values of changed rows, and returns whether another row has each of the values.
    private static func used(_ rows: inout [UInt32], without changed: [UInt32], of count: Int) -> [Bool] {
        for row in changed { rows[Int(row)] = none }
        var isUsed = [Bool](repeating: false, count: count)
        for number in rows where number != none { isUsed[Int(number)] = true }
        return isUsed
    }

    /// The column of an attribute that a request uses.
    func values(of attribute: ResolvedAttribute) -> AttributeColumn.Values {
        guard let column = attributes[attribute] else {
            preconditionFailure("the column of “\(attribute.name)” was not read")
        }
        return column.values
    }
}

extension CollatedTexts {
    /// Returns the used texts with others, and the new number of each used one; nil if it is the old one.
    ///
    /// Up to half of the texts may stay without use, so that most changes need no new numbers.
    fileprivate func following(
        _ isUsed: [Bool],
        adding others: [CollatedText]
    ) -> (CollatedTexts, numbers: [UInt32]?) {
        let new = Set(others).filter { number(of: $0) == nil }
        if new.isEmpty, 2 * isUsed.count(where: { $0 }) >= count { return (self, nil) }
        // A text that only changed rows have is not among the used ones.
        let added = CollatedTexts.numbered(others).0
        let (merged, numbers) = CollatedTexts.merged([
            (self, isUsed), (added, [Bool](repeating: true, count: added.count)),
        ])
        return (merged, numbers[0])
    }
}

extension AttributeValue {
    fileprivate var text: String { if case .text(let text) = self { text } else { "" } }
    fileprivate var elements: [String] { if case .set(let elements) = self { elements } else { [] } }
}

/// Numbers distinct values in the order in which they come.
private struct DistinctValues {
    private(set) var all: [AttributeValue] = []
    private var numbers: [Bytes: UInt32] = [:]

    /// A value by the bytes of its texts, because Swift compares letters.
    private struct Bytes: Hashable { let parts: [[UInt8]] }

    mutating func number(of value: AttributeValue?) -> UInt32 {
        guard let value else { return ShelfTable.none }
        let texts = if case .text(let text) = value { [text] } else { value.elements }
        let bytes = Bytes(parts: texts.map { Array($0.utf8) })
        if let known = numbers[bytes] { return known }
        numbers[bytes] = UInt32(all.count)
        all.append(value)
        return UInt32(all.count - 1)
    }
}

// MARK: - Ratios

extension ShelfTable {
    /// Returns a function for the ratio of each row; it returns nil where the ratio cannot be computed.
    func fractions(_ attribute: ResolvedAttribute) -> (Int) -> AttributeFraction? {
        guard case .ratio(let ratio) = attribute.form else { return { _ in nil } }
        func operand(_ operand: AttributeRatio.Operand) -> (Int) -> Int128? {
            switch operand {
            case .price: return { [prices] row in prices[row] == Self.noPrice ? nil : Int128(prices[row]) }
            case .quantity:
                let digits = sizeValues.digits
                return { [sizes] row in sizes[row] == Self.none ? nil : Int128(digits[Int(sizes[row])]) }
            case .number(let name):
                guard let number = attribute.operands.first(where: { $0.name == name }),
                    case .numbers(let numbers) = values(of: number)
                else { return { _ in nil } }
                return { row in numbers[row] == AttributeColumn.missing ? nil : Int128(numbers[row]) }
            }
        }
        let (numerator, denominators) = (operand(ratio.numerator), ratio.denominators.map(operand))
        return { row in
            guard let numerator = numerator(row) else { return nil }
            var product: Int128 = 1
            for denominator in denominators {
                guard let factor = denominator(row) else { return nil }
                product *= factor
            }
            return AttributeFraction(numerator, over: product)
        }
    }
}

// MARK: - Reading

/// Reads the value of one attribute from the details of products. Equal texts are parsed once.
private struct AttributeReader {
    private let attribute: ResolvedAttribute
    private let name: [UInt8]
    /// The number of decimals; nil for values that are not numbers.
    private let decimals: Int?
    private var texts = ByteNumbers()
    private var parsed: [AttributeValue?] = []

    init(_ attribute: ResolvedAttribute) {
        self.attribute = attribute
        name = Array(attribute.name.text.utf8)
        decimals = if case .number(let decimals) = attribute.form { decimals } else { nil }
    }

    /// Returns the value of a row; nil if it is missing or has another type.
    mutating func value(_ details: PackedColumn, _ row: Int) -> AttributeValue? {
        details.withBytes(row) { bytes in
            guard let attributes = ProductDetails.attributes(in: bytes),
                let text = JSONMembers.value(of: name, in: attributes)
            else { return nil }
            let (number, isNew) = texts.number(of: text)
            if isNew { parsed.append(attribute.value(ofJSON: Array(text))) }
            return parsed[Int(number)]
        }
    }

    /// Returns the value as a number by which it is sorted.
    mutating func number(_ details: PackedColumn, _ row: Int) -> Int64? {
        if let decimals {
            // Numbers may all be different, so most are read without a parser.
            let number = details.withBytes(row) { bytes -> Int64?? in
                guard let attributes = ProductDetails.attributes(in: bytes),
                    let text = JSONMembers.value(of: name, in: attributes)
                else { return .some(nil) }
                return Self.digits(text, decimals: decimals).map { .some($0) }
            }
            if let number { return number }
        }
        if case .integer(let number) = SortValue(value(details, row)) { return number }
        return nil
    }

    /// Reads a short number without an exponent in units of its last decimal; nil for other texts, which may be numbers all the same.
    private static func digits(_ text: UnsafeRawBufferPointer, decimals: Int) -> Int64? {
        var (number, scale, count, isFraction): (Int64, Int, Int, Bool) = (0, 0, 0, false)
        let isNegative = text.first == UInt8(ascii: "-")
        for byte in text.dropFirst(isNegative ? 1 : 0) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                count += 1
                guard count <= 15 else { return nil }
                number = 10 * number + Int64(byte - UInt8(ascii: "0"))
                if isFraction { scale += 1 }
            case UInt8(ascii: ".") where !isFraction: isFraction = true
            default: return nil
            }
        }
        guard count > 0, scale <= decimals, count + decimals - scale <= 15 else { return nil }
        for _ in scale..<decimals { number *= 10 }
        return isNegative ? -number : number
    }
}

/// The members of an object in JSON that the database has validated.
enum JSONMembers {
    /// Returns the text of a member's value; nil if it is missing.
    ///
    /// - Parameter name: a name without characters that JSON escapes. The database does not escape others.
    static func value(of name: [UInt8], in text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var scanner = Scanner(text: text)
        scanner.skipSpace()
        guard scanner.take(UInt8(ascii: "{")) else { return nil }
        while true {
            scanner.skipSpace()
            let start = scanner.offset + 1
            guard scanner.skipString() else { return nil }
            let end = scanner.offset - 1
            scanner.skipSpace()
            guard scanner.take(UInt8(ascii: ":")) else { return nil }
            scanner.skipSpace()
            let valueStart = scanner.offset
            guard scanner.skipValue() else { return nil }
            if end - start == name.count, zip(text[start..<end], name).allSatisfy({ $0 == $1 }) {
                return UnsafeRawBufferPointer(rebasing: text[valueStart..<scanner.offset])
            }
            scanner.skipSpace()
            guard scanner.take(UInt8(ascii: ",")) else { return nil }
        }
    }

    private struct Scanner {
        let text: UnsafeRawBufferPointer
        var offset = 0

        mutating func skipSpace() {
            while offset < text.count, text[offset] <= UInt8(ascii: " ") { offset += 1 }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            guard offset < text.count, text[offset] == byte else { return false }
            offset += 1
            return true
        }

        /// Skips a text with its quotation marks; false if there is none.
        mutating func skipString() -> Bool {
            guard take(UInt8(ascii: "\"")) else { return false }
            while offset < text.count {
                let byte = text[offset]
                offset += byte == UInt8(ascii: "\\") ? 2 : 1
                if byte == UInt8(ascii: "\"") { return offset <= text.count }
            }
            return false
        }

        /// Skips any value; false if the text ends before.
        mutating func skipValue() -> Bool {
            var depth = 0
            while offset < text.count {
                switch text[offset] {
                case UInt8(ascii: "\""):
                    guard skipString() else { return false }
                    if depth == 0 { return true }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    // The end of the object whose member a number or a word is.
                    if depth == 0 { return true }
                    depth -= 1
                    if depth == 0 {
                        offset += 1
                        return true
                    }
                case UInt8(ascii: ","), 0...UInt8(ascii: " "):
                    if depth == 0 { return true }
                default: break
                }
                offset += 1
            }
            return false
        }
    }
}
