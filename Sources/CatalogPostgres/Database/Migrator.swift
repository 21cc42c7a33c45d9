internal import Catalog
package import LibPQ
package import Schema

/// Migrates a database's schema, with one transaction per migration or per part of it, and one migrator at a time.
package struct Migrator: Sendable {
    /// A step of a migration, for reports.
    package enum Step: Sendable, Equatable {
        case collation
        case up(version: Int, name: String)
        case down(version: Int, name: String)
        /// The distribution of tables by Citus, with the number of tables and partitions; nil before it is known.
        case distribution(tables: Int?)

        package var description: String {
            switch self {
            case .collation: "collation catalog, which a later migration drops"
            case .up(let version, let name): "v\(version) \(name)"
            case .down(let version, let name): "v\(version) \(name), reverted"
            case .distribution(let tables):
                tables.map { "distribution of \($0) tables" } ?? "distribution of the tables"
            }
        }
    }

    /// The progress of a part of a migration that runs in batches.
    package struct Progress: Sendable {
        package let part: String
        /// The number of changed rows.
        package let rows: Int
        /// The estimated number of rows to change; nil if it is unknown.
        package let total: Int?
    }

    /// The maximum wait for another migrator.
    private static let lockTimeout: Duration = .seconds(600)

    let pool: PostgresPool
    private let migrations: [Migration]

    /// - Parameter migrations: all migrations of this release, by version.
    package init(_ pool: PostgresPool, migrations: [Migration] = Schema.migrations) {
        (self.pool, self.migrations) = (pool, migrations)
    }

    /// Applies missing migrations up to a version, or reverts later ones. Does nothing on a compatible newer schema. If Citus
    /// has distributed the tables, new ones are distributed, too.
    ///
    /// - Parameters:
    ///   - target: the version; by default the newest.
    ///   - distributes: whether Citus distributes the tables if they are not distributed yet.
    ///   - isDryRun: whether to report the steps without applying them.
    ///   - onProgress: called after each batch.
    /// - Returns: the steps, in order.
    package func migrate(
        to target: Int? = nil,
        distributes: Bool = false,
        isDryRun: Bool = false,
        onProgress: @escaping @Sendable (Progress) -> Void = { _ in }
    ) async throws -> [Step] {
        return try await alone {
            let (steps, isDistributed) = try await pool.perform { connection in
                if distributes { try Distribution.check(connection) }
                return (
                    try checkedSteps(to: target ?? migrations.count, connection),
                    try Distribution.isDistributed(connection)
                )
            }
            guard !isDryRun else { return steps + (distributes && !isDistributed ? [.distribution(tables: nil)] : []) }
            if !steps.isEmpty { try await createTable() }
            var tables = 0
            for step in steps {
                try await apply(step, isDistributed: isDistributed, onProgress)
                // The next one may connect new tables with distributed ones.
                if isDistributed { tables += try await distribute() }
            }
            if isDistributed || distributes { tables += try await distribute() }
            return tables > 0 ? steps + [.distribution(tables: tables)] : steps
        }
    }

    /// Returns the estimated time and additional space of a step, in words; nil if it takes a moment.
    package func estimate(of step: Step) async throws -> String? {
        guard case .up(let version, _) = step, let estimate = migrations[version - 1].estimate,
            let rows = try await rowCount(of: estimate.table), rows > 0
        else { return nil }
        func scaled(_ value: Int) -> Int { max(1, Int((Double(value) * Double(rows) / 1e6).rounded())) }
        return
            "about \(scaled(estimate.seconds)) s and \(scaled(estimate.megabytes)) MB for \(rows) rows of \(estimate.table)"
    }

    /// Returns the number of rows of a table when it was analyzed last; nil if it does not exist, or was never analyzed.
    private func rowCount(of table: String) async throws -> Int? {
        try await pool.perform {
            try $0.query(MigrationStatements.rowCount, [.text(table)]) { try $0.first { try $0.int(0) } }
        }
    }

    /// Runs work while no other migrator runs.
    func alone<T: Sendable>(_ work: () async throws -> T) async throws -> T {
        guard let result = try await RunLock.withLock(.migration, "0", waiting: Self.lockTimeout, in: pool, work) else {
            throw PostgresError(.exhausted, "another migration is still running after \(Self.lockTimeout)")
        }
        return result
    }

    /// Returns the steps, after checking the schema.
    func checkedSteps(
        to target: Int,
        _ connection: isolated PostgresConnection
    ) throws -> [Step] {
        switch try Self.schemaState(connection, against: migrations) {
        case .newer(let version):
            throw PostgresError(.misuse, "schema version \(version) is newer than this program")
        case .compatible(let version) where target < migrations.count:
            throw PostgresError(.misuse, "only the program of schema version \(version) can revert it")
        case .altered(let version):
            throw PostgresError(.misuse, "migration \(version) differs from the one that was applied")
        case .compatible: return []
        case .worker: throw PostgresError(.misuse, Distribution.workerRefusal)
        case .current, .empty, .outdated: return try steps(to: target, connection)
        }
    }

    /// Creates the table of applied migrations.
    private func createTable() async throws {
        try await retryingLocks("the table of migrations") { connection in
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
            let isComplete = try connection.query(MigrationStatements.recordsCompatibility) {
                try $0.first { try $0.bool(0) } ?? false
            }
            if !isComplete {
                try connection.run(script: "ALTER TABLE schema_migration ADD COLUMN oldest_compatible integer")
            }
        }
    }

    /// The last version of the schema whose texts have a collation, which its first migration needs.
    private static let lastVersionWithCollation = 31

    /// Returns the steps that lead from the schema's state to a version.
    func steps(
        to target: Int,
        _ connection: isolated PostgresConnection
    ) throws -> [Step] {
        let hasCollation = try connection.query(MigrationStatements.hasCollation) { $0.count > 0 }
        let applied = try Self.appliedVersion(connection)
        var steps: [Step] = []
        if !hasCollation, applied <= Self.lastVersionWithCollation { steps.append(.collation) }
        for migration in migrations where migration.version > applied && migration.version <= target {
            steps.append(.up(version: migration.version, name: migration.name))
        }
        for migration in migrations.reversed() where migration.version <= applied && migration.version > target {
            steps.append(.down(version: migration.version, name: migration.name))
        }
        return steps
    }

    /// How long a migration statement waits for a lock. Other statements queue behind it meanwhile.
    static let statementLockTimeout = "1s"
    /// The pause until a migration tries again to get its locks.
    private static let lockRetryPause: Duration = .seconds(2)
    /// How often a migration tries to get its locks.
    private static let lockAttempts = 100

    /// Applies a step: in one transaction, or in the parts of its migration.
    private func apply(
        _ step: Step,
        isDistributed: Bool,
        _ onProgress: @Sendable (Progress) -> Void
    ) async throws {
        guard case .up(let version, _) = step,
            case let parts = migrations[version - 1].parts(isDistributed: isDistributed), !parts.isEmpty
        else {
            return try await retryingLocks(step.description) { try run(step, isDistributed: isDistributed, $0) }
        }
        let total: Int? =
            if let table = migrations[version - 1].estimate?.table { try await rowCount(of: table) } else { nil }
        for part in parts {
            let title = "\(step.description): \(part.title)"
            func report(_ rows: Int) { onProgress(Progress(part: part.title, rows: rows, total: total)) }
            switch part.kind {
            case .program: try await run(program: part.title, report)
            case .step where part.isConcurrent: try await pool.perform { try Self.runConcurrently(part, $0) }
            case .step: _ = try await retryingLocks(title) { try Self.execute(part.sql, $0) }
            case .batches:
                var rows = 0
                while case let changed = try await retryingLocks(title, { try Self.execute(part.sql, $0) }), changed > 0
                {
                    rows += changed
                    report(rows)
                }
            }
        }
        try await retryingLocks(step.description) { try record(version, $0) }
    }

    /// Runs a part of a migration that is not SQL.
    ///
    /// - Precondition: the program has a part of this title.
    private func run(program title: String, _ onProgress: (Int) -> Void) async throws {
        switch title {
        case "sort keys of products", "sort keys of products written meanwhile":
            try await Recollation(pool).computeAll(.products, onProgress)
        case "sort keys in the languages of stores", "sort keys in the languages of stores, written meanwhile":
            try await Recollation(pool).computeAll(.all, onProgress)
        default: preconditionFailure("no part of a migration is “\(title)”")
        }
    }

    /// Distributes the tables that are not distributed yet; returns their number.
    private func distribute() async throws -> Int {
        try await retryingLocks("the distribution of the tables") { connection in
            let before = try Distribution.tableCount(connection)
            try connection.run(script: Schema.distribution)
            return try Distribution.tableCount(connection) - before
        }
    }

    /// Runs the statements of a script in sequence, as Citus requires. Returns the number of rows that the last statement affected.
    @discardableResult
    private static func execute(_ script: String, _ connection: isolated PostgresConnection) throws -> Int {
        var affected = 0
        for statement in StatementSplitter.statements(of: script) {
            affected = try connection.execute(script: statement)
        }
        return affected
    }

    /// Runs work in a transaction. Instead of waiting for a lock, with everyone else waiting behind it, the work starts
    /// again after a pause.
    ///
    /// - Parameter isRolledBack: whether the transaction changes nothing.
    func retryingLocks<T: Sendable>(
        _ title: String,
        isRolledBack: Bool = false,
        _ work: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        func lacksLocks(_ error: PostgresError) -> Bool { error.isLockTimeout || error.isRetryable }
        do {
            return try await retrying(limit: Self.lockAttempts, pause: Self.lockRetryPause, when: lacksLocks) {
                try await pool.perform { connection in
                    try connection.transaction(deciding: { connection in
                        try connection.execute(MigrationStatements.prepareCitus)
                        try connection.set("lock_timeout", Self.statementLockTimeout)
                        let result = try work(connection)
                        return isRolledBack ? .rollback(result) : .commit(result)
                    })
                }
            }
        } catch let error as PostgresError where lacksLocks(error) {
            throw PostgresError(
                .exhausted,
                "\(title) did not get its locks in \(Self.lockAttempts) attempts; end long transactions"
            )
        }
    }

    /// Runs a part outside of a transaction, after removing what an interrupted run left behind. It waits for other
    /// transactions, but no other waits for it.
    private static func runConcurrently(_ part: Migration.Part, _ connection: isolated PostgresConnection) throws {
        let invalid = try connection.query(MigrationStatements.invalidIndexes) { try $0.map { try $0.text(0) } }
        for index in invalid where part.sql.contains(" \(index) ") {
            try connection.run(script: "DROP INDEX CONCURRENTLY \(index)")
        }
        try connection.run(script: part.sql)
    }

    /// - Parameter isDistributed: whether Citus has distributed the tables.
    func run(_ step: Step, isDistributed: Bool, _ connection: isolated PostgresConnection) throws {
        switch step {
        case .collation:
            try connection.run(
                script:
                    "CREATE COLLATION IF NOT EXISTS catalog (provider = icu, locale = 'und-u-kn-true', deterministic = true)"
            )
        case .up(let version, _):
            try Self.execute(migrations[version - 1].up(isDistributed: isDistributed), connection)
            try record(version, connection)
        case .down(let version, _):
            try Self.execute(migrations[version - 1].down(isDistributed: isDistributed), connection)
            try connection.execute(MigrationStatements.remove, [.int4(Int32(version))])
        case .distribution: preconditionFailure("a distribution is not a step of its own")
        }
    }

    private func record(_ version: Int, _ connection: isolated PostgresConnection) throws {
        let migration = migrations[version - 1]
        try connection.execute(
            MigrationStatements.record,
            [
                .int4(Int32(version)), .text(migration.name), .text(migration.up),
                .int4(Int32(migration.oldestCompatible)),
            ]
        )
    }
}
