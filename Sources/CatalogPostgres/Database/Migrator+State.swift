internal import Catalog
package import LibPQ
package import Schema

extension Migrator {
    /// The state of a database's schema, relative to the program's.
    package enum SchemaState: Sendable, Equatable {
        case current
        /// No migration has been applied.
        case empty
        case outdated(version: Int)
        /// The schema was created by a newer program, and works with this one.
        case compatible(version: Int)
        /// The schema was created by a newer program, and does not work with this one.
        case newer(version: Int)
        /// A migration was changed after it was applied.
        case altered(version: Int)
        /// The server is a worker of a Citus cluster, whose schema is that of its coordinator.
        case worker

        /// Whether the program works with the schema.
        package var isUsable: Bool {
            switch self {
            case .current, .compatible: true
            case .empty, .outdated, .newer, .altered, .worker: false
            }
        }
    }

    /// Returns the state of the database's schema, without changing anything.
    package static func check(
        _ pool: PostgresPool,
        against migrations: [Migration] = Schema.migrations
    ) async throws -> SchemaState {
        try await pool.perform(within: TimeLimit.lookup.duration) { try schemaState($0, against: migrations) }
    }

    static func schemaState(
        _ connection: isolated PostgresConnection,
        against migrations: [Migration] = Schema.migrations
    ) throws -> SchemaState {
        guard try !Distribution.isWorker(connection) else { return .worker }
        let version = try appliedVersion(connection)
        guard version > 0 else { return .empty }
        // The applied migrations must be exactly the program's own.
        let scripts = migrations.prefix(version).map(\.up)
        let altered = try connection.query(
            MigrationStatements.firstChanged,
            [.textArray(Array(scripts))]
        ) { try $0.first { try $0.int(0) } }
        if let altered { return .altered(version: altered) }
        guard version > migrations.count else {
            return version == migrations.count ? .current : .outdated(version: version)
        }
        let isCompatible = try connection.query(
            MigrationStatements.isCompatible,
            [.int4(Int32(migrations.count))]
        ) { try $0.first { try $0.bool(0) } ?? false }
        return isCompatible ? .compatible(version: version) : .newer(version: version)
    }

    static func appliedVersion(_ connection: isolated PostgresConnection) throws -> Int {
        let exists = try connection.query(MigrationStatements.hasTable) {
            try $0.first { try $0.bool(0) } ?? false
        }
        guard exists else { return 0 }
        return try connection.query(MigrationStatements.version) {
            try $0.first { try $0.int(0) } ?? 0
        }
    }
}
