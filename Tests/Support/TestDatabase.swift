package import Catalog
internal import CatalogJSON
package import CatalogPostgres
internal import Foundation
package import LibPQ
package import LocalPostgres
internal import Schema
internal import Synchronization

/// The test server: `AISLE_TEST_DATABASE_URL`, the coordinator of `CitusServers`, or a private cluster that starts with the first
/// test. Servers are stopped, by their own process ids, when the process ends.
package enum TestServer {
    package static var configuration: PostgresConfiguration { all[0] }

    /// All servers that have the databases of tests: on Citus the workers, too.
    static let all: [PostgresConfiguration] = {
        let configurations =
            if let dsn = ProcessInfo.processInfo.environment["AISLE_TEST_DATABASE_URL"], !dsn.isEmpty {
                [PostgresConfiguration(dsn: dsn)]
            } else if CitusServers.prefix != nil {
                CitusServers.all.map { $0.configuration(database: "postgres") }
            } else {
                [cluster.configuration(database: "postgres")]
            }
        return configurations.map {
            var configuration = $0
            // Statements must not run without a timeout.
            configuration.settings["statement_timeout"] = "300s"
            // All tests share two cores, so slowness is not an error.
            configuration.connectTimeout = .seconds(60)
            return configuration
        }
    }()

    /// The folder of private clusters: in memory if it has room for them, since they need not survive and consist of many small files.
    private static let folder: String = {
        let memory = "/dev/shm"
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let free = (attributes?[.systemFreeSize] as? NSNumber)?.uint64Value ?? 0
        let parent = free >= 2 << 30 && access(memory, W_OK) == 0 ? memory : "/tmp"
        removeClusters(ofEndedProcesses: parent)
        return parent + "/aisle-test-\(getpid())"
    }()

    /// Removes the clusters of test processes that were killed.
    private static func removeClusters(ofEndedProcesses parent: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
            guard let match = name.wholeMatch(of: /aisle-test-([0-9]+)(-[0-9A-F]{8})?/), let process = pid_t(match.1),
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? PrivateCluster(folder: "\(parent)/\(name)").remove()
        }
    }

    private static let cluster: PrivateCluster = {
        // The tests run at the same time, and have 150 connections together, more on a busy machine.
        let cluster = try! PrivateCluster(folder: folder, settings: ["max_connections = 500", "max_wal_size = 512MB"])
        try! cluster.start(isDurable: false)
        removeAtExit(cluster)
        return cluster
    }()

    private static let stopAtExit = Mutex<[PrivateCluster]>([])
    private static let registration: Void = {
        atexit {
            CitusServers.keepLog()
            TestServer.stopAtExit.withLock { for cluster in $0 { try? cluster.remove() } }
        }
    }()

    /// Starts a separate cluster for tests that stop and restart it.
    package static func separate() throws -> PrivateCluster {
        let cluster = try PrivateCluster(folder: "\(folder)-\(UUID().uuidString.prefix(8))")
        try cluster.start(isDurable: false)
        removeAtExit(cluster)
        return cluster
    }

    static func removeAtExit(_ cluster: PrivateCluster) {
        stopAtExit.withLock { $0.append(cluster) }
        _ = registration
    }
}

/// A separate database, cloned from a migrated template.
package struct TestDatabase: Sendable {
    package let configuration: PostgresConfiguration
    private let name: String
    /// The same database through the pooler, if the tests use one.
    package var pooled: PostgresConfiguration { TestPooler.pooled(configuration) }
    /// The timeout of creating or dropping a database.
    private static let limit: Duration = .seconds(120)

    /// The template, created once per process.
    private static let template = Task { () -> String in
        let name = "aisle_template_\(getpid())"
        try await runOnAll(
            "DROP DATABASE IF EXISTS \(name)",
            "CREATE DATABASE \(name) TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'"
        )
        let isDistributed = CitusServers.prefix != nil
        if isDistributed { try await CitusServers.install(in: name) }
        let pool = PostgresPool(try TestServer.configuration.database(name), options: .init(size: 1))
        _ = try await Migrator(pool).migrate(distributes: isDistributed)
        let roles = try await DatabaseRoles().script(pool)
        try await pool.perform(within: limit) { connection in
            for statement in StatementSplitter.statements(of: roles) { try connection.run(script: statement) }
        }
        // A template must have no sessions.
        try await pool.withConnection { await $0.close() }
        pool.shutDown()
        if isDistributed { try await CitusServers.seal(name) }
        return name
    }

    /// Runs scripts on all servers, one after the other.
    private static func runOnAll(_ scripts: String...) async throws {
        for server in TestServer.all {
            let connection = try await PostgresConnection.connect(server)
            let result: Result<Void, any Error>
            do {
                for script in scripts {
                    try await connection.perform(within: limit) { try $0.run(script: script) }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await connection.close()
            try result.get()
        }
    }

    /// An empty database, without a schema.
    package static func empty() async throws -> TestDatabase {
        try await create("TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'")
    }

    /// A database with the current schema.
    package static func migrated() async throws -> TestDatabase {
        let database = try await create("TEMPLATE \(try await template.value)")
        try await database.continueLife()
        return database
    }

    /// Returns a copy of the database, to which nothing is connected.
    package func copy() async throws -> TestDatabase {
        let copy = try await Self.create("TEMPLATE \(name)")
        try await copy.continueLife()
        return copy
    }

    /// Records that nothing stored was lost by the copy of the template.
    private func continueLife() async throws {
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.perform(within: Self.limit) { connection in
            // Citus does not evaluate the identity in an UPDATE.
            let identity = try connection.query("SELECT \(DatabaseEpoch.identity)") { try $0.first { try $0.text(0) }! }
            try connection.execute("UPDATE database_life SET identity = $1", [.text(identity)])
        }
        await connection.close()
    }

    /// A database with an ICU locale and the current schema.
    package static func migrated(icuLocale: String) async throws -> TestDatabase {
        let database = try await create(
            "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE '\(icuLocale)' LOCALE 'C.UTF-8' ENCODING 'UTF8'"
        )
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        _ = try await Migrator(pool).migrate()
        pool.shutDown()
        return database
    }

    private static let cloning = AsyncLock()

    private static func create(_ options: String) async throws -> TestDatabase {
        let name = "aisle_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        // Clones of one template wait for each other.
        try await cloning.run {
            try await runOnAll(
                "CREATE DATABASE \(name) \(options)",
                "ALTER DATABASE \(name) SET statement_timeout = '300s'"
            )
        }
        return TestDatabase(configuration: try TestServer.configuration.database(name), name: name)
    }

    package func drop() async throws {
        try await Self.runOnAll("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }
}

extension PostgresConfiguration {
    /// The configuration whose transactions have the rights of servers.
    package var inServerRole: PostgresConfiguration {
        var copy = self
        if CitusServers.prefix != nil {
            // The connections between the servers of a cluster are those of the session's user.
            copy.dsn += " user=\(DatabaseRoles().server)"
            return copy
        }
        copy.settings["role"] = DatabaseRoles().server
        return copy
    }

    /// The configuration without that restriction.
    package var inOwnerRole: PostgresConfiguration {
        var copy = self
        if CitusServers.prefix != nil { copy.dsn += " user=aisle" }
        copy.settings["role"] = nil
        return copy
    }
}

/// Runs one block at a time.
private actor AsyncLock {
    private var last: Task<Void, any Error>?

    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let previous = last
        let next = Task {
            _ = try? await previous?.value
            try await body()
        }
        last = next
        try await next.value
    }
}

/// An inconsistency between tables.
package struct InconsistentTables: Error, CustomStringConvertible {
    package let description: String
}

extension TestDatabase {
    /// Checks that every store has a state.
    package func checkConsistency() async throws {
        let connection = try await PostgresConnection.connect(configuration)
        func count(_ statement: PostgresStatement) async throws -> Int {
            try await connection.perform(within: Self.limit) {
                try $0.query(statement) { try $0.first { try $0.int(0) }! }
            }
        }
        let stateless = try await count(
            "SELECT count(*) FROM store WHERE store_id NOT IN (SELECT store_id FROM store_state)"
        )
        await connection.close()
        guard stateless == 0 else { throw InconsistentTables(description: "\(stateless) stores have no state") }
    }
}

/// Runs a test on a migrated database with a catalog, checks that its tables are consistent, and drops it.
package func withCatalog(
    observer: Observer<DatabaseObservation> = .none,
    _ body: (PostgresCatalog) async throws -> Void
) async throws {
    let database = try await TestDatabase.migrated()
    // All tests share two cores, so slowness is not an error.
    let catalog = PostgresCatalog(
        try Database(
            database.pooled.inServerRole,
            direct: database.configuration.inServerRole,
            waitLimit: .seconds(60),
            readsWorkers: CitusServers.prefix != nil,
            observer: observer
        ),
        encodingEvents: \.json
    )
    do {
        try await body(catalog)
        try await database.checkConsistency()
    } catch {
        catalog.shutDown()
        try await database.drop()
        throw error
    }
    catalog.shutDown()
    try await database.drop()
}
