internal import LibPQ

extension Migrator {
    /// Returns what a migration to a lower version would delete, by performing and rolling it back. This takes as long as
    /// the migration, with its locks.
    ///
    /// - Returns: nothing for a version that is not lower.
    package func losses(to target: Int) async throws -> [MigrationLoss] {
        try await alone {
            try await retryingLocks("the check for deleted data", isRolledBack: true) { connection in
                let steps = try checkedSteps(to: target, connection).filter {
                    if case .down = $0 { true } else { false }
                }
                guard !steps.isEmpty else { return [] }
                let before = try Self.columns(connection)
                let isDistributed = try Distribution.isDistributed(connection)
                for step in steps { try run(step, isDistributed: isDistributed, connection) }
                return Self.losses(from: before, to: try Self.columns(connection))
            }
        }
    }

    private struct Column: Hashable {
        let table: Int64
        let number: Int64
    }

    private typealias Columns = [Column: (table: String, name: String, rows: Int64?)]

    private static func columns(_ connection: isolated PostgresConnection) throws -> Columns {
        try connection.query(MigrationStatements.columns) { rows in
            Dictionary(
                uniqueKeysWithValues: try rows.map { row in
                    (
                        Column(table: try row.int8(0), number: try row.int8(1)),
                        (try row.text(2), try row.text(3), try row.int8OrNil(4))
                    )
                }
            )
        }
    }

    private static func losses(from before: Columns, to after: Columns) -> [MigrationLoss] {
        let remaining = Set(after.keys.map(\.table))
        let lost = before.filter { after[$0.key] == nil }
        let tables = Set(lost.filter { !remaining.contains($0.key.table) }.map { $0.value.table })
        let rows = Dictionary(before.values.map { ($0.table, $0.rows) }) { first, _ in first }
        let columns = lost.filter { remaining.contains($0.key.table) }.map { ($0.value.table, $0.value.name) }
        return tables.sorted().map { .table(name: $0, rows: rows[$0] ?? nil) }
            + columns.sorted { $0 < $1 }.map { .column(name: $0.1, table: $0.0) }
    }
}

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
