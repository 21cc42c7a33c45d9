internal import Catalog
package import LibPQ
internal import Schema

/// Migrates a database's schema, with one transaction per migration and one migrator at a time.
package struct Migrator: Sendable {
    /// The state of a database's schema, relative to the program's.
    package enum SchemaState: Sendable, Equatable {
        case current
        /// No migration has been applied.
        case empty
        case outdated(version: Int)
        /// The schema was created by a newer program.
        case newer(version: Int)
        /// A migration was changed after it was applied.
        case altered(version: Int)
    }

    /// A step of a migration, for reports.
    package enum Step: Sendable, Equatable {
        case collation(locale: String)
        case up(version: Int, name: String)
        case down(version: Int, name: String)

        package var description: String {
            switch self {
            case .collation(let locale): "collation catalog (\(locale))"
            case .up(let version, let name): "v\(version) \(name)"
            case .down(let version, let name): "v\(version) \(name), reverted"
            }
        }
    }

    /// The maximum wait for another migrator.
    private static let lockTimeout: Duration = .seconds(600)

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Returns the state of the database's schema, without changing anything.
    package static func check(_ pool: PostgresPool) async throws -> SchemaState {
        try await pool.perform(within: TimeLimit.lookup.duration) { try schemaState($0) }
    }

    /// Applies missing migrations up to a version, or reverts later ones.
    ///
    /// - Parameters:
    ///   - locale: the locale of a new collation: a BCP 47 tag, or `root`.
    ///   - isDryRun: whether to report the steps without applying them.
    /// - Returns: the steps, in order.
    package func migrate(
        to target: Int = Schema.currentVersion,
        locale: String = "root",
        isDryRun: Bool = false
    ) async throws -> [Step] {
        guard
            locale.utf8.allSatisfy({
                $0 == UInt8(ascii: "-") || (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
            })
        else { throw PostgresError(.misuse, "locale must be a BCP 47 tag, such as sv or de-AT, or root") }
        let steps = try await RunLock.withLock(.migration, "0", waiting: Self.lockTimeout, in: pool) {
            let steps = try await pool.perform { try Self.prepare($0, target, locale, isDryRun) }
            if !isDryRun { for step in steps { try await apply(step) } }
            return steps
        }
        guard let steps else {
            throw PostgresError(.exhausted, "another migration is still running after \(Self.lockTimeout)")
        }
        return steps
    }

    /// Returns what a migration to a lower version would delete, by performing and rolling it back.
    ///
    /// - Returns: nothing for a version that is not lower.
    package func losses(to target: Int) async throws -> [MigrationLoss] {
        try await pool.transaction { connection in
            let steps = try Self.steps(to: target, "root", connection).filter {
                if case .down = $0 { true } else { false }
            }
            guard !steps.isEmpty else { return .rollback([]) }
            try connection.set("lock_timeout", Self.statementLockTimeout)
            let before = try Self.columns(connection)
            for step in steps { try Self.run(step, connection) }
            let after = try Self.columns(connection)
            return .rollback(Self.losses(from: before, to: after))
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

    /// Returns the steps, after checking the schema and creating the table of applied migrations.
    private static func prepare(
        _ connection: isolated PostgresConnection,
        _ target: Int,
        _ locale: String,
        _ isDryRun: Bool
    ) throws -> [Step] {
        switch try schemaState(connection) {
        case .newer(let version):
            throw PostgresError(.misuse, "schema version \(version) is newer than this program")
        case .altered(let version):
            throw PostgresError(.misuse, "migration \(version) differs from the one that was applied")
        case .current, .empty, .outdated: break
        }
        let steps = try steps(to: target, locale, connection)
        guard !isDryRun else { return steps }
        try connection.run(
            script: """
                CREATE TABLE IF NOT EXISTS schema_migration (
                    version integer CONSTRAINT schema_migration_pkey PRIMARY KEY,
                    name text NOT NULL,
                    checksum text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now()
                )
                """
        )
        return steps
    }

    /// Returns the steps that lead from the schema's state to a version.
    private static func steps(
        to target: Int,
        _ locale: String,
        _ connection: isolated PostgresConnection
    ) throws -> [Step] {
        let hasCollation = try connection.query(MigrationStatements.hasCollation) { $0.count > 0 }
        let applied = try appliedVersion(connection)
        var steps: [Step] = []
        if !hasCollation { steps.append(.collation(locale: (locale == "root" ? "und" : locale) + "-u-kn-true")) }
        for migration in Schema.migrations where migration.version > applied && migration.version <= target {
            steps.append(.up(version: migration.version, name: migration.name))
        }
        for migration in Schema.migrations.reversed() where migration.version <= applied && migration.version > target {
            steps.append(.down(version: migration.version, name: migration.name))
        }
        return steps
    }

    /// How long a statement of a migration waits for a lock, and all other statements behind it.
    private static let statementLockTimeout = "1s"
    /// The pause until a migration tries again to get its locks.
    private static let lockRetryPause: Duration = .seconds(2)
    /// How often a migration tries to get its locks.
    private static let lockAttempts = 100

    /// Applies a step in one transaction. Instead of waiting for a lock, with everyone else waiting behind it, the step
    /// starts again after a pause.
    private func apply(_ step: Step) async throws {
        for _ in 0..<Self.lockAttempts {
            do {
                return try await pool.perform { connection in
                    try connection.transaction { connection -> Void in
                        try connection.set("lock_timeout", Self.statementLockTimeout)
                        try Self.run(step, connection)
                    }
                }
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                try await Task.sleep(for: Self.lockRetryPause)
            }
        }
        throw PostgresError(
            .exhausted,
            "\(step.description) did not get its locks in \(Self.lockAttempts) attempts; end long transactions"
        )
    }

    private static func run(_ step: Step, _ connection: isolated PostgresConnection) throws {
        switch step {
        case .collation(let locale):
            try connection.run(
                script:
                    "CREATE COLLATION IF NOT EXISTS catalog (provider = icu, locale = '\(locale)', deterministic = true)"
            )
        case .up(let version, let name):
            let script = Schema.migrations[version - 1].up
            try connection.run(script: script)
            try connection.execute(MigrationStatements.record, [.int4(Int32(version)), .text(name), .text(script)])
        case .down(let version, _):
            try connection.run(script: Schema.migrations[version - 1].down)
            try connection.execute(MigrationStatements.remove, [.int4(Int32(version))])
        }
    }

    private static func appliedVersion(_ connection: isolated PostgresConnection) throws -> Int {
        let exists = try connection.query(MigrationStatements.hasTable) {
            try $0.first { try $0.bool(0) } ?? false
        }
        guard exists else { return 0 }
        return try connection.query(MigrationStatements.version) {
            try $0.first { try $0.int(0) } ?? 0
        }
    }

    static func schemaState(_ connection: isolated PostgresConnection) throws -> SchemaState {
        let version = try appliedVersion(connection)
        guard version > 0 else { return .empty }
        guard version <= Schema.currentVersion else { return .newer(version: version) }
        let scripts = Schema.migrations.prefix(version).map(\.up)
        // The applied migrations must be exactly the program's own.
        let altered = try connection.query(
            MigrationStatements.firstChanged,
            [.textArray(Array(scripts))]
        ) { try $0.first { try $0.int(0) } }
        if let altered { return .altered(version: altered) }
        return version == Schema.currentVersion ? .current : .outdated(version: version)
    }
}
