import Foundation
import LibPQ
import Testing
import TestSupport
import WebClient

@testable import aisle

/// Socket activation and notifications of systemd.
@Suite(.timeLimit(.minutes(5))) struct SystemdTests {
    private static func sockets(_ count: String, names: String? = nil, process: String = "7") throws
        -> ActivationSockets
    {
        var environment = ["LISTEN_FDS": count, "LISTEN_PID": process]
        environment["LISTEN_FDNAMES"] = names
        return try ActivationSockets(environment: environment, process: 7)
    }

    @Test(
        "A single socket without a name of its own is the one for HTTP",
        arguments: [nil, "", "unknown", "aisle.socket", "http"]
    )
    func singleSocketIsHTTP(_ name: String?) throws {
        let sockets = try Self.sockets("1", names: name)
        #expect(sockets.http == 3)
        #expect(sockets.admin == nil)
    }

    @Test("Named sockets are recognized in any order")
    func namedSockets() throws {
        let sockets = try Self.sockets("2", names: "admin:http")
        #expect(sockets.http == 4)
        #expect(sockets.admin == 3)
        #expect(try Self.sockets("1", names: "admin").admin == 3)
    }

    @Test("Sockets of another process, and missing variables, are ignored")
    func otherProcess() throws {
        #expect(try Self.sockets("1", process: "8") == ActivationSockets())
        #expect(try ActivationSockets(environment: [:], process: 7) == ActivationSockets())
        #expect(try ActivationSockets(environment: ["LISTEN_FDS": "1"], process: 7) == ActivationSockets())
    }

    @Test(
        "Sockets that cannot be used are a configuration error",
        arguments: [
            ("0", nil), ("3", "http:admin:http"), ("-1", nil), ("one", nil), ("2", nil), ("2", "http"),
            ("2", "http:http"),
            ("2", "http:"), ("1", "metrics"), ("1", "http:admin"),
        ] as [(String, String?)]
    )
    func invalidSockets(_ count: String, _ names: String?) {
        let failure = #expect(throws: CommandFailure.self) { try Self.sockets(count, names: names) }
        #expect(failure?.code == CommandFailure.configuration)
    }

    @Test("The watchdog needs an interval, and can be meant for another process")
    func watchdogInterval() throws {
        func watchdog(_ more: [String: String]) throws -> Duration? {
            let environment = ["NOTIFY_SOCKET": "/run/notify"].merging(more) { $1 }
            return try #require(SystemdNotifier(environment: environment, process: 7)).watchdog
        }
        #expect(try watchdog(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(try watchdog(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
        #expect(try watchdog(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
        #expect(try watchdog(["WATCHDOG_USEC": "0"]) == nil)
        #expect(try watchdog(["WATCHDOG_USEC": "soon"]) == nil)
        #expect(try watchdog([:]) == nil)
    }

    @Test(
        "A socket that is not an absolute path or abstract name, or too long, is ignored",
        arguments: ["", "notify", "vsock:2:1234", "/" + String(repeating: "n", count: 108)]
    )
    func unusableNotifySocket(_ socket: String) {
        #expect(SystemdNotifier(environment: ["NOTIFY_SOCKET": socket], process: 7) == nil)
        #expect(SystemdNotifier(environment: [:], process: 7) == nil)
    }

    @Test("States arrive at a socket with a path and at an abstract one", arguments: [false, true])
    func statesArrive(_ isAbstract: Bool) throws {
        let receiver = try NotificationReceiver(isAbstract: isAbstract)
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": receiver.address], process: 7))
        #expect(notifier.send(.ready(status: "Listening on http://127.0.0.1:8080")))
        #expect(receiver.next() == "READY=1\nSTATUS=Listening on http://127.0.0.1:8080")
        #expect(notifier.send(.alive))
        #expect(receiver.next() == "WATCHDOG=1")
        #expect(notifier.send(.stopping(limit: .seconds(20))))
        #expect(receiver.next() == "STOPPING=1\nSTATUS=Stopping\nEXTEND_TIMEOUT_USEC=20000000")
    }

    @Test("A notification to a socket that does not exist fails without an error")
    func missingNotifySocket() throws {
        let environment = ["NOTIFY_SOCKET": "/tmp/aisle-\(UUID().uuidString)"]
        #expect(try #require(SystemdNotifier(environment: environment, process: 7)).send(.alive) == false)
    }

    @Test("A socket for an admin port that is not configured is an error of the configuration")
    func refusesUnusedSocket() async throws {
        let listener = try ListeningSocket()
        let server = try TestProcess(
            ["serve"],
            environment: ["DATABASE_URL": "postgresql://nowhere", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "admin"],
            inheriting: listener.descriptor
        )
        #expect(await server.wait() == 78)
        #expect(server.standardError.contains("set AISLE_ADMIN_PORT"))
    }

    @Test("A server serves an inherited socket, notifies, and leaves the socket open to its successor")
    func servesInheritedSocket() async throws {
        let database = try await TestDatabase.migrated()
        let listener = try ListeningSocket()
        let receiver = try NotificationReceiver(isAbstract: true)
        for _ in 0..<2 {
            let server = try TestProcess(
                ["serve"],
                environment: [
                    "DATABASE_URL": database.configuration.dsn, "NOTIFY_SOCKET": receiver.address,
                    "WATCHDOG_USEC": "500000",
                    "LISTEN_FDS": "1", "LISTEN_FDNAMES": "http",
                ],
                inheriting: listener.descriptor
            )
            #expect(
                receiver.next()?.hasPrefix("READY=1\nSTATUS=Listening on http://127.0.0.1:\(listener.port)") == true
            )
            let url = "http://127.0.0.1:\(listener.port)/livez"
            #expect(try await HTTPClient.shared.send(HTTPFetch("GET", url)).status == 200)
            #expect(receiver.next() == "WATCHDOG=1")
            server.signal(SIGTERM)
            #expect(receiver.next { $0.hasPrefix("STOPPING=1") } != nil)
            #expect(await server.wait() == 0)
        }
        try await database.drop()
    }

    @Test("A server stops although nobody reads its notifications")
    func stopsWithFullQueue() async throws {
        let database = try await TestDatabase.migrated()
        let receiver = try NotificationReceiver(isAbstract: true)
        let server = try TestProcess(
            ["serve", "--port", "0"],
            environment: [
                "DATABASE_URL": database.configuration.dsn, "NOTIFY_SOCKET": receiver.address,
                "WATCHDOG_USEC": "200000",
            ]
        )
        _ = try #require(await server.port())
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": receiver.address], process: 7))
        while notifier.send(.alive) {}
        server.signal(SIGTERM)
        #expect(await server.wait() == 0)
        try await database.drop()
    }

    @Test("A notification waits, within its limit, for space in the queue")
    func waitsForSpace() async throws {
        let receiver = try NotificationReceiver(isAbstract: true)
        let notifier = try #require(SystemdNotifier(environment: ["NOTIFY_SOCKET": receiver.address], process: 7))
        while notifier.send(.alive) {}
        await notifier.send(.stopping(limit: .seconds(1)), within: .milliseconds(20))
        async let stopping: Void = notifier.send(.stopping(limit: .seconds(1)), within: .seconds(60))
        #expect(receiver.next { $0.hasPrefix("STOPPING=1") } != nil)
        await stopping
        #expect(notifier.send(.alive))
        #expect(receiver.next() == "WATCHDOG=1")
    }

    @Test("A descriptor that is not a listening socket is a configuration error")
    func rejectsOtherDescriptors() async throws {
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        let server = try TestProcess(["serve"], environment: ["LISTEN_FDS": "1"], inheriting: file)
        #expect(await server.wait() == CommandFailure.configuration)
        #expect(server.standardError.contains("descriptor 3 of LISTEN_FDS is not a listening stream socket"))
    }

    @Test("The connection string can come from a file, whose errors name it")
    func databaseURLFile() async throws {
        let database = try await TestDatabase.migrated()
        let file = FileManager.default.temporaryDirectory.appending(path: "aisle-url-\(UUID().uuidString)").path
        defer { unlink(file) }
        func run(_ text: String?) async throws -> (Int32, String) {
            unlink(file)
            if let text { try text.write(toFile: file, atomically: false, encoding: .utf8) }
            let command = try TestProcess(["db", "status"], environment: ["AISLE_DATABASE_URL_FILE": file])
            return (await command.wait(), command.standardError)
        }
        #expect(try await run(database.configuration.dsn + "\n").0 == 0)
        let cases: [(String?, String)] = [
            (nil, "cannot read the file \(file) of AISLE_DATABASE_URL_FILE"),
            ("\n", "the file \(file) of AISLE_DATABASE_URL_FILE is empty"),
            (
                "not a dsn",
                "the content of the file \(file) of AISLE_DATABASE_URL_FILE is not a PostgreSQL connection string"
            ),
        ]
        for (text, message) in cases {
            let (code, error) = try await run(text)
            #expect(code == CommandFailure.configuration)
            #expect(error.contains(message), "\(error)")
        }
        try await database.drop()
    }
}

/// A socket that receives notifications, as systemd does.
private final class NotificationReceiver {
    let address: String
    private let descriptor: Int32

    init(isAbstract: Bool) throws {
        address = (isAbstract ? "@" : "/tmp/") + "aisle-notify-\(UUID().uuidString)"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        if isAbstract { path[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
        let size = MemoryLayout<sa_family_t>.size + path.count + (isAbstract ? 0 : 1)
        let bound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(size)) }
        }
        guard bound == 0 else { throw POSIXError(.EADDRINUSE) }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        close(descriptor)
        if address.hasPrefix("/") { unlink(address) }
    }

    /// Returns the next notification; nil after a minute without one.
    func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Returns the next notification that meets a condition.
    func next(where condition: (String) -> Bool) -> String? {
        while let text = next() { if condition(text) { return text } }
        return nil
    }
}

/// A listening socket on a free local port.
private final class ListeningSocket {
    let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.EADDRINUSE) }
        port = Int(UInt16(bigEndian: name.sin_port))
    }

    deinit { close(descriptor) }
}
