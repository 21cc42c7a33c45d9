/// A table or column that a migration to a lower version deletes with its data.
package enum MigrationLoss: Sendable, Hashable, CustomStringConvertible {
    /// - Parameter rows: the estimated number of rows; nil for a table that was never analyzed.
    case table(name: String, rows: Int64?)
    case column(name: String, table: String)

    package var description: String {
        switch self {
        case .table(let name, let rows?): "table \(name) (about \(rows) \(rows == 1 ? "row" : "rows"))"
        case .table(let name, nil): "table \(name)"
        case .column(let name, let table): "column \(table).\(name)"
        }
    }
}
