internal import FoundationEssentials
internal import Glibc
package import LibPQ
internal import Platform

/// A private PostgreSQL server, with its own data directory and Unix socket, not reachable over the network.
///
/// PostgreSQL refuses to run as root; then it runs as the user `postgres` (or `nobody`). If that user cannot access the
/// directory, the cluster is placed under `/var/tmp`. Every call can be repeated, even after an interruption.
package struct PrivateCluster: Sendable {
    /// The failure of a call, with a readable message.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// A shutdown mode of `pg_ctl`: `immediate` loses nothing that was acknowledged but must recover at the next start.
    package enum StopMode: String, Sendable {
        case fast, immediate
    }

    /// The directory of the data, the socket and the log.
    package let home: String
    private let binaries: String
    private let user: String?
    private let settings: [String]

    private var data: String { home + "/data" }
    private var socket: String { home + "/socket" }
    package var log: String { home + "/postgres.log" }

    /// - Parameters:
    ///   - folder: the directory of the cluster; created at the first start.
    ///   - binaries: the directory of `initdb` and `pg_ctl`; the newest installed PostgreSQL by default.
    ///   - settings: lines of `postgresql.conf` in addition to the defaults; used only when the cluster is created.
    /// - Throws: `Failure` if PostgreSQL is not installed.
    package init(folder: String, binaries: String? = nil, settings: [String] = []) throws {
        self.binaries = try binaries ?? Self.findBinaries()
        self.settings = settings
        user = getuid() == 0 ? (Self.exists("postgres") ? "postgres" : "nobody") : nil
        home = Self.home(URL(fileURLWithPath: folder).standardizedFileURL.path, user)
    }

    /// Returns the connection configuration.
    ///
    /// - Parameter database: the name of the database.
    package func configuration(database: String = "aisle") -> PostgresConfiguration {
        PostgresConfiguration(dsn: "host='\(socket)' user=aisle dbname='\(database)'")
    }

    /// The connection string, for other programs.
    package var dsn: String { configuration().dsn }

    package var exists: Bool { FileManager.default.fileExists(atPath: data + "/PG_VERSION") }

    package var isRunning: Bool { exists && run(["pg_ctl", "status", "-D", data]).status == 0 }

    /// The process id of the server, if it is running.
    package var processID: Int32? {
        guard let file = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8) else { return nil }
        return file.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Creates the cluster if it does not exist, and starts it if it is not running.
    ///
    /// - Parameter isDurable: false for tests, where a machine crash loses nothing of value.
    package func start(isDurable: Bool = true) throws {
        try makeFolders()
        if !exists { try initialize(isDurable) }
        if isRunning { return }
        var outcome = startServer()
        if outcome.status != 0, removeStaleLock() { outcome = startServer() }
        guard outcome.status == 0 else {
            throw Failure(description: "PostgreSQL failed to start: \(outcome.text)\nLog file: \(log)\n\(tail())")
        }
    }

    /// Stops the server and waits until its process has exited.
    package func stop(_ mode: StopMode = .fast) throws {
        guard isRunning else { return }
        let outcome = run(["pg_ctl", "stop", "-D", data, "-m", mode.rawValue, "-w", "-t", "60"])
        guard outcome.status == 0 else { throw Failure(description: "PostgreSQL failed to stop: \(outcome.text)") }
    }

    /// Stops the server and deletes the cluster with all its data.
    package func remove() throws {
        try stop(.immediate)
        if FileManager.default.fileExists(atPath: home) { try FileManager.default.removeItem(atPath: home) }
    }

    // MARK: - Steps

    private func makeFolders() throws {
        let manager = FileManager.default
        do {
            try manager.createDirectory(atPath: home, withIntermediateDirectories: true)
            for folder in [home, socket] {
                try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder)
                if let user, let entry = getpwnam(user) {
                    _ = chown(folder, entry.pointee.pw_uid, entry.pointee.pw_gid)
                }
            }
        } catch {
            throw Failure(description: "cannot create \(home): \(error)")
        }
    }

    private func initialize(_ isDurable: Bool) throws {
        // Create it under another name and rename it, so that an interrupted run leaves no incomplete cluster.
        let draft = home + "/data.new"
        try? FileManager.default.removeItem(atPath: draft)
        try? FileManager.default.removeItem(atPath: data)
        let outcome = run(
            [
                "initdb", "-D", draft, "-U", "aisle", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8",
                "--no-instructions",
            ]
                + (isDurable ? [] : ["--no-sync"])
        )
        guard outcome.status == 0 else { throw Failure(description: "initdb failed: \(outcome.text)") }
        let settings = """

            listen_addresses = ''
            unix_socket_permissions = 0700
            max_connections = 200
            shared_buffers = 256MB
            max_wal_size = 4GB
            checkpoint_timeout = 15min
            wal_compression = \(walCompression(of: draft))
            autovacuum_vacuum_cost_limit = 1000
            \(isDurable ? "" : "fsync = off\nfull_page_writes = off\nsynchronous_commit = off")
            \(self.settings.joined(separator: "\n"))
            """
        let file = open(draft + "/postgresql.conf", O_WRONLY | O_APPEND | O_CLOEXEC)
        let isWritten = file >= 0 && write(file, settings, settings.utf8.count) == settings.utf8.count
        if file >= 0 { close(file) }
        guard isWritten, rename(draft, data) == 0 else {
            throw Failure(description: "cannot move the new cluster to \(data): \(String(cString: strerror(errno)))")
        }
    }

    /// Returns the best compression of pages in the write-ahead log that the server was built with.
    private func walCompression(of cluster: String) -> String {
        let lz4 = run(["postgres", "-D", cluster, "-C", "wal_compression", "-c", "wal_compression=lz4"])
        return lz4.status == 0 ? "lz4" : "pglz"
    }

    private func startServer() -> (status: Int32, text: String) {
        run([
            "pg_ctl", "start", "-D", data, "-l", log, "-w", "-t", "60", "-o",
            "-c unix_socket_directories='\(socket)'",
        ])
    }

    /// Removes a lock file whose process is no longer a PostgreSQL server.
    private func removeStaleLock() -> Bool {
        guard let processID else { return false }
        let name = (try? String(contentsOfFile: "/proc/\(processID)/comm", encoding: .utf8)) ?? ""
        guard !name.hasPrefix("postgres") else { return false }
        return unlink(data + "/postmaster.pid") == 0
    }

    private func tail() -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(5).joined(separator: "\n")
    }

    /// Runs a PostgreSQL program as a permitted user and waits until it exits.
    private func run(
        _ words: [String]
    ) -> (status: Int32, text: String) {
        var words = words
        words[0] = binaries + "/" + words[0]
        if let user { words = ["setpriv", "--reuid", user, "--regid", group(of: user), "--clear-groups"] + words }
        // Do not use Foundation's Process, which would also wait for the server that inherits its descriptors. Use a file instead of a
        // pipe, because the server would keep the pipe open as well.
        let output = FileManager.default.temporaryDirectory.appending(path: "aisle-\(UUID().uuidString)").path
        defer { unlink(output) }
        let child: pid_t
        do {
            child = try ChildProcess.start(
                ["env", "-C", "/", "LC_ALL=C.UTF-8"] + words,
                output: .file(output),
                error: .standardOutput
            )
        } catch { return (-1, error.description) }
        guard let status = Self.end(of: child) else { return (-1, "\(words[0]) did not end within \(Self.timeLimit)") }
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        return (status, String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()))
    }

    /// The time limit of PostgreSQL's programs; each has its own shorter timeout.
    private static let timeLimit: Duration = .seconds(120)

    /// Waits for a process to end; kills it at the deadline and returns nil.
    private static func end(of child: pid_t) -> Int32? {
        let deadline = ContinuousClock.now + timeLimit
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return status }
            if ended < 0, errno != EINTR { return -1 }
            if deadline <= .now {
                kill(child, SIGKILL)
                waitpid(child, &status, 0)
                return nil
            }
            usleep(2_000)
        }
    }

    private func group(of user: String) -> String { getpwnam(user).map { String($0.pointee.pw_gid) } ?? user }

    // MARK: - Paths

    private static func exists(_ user: String) -> Bool { getpwnam(user) != nil }

    private static func findBinaries() throws -> String {
        let manager = FileManager.default
        let debian = "/usr/lib/postgresql"
        let versions = ((try? manager.contentsOfDirectory(atPath: debian)) ?? []).compactMap { Int($0) }.sorted(by: >)
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        for folder in versions.map({ "\(debian)/\($0)/bin" }) + path
        where manager.isExecutableFile(atPath: folder + "/initdb")
            && manager.isExecutableFile(atPath: folder + "/pg_ctl")
        {
            return folder
        }
        throw Failure(
            description: "PostgreSQL is not installed: there is no initdb. On Debian: apt-get install postgresql"
        )
    }

    /// Returns the directory itself, or one under /var/tmp if the server's user cannot access it or the socket path is too long.
    private static func home(_ folder: String, _ user: String?) -> String {
        // 107 bytes for the socket's path, "/socket/.s.PGSQL.5432" among them.
        let isUsable = folder.utf8.count <= 80 && !folder.contains("'") && !folder.contains("\\")
        if isUsable, user == nil || isReachable(folder) { return folder }
        let hash = folder.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "/var/tmp/aisle-\(getuid())-\(String(hash, radix: 36))"
    }

    /// Returns whether all parent directories are searchable by everyone.
    private static func isReachable(_ folder: String) -> Bool {
        var parent = URL(fileURLWithPath: folder).deletingLastPathComponent()
        while parent.path != "/" {
            var status = stat()
            if stat(parent.path, &status) == 0, status.st_mode & 0o001 == 0 { return false }
            parent = parent.deletingLastPathComponent()
        }
        return true
    }
}
