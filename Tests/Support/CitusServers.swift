internal import CatalogPostgres
internal import Foundation
internal import LibPQ
internal import LocalPostgres

/// A Citus cluster for the tests, if `AISLE_TEST_CITUS` names a build of Citus: a coordinator and two workers.
package enum CitusServers {
    /// The prefix of the build; nil if there is none.
    package static let prefix: String? = ProcessInfo.processInfo.environment["AISLE_TEST_CITUS"].flatMap {
        $0.isEmpty ? nil : $0
    }

    /// The servers; the first one is the coordinator.
    static let all: [PrivateCluster] = (0...2).map { node in
        let folder = "/tmp/aisle-citus-\(getpid())-\(node)"
        let server = try! PrivateCluster(
            folder: folder,
            binaries: (prefix ?? "") + "/usr/lib/postgresql/15/bin",
            settings: [
                "shared_preload_libraries = 'citus'", "citus.local_hostname = '\(folder)/socket'",
                "citus.node_conninfo = 'sslmode=disable'", "citus.shard_count = 4", "citus.explain_all_tasks = off",
                "max_connections = 600", "max_prepared_transactions = 600", "wal_level = logical",
                // Each database has a process of Citus.
                "max_worker_processes = 400",
                // The log names the statements that are not on one shard.
                "citus.multi_task_query_log_level = 'log'",
            ]
        )
        try! server.start(isDurable: false)
        TestServer.removeAtExit(server)
        return server
    }

    /// Adds the log of the coordinator to the file that `AISLE_TEST_CITUS_LOG` names.
    static func keepLog() {
        guard prefix != nil, let path = ProcessInfo.processInfo.environment["AISLE_TEST_CITUS_LOG"], !path.isEmpty,
            let log = try? String(contentsOfFile: all[0].log, encoding: .utf8)
        else { return }
        let earlier = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        try? (earlier + log).write(toFile: path, atomically: true, encoding: .utf8)
    }

    /// Adds the extension to a database of all servers, and the workers to the cluster.
    static func install(in database: String) async throws {
        for server in all { try await run("CREATE EXTENSION citus", in: database, on: server) }
        let sockets = all.map { "\($0.home)/socket" }
        try await run("SELECT citus_set_coordinator_host('\(sockets[0])', 5432)", in: database, on: all[0])
        for socket in sockets.dropFirst() {
            try await run("SELECT citus_add_node('\(socket)', 5432)", in: database, on: all[0])
        }
    }

    /// Makes a database a template: it must have no sessions, not even that of Citus.
    static func seal(_ database: String) async throws {
        for server in all {
            try await run("ALTER DATABASE \(database) ALLOW_CONNECTIONS false", in: "postgres", on: server)
            try await run(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '\(database)'",
                in: "postgres",
                on: server
            )
        }
    }

    private static func run(_ script: String, in database: String, on server: PrivateCluster) async throws {
        let connection = try await PostgresConnection.connect(server.configuration(database: database))
        let result: Result<Void, any Error>
        do {
            result = .success(try await connection.perform(within: .seconds(60)) { try $0.run(script: script) })
        } catch {
            result = .failure(error)
        }
        await connection.close()
        try result.get()
    }
}
