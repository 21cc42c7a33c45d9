internal import FoundationEssentials
internal import Glibc
internal import Platform

/// A PostgreSQL server of one's own: its data, its unix socket and nothing on the network.
///
/// PostgreSQL refuses to run as root; then it runs as the user `postgres` (or `nobody`), and where that user cannot reach
/// the folder, the cluster lives under `/var/tmp` instead. Every call can be repeated, also after an interruption.
package struct PrivateCluster: Sendable {
    /// Why a call failed, in words for people.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package enum StopMode: String, Sendable {
        case fast, immediate
    }

    /// Where the data, the socket and the log are.
    package let home: String
    private let binaries: String
    private let user: String?
    private let settings: [String]

    private var data: String { home + "/data" }
    private var socket: String { home + "/socket" }
    package var log: String { home + "/postgres.log" }

    /// - Parameters:
    ///   - folder: where the cluster should live; made when it is started.
    ///   - binaries: where `initdb` and `pg_ctl` are; the system's newest PostgreSQL by default.
    ///   - settings: lines of `postgresql.conf` in addition to the defaults; used only when the cluster is created.
    /// - Throws: `Failure`, where PostgreSQL is not installed.
    package init(folder: String, binaries: String? = nil, settings: [String] = []) throws {
        self.binaries = try binaries ?? Self.findBinaries()
        self.settings = settings
        user = getuid() == 0 ? (Self.exists("postgres") ? "postgres" : "nobody") : nil
        home = Self.home(URL(fileURLWithPath: folder).standardizedFileURL.path, user)
    }

    /// How to connect.
    ///
    /// - Parameter database: its name.
    package func configuration(database: String = "aisle") -> PostgresConfiguration {
        PostgresConfiguration(dsn: "host='\(socket)' user=aisle dbname='\(database)'")
    }

    /// The connection string, for other programs.
    package var dsn: String { configuration().dsn }

    package var exists: Bool { FileManager.default.fileExists(atPath: data + "/PG_VERSION") }

    package var isRunning: Bool { exists && run(["pg_ctl", "status", "-D", data]).status == 0 }

    /// The process id of the server, where it runs.
    package var processID: Int32? {
        guard let file = try? String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8) else { return nil }
        return file.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Makes the cluster where there is none, and starts it where it does not run.
    ///
    /// - Parameter isDurable: false for tests, which lose nothing in a crash of the machine.
    package func start(isDurable: Bool = true) throws {
        try makeFolders()
        if !exists { try initialise(isDurable) }
        if isRunning { return }
        var outcome = startServer()
        if outcome.status != 0, removeStaleLock() { outcome = startServer() }
        guard outcome.status == 0 else {
            throw Failure(description: "PostgreSQL does not start: \(outcome.text)\nIts log: \(log)\n\(tail())")
        }
    }

    /// Stops the server and waits until its process is gone.
    package func stop(_ mode: StopMode = .fast) throws {
        guard isRunning else { return }
        let outcome = run(["pg_ctl", "stop", "-D", data, "-m", mode.rawValue, "-w", "-t", "60"])
        guard outcome.status == 0 else { throw Failure(description: "PostgreSQL does not stop: \(outcome.text)") }
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

    private func initialise(_ isDurable: Bool) throws {
        // Made aside and then renamed: an interrupted run leaves nothing that looks finished.
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

    private func startServer() -> (status: Int32, text: String) {
        run([
            "pg_ctl", "start", "-D", data, "-l", log, "-w", "-t", "60", "-o",
            "-c unix_socket_directories='\(socket)'",
        ])
    }

    /// A lock file whose process is not a PostgreSQL server any more.
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

    /// Runs a program of PostgreSQL's, as a user who may, and waits for its end.
    private func run(
        _ words: [String]
    ) -> (status: Int32, text: String) {
        var words = words
        words[0] = binaries + "/" + words[0]
        if let user { words = ["setpriv", "--reuid", user, "--regid", group(of: user), "--clear-groups"] + words }
        // Not Foundation's Process: it waits for the server too, which inherits its descriptors. And a file instead of a
        // pipe, because the server keeps that one as well.
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
        guard let status = Self.end(of: child) else { return (-1, "\(words[0]) did not end within \(Self.patience)") }
        let text = (try? String(contentsOfFile: output, encoding: .utf8)) ?? ""
        return (status, String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()))
    }

    /// How long PostgreSQL's own programs may take; each has a shorter limit of its own.
    private static let patience: Duration = .seconds(120)

    /// Waits for a process to end; kills it at the deadline and returns nil.
    private static func end(of child: pid_t) -> Int32? {
        let deadline = ContinuousClock.now + patience
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

    // MARK: - Places

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

    /// The folder itself where the server's user can reach it and its socket's name fits; else one under /var/tmp.
    private static func home(_ folder: String, _ user: String?) -> String {
        // 107 bytes for the socket's path, "/socket/.s.PGSQL.5432" among them.
        let fits = folder.utf8.count <= 80 && !folder.contains("'") && !folder.contains("\\")
        if fits, user == nil || isReachable(folder) { return folder }
        let hash = folder.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "/var/tmp/aisle-\(getuid())-\(String(hash, radix: 36))"
    }

    /// Whether everybody may pass through the folders above.
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
