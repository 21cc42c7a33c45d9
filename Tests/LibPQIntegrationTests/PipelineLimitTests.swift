import Glibc
import LibPQ
import Testing
import TestSupport

/// Pipelines at their limits: connections that are replaced, servers that do not answer, and the end.
@Suite(.timeLimit(.minutes(15))) struct PipelineLimitTests {
    /// Returns a pipeline with one connection.
    private static func pipeline(
        _ configuration: PostgresConfiguration = TestServer.configuration,
        timeout: Duration = .seconds(60)
    ) throws -> PostgresPipeline {
        var options = PostgresPipeline.Options()
        options.connections = 1
        options.timeout = timeout
        return try PostgresPipeline(configuration, options: options)
    }

    private static func backend(_ pipeline: PostgresPipeline) async throws -> Int32 {
        try await pipeline.read([PostgresQuery("SELECT pg_backend_pid()")], into: 0) { pid, _, rows in
            pid = try rows.first { try $0.int4(0) } ?? 0
        }
    }

    private static func run(_ statement: PostgresStatement, _ pipeline: PostgresPipeline) async throws -> Int {
        try await pipeline.read([PostgresQuery(statement)], into: 0) { count, _, rows in count += rows.count }
    }

    /// Returns the error of a task.
    private static func error(of task: Task<Int, any Error>) async -> PostgresError? {
        guard case .failure(let error) = await task.result else { return nil }
        return error as? PostgresError
    }

    /// Runs a block while a connection has a lock, for which the given statement waits.
    private static func withLock(
        _ number: Int,
        _ body: (_ waiting: PostgresStatement) async throws -> Void
    ) async throws {
        let owner = try await PostgresConnection.connect(TestServer.configuration)
        let key = Int(getpid()) * 100 + number
        let lock: PostgresStatement = "SELECT pg_advisory_xact_lock(\(key))"
        try await owner.perform { database in
            try database.begin()
            try database.execute(lock)
        }
        do { try await body(lock) } catch {
            await owner.close()
            throw error
        }
        await owner.close()
    }

    /// Checks the number of reads in flight, which is reached soon.
    private static func expectReads(_ count: Int, _ pipeline: PostgresPipeline) async {
        _ = await eventually { pipeline.readsInFlight == count }
        #expect(pipeline.readsInFlight == count)
    }

    /// Checks that a connection is replaced as soon as it has no reads.
    private static func expectReplacement(of former: Int32, _ pipeline: PostgresPipeline) async throws {
        let isReplaced = try await eventually { try await backend(pipeline) != former }
        #expect(isReplaced)
    }

    @Test("A connection that finds the server read-only is replaced, because another host may be the primary now")
    func replacesReadOnlyConnections() async throws {
        var configuration = TestServer.configuration
        configuration.settings["default_transaction_read_only"] = "on"
        let pipeline = try Self.pipeline(configuration)
        let first = try await Self.backend(pipeline)
        #expect(try await Self.backend(pipeline) == first)
        let error = await #expect(throws: PostgresError.self) {
            try await Self.run("CREATE TABLE must_not_exist (id integer)", pipeline)
        }
        #expect(error?.sqlState == .readOnlyTransaction)
        try await Self.expectReplacement(of: first, pipeline)
        pipeline.shutDown()
    }

    @Test("A connection with many statements beyond its names is replaced")
    func replacesWornOutConnections() async throws {
        var configuration = TestServer.configuration
        configuration.statementLimit = 1
        let pipeline = try Self.pipeline(configuration)
        let first = try await Self.backend(pipeline)
        let queries = (0..<100).map { PostgresQuery(PostgresStatement("SELECT \($0)")) }
        for _ in 0..<19 { _ = try await pipeline.read(queries, into: ()) { _, _, _ in } }
        #expect(try await Self.backend(pipeline) == first)
        for _ in 0..<3 { _ = try await pipeline.read(queries, into: ()) { _, _, _ in } }
        try await Self.expectReplacement(of: first, pipeline)
        pipeline.shutDown()
    }

    @Test("A read fails at its deadline if the server accepts the connection and does not answer")
    func silentServer() async throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
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
        #expect(isBound)
        let port = UInt16(bigEndian: address.sin_port)
        let configuration = PostgresConfiguration(
            dsn: "host=127.0.0.1 port=\(port) dbname=postgres user=aisle sslmode=disable",
            connectTimeout: .seconds(60)
        )
        let pipeline = try Self.pipeline(configuration, timeout: .milliseconds(200))
        for _ in 0..<3 {
            let error = await #expect(throws: PostgresError.self) { try await Self.run("SELECT 1", pipeline) }
            #expect(error?.kind == .deadline && error?.message == "the deadline passed")
        }
        await Self.expectReads(0, pipeline)
        pipeline.shutDown()
        // A pool gives up, too.
        let pool = PostgresPool(configuration, options: .init(size: 1, leaseTimeout: .milliseconds(200)))
        let failed = await #expect(throws: PostgresError.self) { try await pool.perform { try $0.execute("SELECT 1") } }
        #expect(failed?.kind == .exhausted)
        #expect(failed?.message == "no connection became free in time")
        pool.shutDown()
    }

    @Test("Without a server, reads fail at once with the reason")
    func unreachableServer() async throws {
        let configuration = PostgresConfiguration(dsn: "host=/nonexistent/aisle port=1 dbname=postgres")
        let pipeline = try Self.pipeline(configuration)
        for _ in 0..<2 {
            let error = await #expect(throws: PostgresError.self) { try await Self.run("SELECT 1", pipeline) }
            #expect(error?.kind == .connection)
            #expect(error?.message.contains("/nonexistent/aisle") == true)
        }
        await Self.expectReads(0, pipeline)
        pipeline.shutDown()
        let pool = PostgresPool(configuration, options: .init(size: 1))
        let error = await #expect(throws: PostgresError.self) { try await pool.perform { try $0.execute("SELECT 1") } }
        #expect(error?.kind == .connection)
        #expect(error?.message.contains("/nonexistent/aisle") == true)
        pool.shutDown()
    }

    @Test("Reads in flight are counted until they end, and the warming of connections does not count")
    func countsReads() async throws {
        let pipeline = try Self.pipeline()
        pipeline.warmUp([PostgresQuery("SELECT 1"), PostgresQuery("SELECT 2")])
        // The connection runs the queries before this one.
        _ = try await Self.backend(pipeline)
        try await Self.withLock(1) { waiting in
            let blocked = (0..<3).map { _ in Task { try await Self.run(waiting, pipeline) } }
            await Self.expectReads(3, pipeline)
            blocked[0].cancel()
            #expect(await Self.error(of: blocked[0])?.kind == .cancelled)
            for task in blocked.dropFirst() { task.cancel() }
            for task in blocked { _ = await task.result }
        }
        await Self.expectReads(0, pipeline)
        #expect(try await Self.run("SELECT 3", pipeline) == 1)
        pipeline.shutDown()
    }

    @Test("A read that is cancelled while it waits for a connection is counted off once")
    func countsCancelledReads() async throws {
        var configuration = TestServer.configuration
        // Then a connection has one group of reads in flight.
        configuration.statements = .unnamed
        let pipeline = try Self.pipeline(configuration)
        let backend = try await Self.backend(pipeline)
        let observer = try await PostgresConnection.connect(TestServer.configuration)
        try await Self.withLock(3) { lock in
            let blocked = Task { try await Self.run(lock, pipeline) }
            let isBlocked = try await eventually {
                try await observer.perform { database in
                    try database.query("SELECT FROM pg_locks WHERE pid = $1 AND NOT granted", [.int4(backend)]) {
                        $0.count > 0
                    }
                }
            }
            #expect(isBlocked)
            let waiting = Task { try await Self.run("SELECT 1", pipeline) }
            await Self.expectReads(2, pipeline)
            waiting.cancel()
            #expect(await Self.error(of: waiting)?.kind == .cancelled)
            blocked.cancel()
            _ = await blocked.result
        }
        await observer.close()
        await Self.expectReads(0, pipeline)
        #expect(try await Self.run("SELECT 3", pipeline) == 1)
        await Self.expectReads(0, pipeline)
        pipeline.shutDown()
    }

    @Test("A shutdown fails the reads in flight and those that wait")
    func shutdownFailsReads() async throws {
        let pipeline = try Self.pipeline()
        _ = try await Self.backend(pipeline)
        try await Self.withLock(2) { waiting in
            // At most two transactions are in flight, so the last reads wait.
            var tasks: [Task<Int, any Error>] = []
            for number in 1...4 {
                tasks.append(Task { try await Self.run(waiting, pipeline) })
                await Self.expectReads(number, pipeline)
            }
            pipeline.shutDown()
            for task in tasks {
                let error = await Self.error(of: task)
                #expect(error?.kind == .exhausted)
                #expect(error?.message == "the pipeline was shut down")
            }
        }
    }

    @Test("Parts of the queries of a read keep the numbers of the whole")
    func partsOfReads() async throws {
        let pipeline = try Self.pipeline()
        let keyed: PostgresStatement = """
            SELECT w.number, 'key ' || w.key FROM unnest($1::text[]) WITH ORDINALITY AS w (key, number)
            """
        let other: PostgresStatement = """
            SELECT w.number, 'other ' || w.key FROM unnest($1::text[]) WITH ORDINALITY AS w (key, number)
            """
        let queries = ReadQueries(
            sharing: ["a", "b", "c"].map { SharedQuery(keyed, key: [.text($0)]) },
            into: [String](),
            { texts, index, row in texts.append("\(index) \(try row.text(1))") },
            then: [10, 20, 30].map { PostgresQuery("SELECT $1", [.int8($0)]) },
            into: [String]()
        ) { texts, index, rows in texts.append("\(index) \(try rows.first { try $0.int8(0) } ?? 0)") }
        #expect(!queries.isEmpty)
        let part = queries.part(
            [nil, queries.shared[1], queries.shared[2].replacing(other)],
            [queries.own[0], nil, queries.own[2]],
            into: (shared: ["first"], own: ["second"])
        )
        let found = try await pipeline.read(part)
        // Queries with the same statement are sent together, and otherwise in their order.
        #expect(found.shared == ["first", "1 key b", "2 other c"])
        #expect(found.own == ["second", "0 10", "2 30"])
        let whole = try await pipeline.read(queries)
        #expect(whole.shared == ["0 key a", "1 key b", "2 key c"])
        #expect(whole.own == ["0 10", "1 20", "2 30"])
        let rest = queries.part([nil, nil, nil], [nil, nil, nil], into: (shared: [], own: []))
        #expect(rest.isEmpty)
        #expect(!queries.part([queries.shared[0], nil, nil], [nil, nil, nil], into: (shared: [], own: [])).isEmpty)
        #expect(!queries.part([nil, nil, nil], [queries.own[0], nil, nil], into: (shared: [], own: [])).isEmpty)
        let checked = try await pipeline.read(
            checking: SharedQuery("SELECT 1::bigint, true", key: []),
            { try $0.bool(1) },
            before: queries
        )
        #expect(checked.state == true)
        #expect(checked.values.shared == whole.shared)
        #expect(checked.values.own == whole.own)
        let missing = try await pipeline.read(
            checking: SharedQuery("SELECT 1::bigint, true WHERE false", key: []),
            { try $0.bool(1) },
            before: queries
        )
        #expect(missing.state == nil)
        #expect(missing.values.own == whole.own)
        pipeline.shutDown()
    }

    @Test("A row whose key was not asked for is passed over")
    func unknownKeys() async throws {
        let pipeline = try Self.pipeline()
        let statement: PostgresStatement = """
            SELECT number, 'text' FROM (VALUES (0::bigint), (1), (2)) AS v (number) WHERE cardinality($1::text[]) = 1
            """
        let queries = ReadQueries(
            sharing: [SharedQuery(statement, key: [.text("a")])],
            into: 0,
            { count, _, _ in count += 1 },
            then: [],
            into: ()
        ) { _, _, _ in }
        #expect(try await pipeline.read(queries).shared == 1)
        pipeline.shutDown()
    }

    @Test("The error of a closure that gets rows reaches its own caller only")
    func errorsOfClosures() async throws {
        struct Refused: Error {}
        let pipeline = try Self.pipeline()
        let failing = Task {
            try await pipeline.read([PostgresQuery("SELECT 1"), PostgresQuery("SELECT 2")], into: 0) {
                count,
                index,
                _ in
                if index == 0 { throw Refused() }
                count += 1
            }
        }
        #expect(try await Self.run("SELECT 1", pipeline) == 1)
        guard case .failure(let error) = await failing.result else {
            Issue.record("the read succeeded")
            return
        }
        #expect(error is Refused)
        let mistyped = await #expect(throws: PostgresError.self) {
            try await pipeline.read([PostgresQuery("SELECT 1::int2")], into: 0) { value, _, rows in
                value = try rows.first { try $0.int(0) } ?? 0
            }
        }
        #expect(mistyped?.kind == .decoding)
        pipeline.shutDown()
    }
}
