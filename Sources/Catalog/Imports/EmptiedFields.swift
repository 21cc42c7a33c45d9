/// The invalid values that an import left empty instead of rejecting their rows, by column.
package struct EmptiedFields: Sendable {
    private var columns: [String: (count: Int, first: ImportRejection)] = [:]

    package init() {}

    package mutating func add(_ invalid: ImportRejection) {
        let column = invalid.column ?? ""
        columns[column] = ((columns[column]?.count ?? 0) + 1, columns[column]?.first ?? invalid)
    }

    package var count: Int { columns.values.reduce(0) { $0 + $1.count } }

    /// A warning per column, with the first of its invalid values.
    package var warnings: [String] {
        columns.sorted { $0.key < $1.key }.map { column, found in
            "left \(column) empty in \(found.count.rows): \(found.first.description)"
        }
    }
}

extension Int {
    /// A number of rows in a message, such as `1 row` or `2 rows`.
    package var rows: String { "\(self) row\(self == 1 ? "" : "s")" }
}
