internal import CatalogPostgres
internal import Foundation
package import LibPQ
internal import LocalPostgres

/// A single-node Citus cluster with the distributed schema, if `AISLE_TEST_CITUS` names a build of Citus.
package enum CitusServer {
    /// The prefix of the build; nil if there is none.
    package static let prefix: String? = ProcessInfo.processInfo.environment["AISLE_TEST_CITUS"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// Runs a body with a migrated and distributed database.
    package static func withDatabase<T: Sendable>(
        _ body: (PostgresConfiguration) async throws -> T
    ) async throws -> T {
        let folder = "/tmp/aisle-citus-\(getpid())"
        let binaries = (prefix ?? "") + "/usr/lib/postgresql/15/bin"
        let cluster = try PrivateCluster(
            folder: folder,
            binaries: binaries,
            settings: [
                "shared_preload_libraries = 'citus'", "citus.local_hostname = '\(folder)/socket'",
                "citus.explain_all_tasks = off", "citus.shard_count = 4",
            ]
        )
        try cluster.start(isDurable: false)
        let result: Result<T, any Error>
        do {
            try await makeDatabase(cluster)
            result = .success(try await body(cluster.configuration()))
        } catch {
            result = .failure(error)
        }
        try cluster.remove()
        return try result.get()
    }

    private static func makeDatabase(_ cluster: PrivateCluster) async throws {
        let admin = PostgresPool(cluster.configuration(database: "postgres"), options: .init(size: 1))
        try await admin.perform {
            try $0.run(script: "CREATE DATABASE aisle TEMPLATE template0 LOCALE 'C.UTF-8' ENCODING 'UTF8'")
        }
        admin.shutDown()
        let pool = PostgresPool(cluster.configuration(), options: .init(size: 2))
        try await pool.perform { try $0.run(script: "CREATE EXTENSION citus") }
        _ = try await Migrator(pool).migrate()
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "sql/citus/distribute.sql")
        let script = try String(contentsOf: file, encoding: .utf8)
        try await pool.perform(within: .seconds(120)) { try $0.run(script: script) }
        pool.shutDown()
    }
}
