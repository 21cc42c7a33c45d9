import Foundation
import LibPQ
import Synchronization
import TestSupport
import Testing

/// Connections that are lost, flooded or used in the wrong state, and what still works afterwards.
@Suite(.timeLimit(.minutes(15))) struct ConnectionRecoveryTests {
    // MARK: - COPY

    @Test("Data without a COPY that receives it is misuse, and the connection stays usable")
    func copyOutOfPlace() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let calls: [@Sendable (isolated PostgresConnection) throws -> Void] = [
            { database in try Array("1\n".utf8).withUnsafeBytes { try database.sendCopy($0) } },
            { database in _ = try database.endCopy() },
        ]
        for call in calls {
            let error = await #expect(throws: PostgresError.self) { try await connection.perform(call) }
            #expect(error?.kind == .misuse)
            #expect(await connection.isReusable())
            #expect(try await connection.perform { try $0.query("SELECT 1") { $0.count } } == 1)
        }
        try await connection.perform { $0.abortCopy() }
        #expect(await connection.isReusable())
        #expect(try await connection.perform { try $0.query("SELECT 1") { $0.count } } == 1)
        await connection.close()
    }

    // MARK: - Pipelines

    private static func run(_ statement: PostgresStatement, _ pipeline: PostgresPipeline) async throws -> Int {
        try await pipeline.read([PostgresQuery(statement)], into: 0) { count, _, rows in count += rows.count }
    }

    @Test("A connection that was made after a failure is lost without a failing read")
    func lossAfterSuccess() async throws {
        let database = try await TestDatabase.empty()
        let parts = try PostgresConfiguration.parse(database.configuration.dsn)
        let name = try #require(parts["dbname"])
        let observer = try await PostgresConnection.connect(TestServer.configuration)
        func allowConnections(_ isAllowed: Bool) async throws {
            let script = "ALTER DATABASE \(name) ALLOW_CONNECTIONS \(isAllowed)"
            try await observer.perform { try $0.run(script: script) }
        }
        try await allowConnections(false)
        var options = PostgresPipeline.Options()
        options.connections = 1
        options.timeout = .seconds(60)
        let pipeline = try PostgresPipeline(database.configuration, options: options)
        let refusal = await #expect(throws: PostgresError.self) { try await Self.run("SELECT 1", pipeline) }
        #expect(refusal?.kind == .connection)
        try await allowConnections(true)
        let isConnected = await eventually { (try? await Self.run("SELECT 1", pipeline)) == 1 }
        try #require(isConnected)
        let pid = try await pipeline.read([PostgresQuery("SELECT pg_backend_pid()")], into: Int32(0)) { pid, _, rows in
            pid = try rows.first { try $0.int4(0) } ?? 0
        }
        // The read waits when its connection is lost, and no other connection exists then.
        let owner = try await PostgresConnection.connect(database.configuration)
        try await owner.perform { connection in
            try connection.begin()
            try connection.execute("SELECT pg_advisory_xact_lock(1)")
        }
        let read = Task { try await Self.run("SELECT pg_advisory_xact_lock(1)", pipeline) }
        let waiting: PostgresStatement = "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'"
        let isWaiting = try await eventually {
            try await observer.perform { try $0.query(waiting, [.int4(pid)]) { $0.count } } == 1
        }
        try #require(isWaiting)
        try await observer.perform { try $0.execute("SELECT pg_terminate_backend($1, 5000)", [.int4(pid)]) }
        try await owner.perform { $0.rollback() }
        #expect(try await read.value == 1)
        pipeline.shutDown()
        await owner.close()
        await observer.close()
        try await database.drop()
    }

    // MARK: - Servers without end

    @Test("A statement whose server never stops sending ends soon after its deadline, and its connection is closed")
    func endlessServer() async throws {
        let server = try EndlessServer()
        let configuration = PostgresConfiguration(
            dsn: "host=127.0.0.1 port=\(server.port) dbname=x user=x sslmode=disable gssencmode=disable",
            connectTimeout: .seconds(60)
        )
        let connection = try await PostgresConnection.connect(configuration)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .milliseconds(200)) { try $0.run(script: "SELECT 1") }
        }
        #expect(error?.kind == .deadline)
        #expect(await connection.isReusable() == false)
        let hasEnded = await eventually { server.clientHasLeft != nil }
        #expect(hasEnded)
        #expect(server.clientHasLeft == true, "the client read until the server gave up")
    }

    /// A server that answers a query of one client with parameters of the session, until the client leaves or a time limit passes.
    private final class EndlessServer: Sendable {
        let port: UInt16
        private let listener: Int32
        private let outcome = Mutex<Bool?>(nil)
        private static let limit: Duration = .seconds(30)

        /// Whether the client closed its connection before the time limit; nil until one of them happened.
        var clientHasLeft: Bool? { outcome.withLock { $0 } }

        struct Failure: Error {}

        init() throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isBound = withUnsafeMutablePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    bind(listener, address, length) == 0 && listen(listener, 8) == 0
                        && getsockname(listener, address, &length) == 0
                }
            }
            guard isBound else { throw Failure() }
            self.listener = listener
            port = UInt16(bigEndian: address.sin_port)
            Thread { self.serve() }.start()
        }

        private func serve() {
            let client = accept(listener, nil, nil)
            defer {
                close(client)
                // A cancel request that waits for an answer ends with it.
                close(listener)
            }
            guard client >= 0, read(client), write(client, Self.greeting), read(client) else {
                return outcome.withLock { $0 = false }
            }
            let flood = (0..<2000).flatMap { Self.parameter("application_name", "\($0)") }
            let end = ContinuousClock.now + Self.limit
            while ContinuousClock.now < end {
                guard write(client, flood) else { return outcome.withLock { $0 = true } }
            }
            outcome.withLock { $0 = false }
        }

        /// Reads what the client sends next.
        private func read(_ client: Int32) -> Bool {
            var bytes = [UInt8](repeating: 0, count: 4096)
            return recv(client, &bytes, bytes.count, 0) > 0
        }

        private func write(_ client: Int32, _ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard sent > 0 else { return false }
                rest = rest.dropFirst(sent)
            }
            return true
        }

        /// Returns a message of PostgreSQL's protocol.
        private static func message(_ type: Character, _ content: [UInt8]) -> [UInt8] {
            let length = UInt32(content.count + 4)
            return [type.asciiValue!] + withUnsafeBytes(of: length.bigEndian) { Array($0) } + content
        }

        private static func parameter(_ name: String, _ value: String) -> [UInt8] {
            message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
        }

        /// The authentication, the version, the key for cancel requests, and the readiness for a query.
        private static let greeting =
            message("R", [0, 0, 0, 0]) + parameter("server_version", "16.0") + parameter("client_encoding", "UTF8")
            + message("K", [0, 0, 0, 1, 0, 0, 0, 1]) + message("Z", [UInt8(ascii: "I")])
    }
}
