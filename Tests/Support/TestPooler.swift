internal import Foundation
package import LibPQ
internal import Platform
internal import Synchronization

/// A PgBouncer in transaction mode in front of the test server, if `AISLE_TEST_POOLER` names its executable.
///
/// It has no Aisle-specific configuration: no startup parameter is ignored, and sessions are leased per transaction.
package enum TestPooler {
    /// The folder of the pooler's socket; nil without a pooler.
    static let socketFolder: String? = {
        guard let executable = ProcessInfo.processInfo.environment["AISLE_TEST_POOLER"], !executable.isEmpty else {
            return nil
        }
        return try! start(executable)
    }()

    package static var isUsed: Bool { socketFolder != nil }

    private static let process = Mutex<pid_t?>(nil)

    /// Returns the configuration for the pooler, or the same one without a pooler.
    package static func pooled(_ configuration: PostgresConfiguration) -> PostgresConfiguration {
        guard let socketFolder, let name = try? PostgresConfiguration.parse(configuration.dsn)["dbname"] else {
            return configuration
        }
        var pooled = configuration
        pooled.dsn = "host='\(socketFolder)' port=6432 user=aisle dbname='\(name)'"
        pooled.statements =
            PreparedStatements(rawValue: ProcessInfo.processInfo.environment["AISLE_TEST_STATEMENTS"] ?? "") ?? .named
        return pooled
    }

    private static func start(_ executable: String) throws -> String {
        let folder = "/tmp/aisle-pooler-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let server = try PostgresConfiguration.parse(TestServer.configuration.dsn)
        let settings = """
            [databases]
            * = host=\(server["host"] ?? "") user=aisle
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(folder)
            auth_type = any
            pool_mode = transaction
            max_client_conn = 5000
            default_pool_size = 20
            logfile = \(folder)/log
            pidfile = \(folder)/pid
            """
        try Data(settings.utf8).write(to: URL(fileURLWithPath: folder + "/pgbouncer.ini"))
        var arguments = [executable, "-q", folder + "/pgbouncer.ini"]
        if getuid() == 0, let user = getpwnam("postgres") {
            chown(folder, user.pointee.pw_uid, user.pointee.pw_gid)
            arguments.insert(contentsOf: ["-u", "postgres"], at: 1)
        }
        let child = try ChildProcess.start(arguments)
        process.withLock { $0 = child }
        // A gentler signal would wait for clients that end with this process.
        atexit { TestPooler.process.withLock { if let child = $0 { kill(child, SIGKILL) } } }
        let deadline = ContinuousClock.now + .seconds(10)
        while !FileManager.default.fileExists(atPath: folder + "/.s.PGSQL.6432") {
            guard ContinuousClock.now < deadline else { throw POSIXError(.ETIMEDOUT) }
            usleep(10_000)
        }
        return folder
    }
}
