package import Catalog
internal import LibPQ

/// The partitions of the audit log: a month each, created ahead and dropped when their entries have been kept long enough.
package struct AuditPartitions: Sendable {
    private let database: Database
    private let retention: AuditRetention

    package init(_ catalog: PostgresCatalog, keeping retention: AuditRetention = .standard) {
        database = catalog.database
        self.retention = retention
    }

    /// How long a change of the partitions waits for readers and writers, which wait for it in turn.
    private static let lockTimeout = "200ms"

    /// Creates the partitions of this month and the next, and drops months that have been kept long enough.
    ///
    /// - Parameter today: the current UTC day, since 1970-01-01. Months are dropped by the clock of the database.
    /// - Returns: the numbers of created and of dropped partitions.
    @discardableResult
    package func run(
        today: Int = Timestamp.now().day
    ) async throws(CatalogError) -> (created: Int, dropped: Int) {
        try await database.mappingErrors {
            let created = try await change(AuditStatements.createPartitions, .date(Int32(clamping: today)))
            guard let days = retention.days else { return (created, 0) }
            return (created, try await change(AuditStatements.dropPartitions, .int4(Int32(days))))
        }
    }

    private func change(_ statement: PostgresStatement, _ parameter: PostgresValue) async throws -> Int {
        try await database.batch.transaction(within: .edit) { connection in
            try connection.set("lock_timeout", Self.lockTimeout)
            return try connection.query(statement, [parameter]) {
                try $0.first { Int(try $0.int4(0)) } ?? 0
            }
        }
    }
}
