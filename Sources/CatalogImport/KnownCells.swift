internal import Catalog
internal import JSON

/// The cells of attributes that were read, and what they state: most attributes have few different texts.
struct KnownCells {
    /// Everything that decides what a cell of an attribute states in a file.
    struct Cell {
        let text: String
        let kind: FieldForms.Kind
        /// Identifies the declarations of the row's store.
        let declarationsID: Int
    }

    /// The statement of a cell.
    enum Reading {
        /// Nothing, because the cell is blank.
        case empty
        /// A value of an attribute that the store does not declare.
        case undeclared
        case value(Value)
        case fault(AttributeCells.Fault, isDeclared: Bool)
    }

    /// A value of an attribute.
    ///
    /// It is a class, because many rows have the same one.
    final class Value: Sendable {
        let name: String
        private let json: JSONValue
        /// Whether the binary noise of a number was removed.
        let wasRounded: Bool
        /// The attribute as a member of an object of JSON.
        let member: String

        init(_ name: String, _ value: AttributeCells.Value) {
            self.name = name
            (json, wasRounded) = (value.json, value.wasRounded)
            member = JSONValue.Member(name, json).text
        }

        /// The value as messages show it.
        var text: String { if case .string(let text) = json { text } else { json.text } }
    }

    /// The cells of one attribute.
    private struct Column {
        var readings: [Cell: Reading] = [:]
        /// How often a cell was known.
        var hits = 0
        /// Whether cells are kept. A column of mostly different texts is read again each time.
        var isKept = true
    }

    private var columns: [Column] = []
    private var count = 0
    private let limit: Int

    /// The maximum length of the text of a cell that is kept, in bytes.
    static let textLimit = 64

    /// - Parameter limit: the maximum number of cells of all attributes.
    init(limit: Int = 10_000) { self.limit = limit }

    /// Returns what a cell states.
    ///
    /// - Parameters:
    ///   - attribute: the place of the attribute among those of the file.
    ///   - read: reads the cell; it is not called for a known one.
    mutating func reading(of cell: Cell, at attribute: Int, _ read: () -> Reading) -> Reading {
        while columns.count <= attribute { columns.append(Column()) }
        guard columns[attribute].isKept, cell.text.utf8.count <= Self.textLimit else { return read() }
        if let known = columns[attribute].readings[cell] {
            columns[attribute].hits += 1
            return known
        }
        let reading = read()
        if count == limit { forgetLargest() }
        guard columns[attribute].isKept else { return reading }
        columns[attribute].readings[cell] = reading
        count += 1
        return reading
    }

    /// Forgets the cells of the attribute with the most. Later ones are not kept unless a third of its cells were known.
    private mutating func forgetLargest() {
        let largest = columns.indices.max { columns[$0].readings.count < columns[$1].readings.count }!
        let size = columns[largest].readings.count
        columns[largest] = Column(isKept: 2 * columns[largest].hits >= size)
        count -= size
    }
}

extension KnownCells.Cell: Hashable {
    // Texts of the same letters may have different bytes, and then the bytes of their values differ, too.
    static func == (a: Self, b: Self) -> Bool {
        a.declarationsID == b.declarationsID && a.kind == b.kind && a.text.hasSameBytes(as: b.text)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(declarationsID)
        text.hashBytes(into: &hasher)
    }
}
