import LibPQ
import LocalPostgres
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PoolTests {
    @Test("Ten thousand leases leak no connection")
    func leasesDoNotLeak() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 4, leaseTimeout: .seconds(600)))
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    try await pool.perform {
                        try $0.query("SELECT $1", [.int8(Int64(number))]) { try $0.first { try $0.int(0) }! }
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 10_000 * 9_999 / 2)
        let counts = pool.counts
        #expect(counts.leased == 0)
        #expect(counts.waiting == 0)
        #expect(counts.total <= 4)
        pool.shutDown()
    }

    @Test("A lease from a full pool times out")
    func leaseTimesOut() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1, leaseTimeout: .seconds(2)))
        try await pool.withConnection { _ in
            let error = await #expect(throws: PostgresError.self) {
                try await pool.perform { try $0.execute("SELECT 1") }
            }
            #expect(error?.kind == .exhausted)
        }
        try await pool.perform { _ = try $0.execute("SELECT 1") }
        pool.shutDown()
    }

    @Test("A cancelled waiter leaves the queue")
    func cancelledWaiterIsRemoved() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1, leaseTimeout: .seconds(60)))
        try await pool.withConnection { _ in
            let waiter = Task { try await pool.perform { try $0.execute("SELECT 1") } }
            while pool.counts.waiting == 0 { await Task.yield() }
            waiter.cancel()
            let result = await waiter.result
            #expect(throws: PostgresError.self) { try result.get() }
            #expect(pool.counts.waiting == 0)
        }
        pool.shutDown()
    }

    @Test("A connection inside a failed transaction is not leased again")
    func failedTransactionIsNotReused()
        async throws
    {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1))
        func backend() async throws -> Int32 {
            try await pool.perform { try $0.query("SELECT pg_backend_pid()") { try $0.first { try $0.int4(0) }! } }
        }
        let first = try await backend()
        _ = try? await pool.perform { database in
            try database.run(script: "BEGIN")
            try database.execute("SELECT 1 / 0")
        }
        #expect(try await backend() != first)
        pool.shutDown()
    }

    @Test("Idle connections that were killed are replaced silently")
    func killedIdleConnectionsAreReplaced()
        async throws
    {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 3, leaseTimeout: .seconds(600)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask { try await pool.perform { _ = try $0.execute("SELECT pg_sleep(0.001)") } }
            }
            try await group.waitForAll()
        }
        let killer = try await PostgresConnection.connect(TestServer.configuration)
        // Kill only this pool's connections: other tests use the server too.
        let pids = try await withThrowingTaskGroup(of: Int32.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await pool.perform {
                        try $0.query("SELECT pg_backend_pid() FROM pg_sleep(0.05)") { try $0.first { try $0.int4(0) }! }
                    }
                }
            }
            return try await group.reduce(into: Set<Int32>()) { $0.insert($1) }
        }
        try await killer.perform { database in
            for pid in pids { try database.execute("SELECT pg_terminate_backend($1, 5000)", [.int4(pid)]) }
        }
        for _ in 0..<5 { try await pool.perform { _ = try $0.execute("SELECT 1") } }
        pool.shutDown()
    }

    @Test("The pool and the pipeline recover from a database restart")
    func recoversFromRestart()
        async throws
    {
        let cluster = try TestServer.separate()
        let pool = PostgresPool(
            cluster.configuration(database: "postgres"),
            options: .init(size: 2, leaseTimeout: .seconds(5))
        )
        let pipeline = try PostgresPipeline(cluster.configuration(database: "postgres"))
        func poolWorks() async -> Bool { (try? await pool.perform { try $0.query("SELECT 1") { $0.count } }) == 1 }
        func pipelineWorks() async -> Bool {
            (try? await pipeline.read([PostgresQuery("SELECT 1")], into: 0) {
                $0 = $2.count; _ = $1
            }) == 1
        }
        #expect(await poolWorks())
        #expect(await pipelineWorks())
        try cluster.stop(.immediate)
        let error = await #expect(throws: PostgresError.self) { try await pool.perform { try $0.execute("SELECT 1") } }
        #expect(error?.meansUnavailable == true)
        #expect(await pipelineWorks() == false)
        try cluster.start(isDurable: false)
        let limit = ContinuousClock.now + .seconds(20)
        var isWell = false
        while !isWell, ContinuousClock.now < limit {
            isWell = await poolWorks()
            if isWell { isWell = await pipelineWorks() }
        }
        #expect(isWell)
        pool.shutDown()
        pipeline.shutDown()
        try cluster.remove()
    }
}

@Suite(.timeLimit(.minutes(15))) struct PipelineTests {
    @Test(
        "An error in a pipeline does not abort other statements",
        arguments: [PreparedStatements.named, .unnamed],
        [1, 2]
    )
    func errorDoesNotAffectNeighbors(statements: PreparedStatements, connections: Int) async throws {
        var configuration = TestServer.configuration
        configuration.statements = statements
        var options = PostgresPipeline.Options()
        options.connections = connections
        // All tests share two cores, so slowness is not an error.
        options.timeout = .seconds(60)
        let pipeline = try PostgresPipeline(configuration, options: options)
        let outcomes = await withTaskGroup(of: (Int, Int?).self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let query = PostgresQuery("SELECT 10 / $1", [.int4(Int32(number % 10))])
                    let value = try? await pipeline.read(
                        [query, PostgresQuery("SELECT $1", [.int8(Int64(number))])],
                        into: -1
                    ) { value, index, rows in
                        if index == 1 { value = try rows.first { try $0.int(0) }! }
                    }
                    return (number, value)
                }
            }
            return await group.reduce(into: [Int: Int?]()) { $0[$1.0] = $1.1 }
        }
        for (number, value) in outcomes { #expect(value == (number % 10 == 0 ? nil : number)) }
        pipeline.shutDown()
    }

    @Test("A pipeline can run more distinct statements than it has names")
    func readsManyDistinctStatements() async throws {
        let pipeline = try PostgresPipeline(TestServer.configuration)
        for number in 0..<500 {
            let query = PostgresQuery(PostgresStatement("SELECT \(number)::int8"))
            #expect(
                try await pipeline.read([query], into: -1) { value, _, rows in value = try rows.first { try $0.int(0) }!
                } == number
            )
        }
        pipeline.shutDown()
    }

    @Test("A timed-out statement is cancelled on the server, and other statements still succeed")
    func timeoutDoesNotAffectNeighbors() async throws {
        var options = PostgresPipeline.Options()
        options.connections = 1
        options.timeout = .seconds(2)
        let pipeline = try PostgresPipeline(TestServer.configuration, options: options)
        func backend() async throws -> Int32 {
            try await pipeline.read([PostgresQuery("SELECT pg_backend_pid()")], into: 0) { pid, _, rows in
                pid = try rows.first { try $0.int4(0) } ?? 0
            }
        }
        let before = try await backend()
        let slow = Task {
            try await pipeline.read([PostgresQuery("SELECT pg_sleep(600)")], into: 0) {
                $0 = $2.count; _ = $1
            }
        }
        // Later statements wait for longer than the timeout, but each has its own timeout.
        var answered = 0
        let deadline = ContinuousClock.now + .seconds(60)
        while answered < 5, ContinuousClock.now < deadline {
            let value = try? await pipeline.read([PostgresQuery("SELECT $1", [.int8(7)])], into: 0) { value, _, rows in
                value = try rows.first { try $0.int(0) } ?? 0
            }
            if value == 7 { answered += 1 }
        }
        #expect(answered == 5)
        let result = await slow.result
        let error = #expect(throws: PostgresError.self) { try result.get() }
        #expect(error?.kind == .deadline || error?.sqlState == .queryCanceled)
        #expect(try await backend() == before, "the connection was replaced")
        pipeline.shutDown()
    }

    /// Returns the texts of keys, each given with its number; a key without a row returns nil.
    private static let texts: PostgresStatement = """
        SELECT w.number, 'text of ' || w.key FROM unnest($1::text[]) WITH ORDINALITY AS w (key, number) WHERE w.key <> 'none'
        """

    @Test("Reads share a query, and each gets the rows of its own key")
    func sharesQueries() async throws {
        var options = PostgresPipeline.Options()
        options.connections = 1
        options.timeout = .seconds(60)
        let pipeline = try PostgresPipeline(TestServer.configuration, options: options)
        let outcomes = await withTaskGroup(of: (Int, [String]?).self) { group in
            for number in 0..<2000 {
                group.addTask {
                    // Some reads fail in a query of their own, which must not affect the others.
                    let own = PostgresQuery("SELECT 10 / $1", [.int4(Int32(number % 10))])
                    let key = number % 7 == 0 ? "none" : "key \(number % 50)"
                    let queries = ReadQueries(
                        sharing: [SharedQuery(Self.texts, key: [.text(key)])],
                        into: [String](),
                        { texts, _, row in texts.append(try row.text(1)) },
                        then: number % 3 == 0 ? [] : [own],
                        into: [String]()
                    ) { texts, _, rows in texts.append(try rows.first { "\(try $0.int4(0))" } ?? "") }
                    let found = try? await pipeline.read(queries)
                    return (number, found.map { $0.shared + $0.own })
                }
            }
            return await group.reduce(into: [Int: [String]?]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == 2000)
        for (number, found) in outcomes {
            let shared = number % 7 == 0 ? [] : ["text of key \(number % 50)"]
            if number % 3 == 0 {
                #expect(found == shared)
            } else if number % 10 == 0 {
                #expect(found == nil)
            } else {
                #expect(found == shared + ["\(10 / (number % 10))"])
            }
        }
        pipeline.shutDown()
    }

    @Test("Shared queries of different scopes are not sent together, and each read gets the rows of its own")
    func scopesAreSeparate() async throws {
        var options = PostgresPipeline.Options()
        options.connections = 1
        let pipeline = try PostgresPipeline(TestServer.configuration, options: options)
        let keyed: PostgresStatement = """
            SELECT w.number, $1 || ' ' || w.key FROM unnest($2::text[]) WITH ORDINALITY AS w (key, number)
            """
        let single: PostgresStatement = "SELECT 1::bigint, 'only ' || $1"
        let outcomes = try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
            for number in 0..<600 {
                group.addTask {
                    let scope: [PostgresValue] = [.text("scope \(number % 7)")]
                    let queries = ReadQueries(
                        sharing: [
                            SharedQuery(keyed, scope: scope, key: [.text("key \(number % 11)")]),
                            SharedQuery(single, scope: scope, key: []),
                        ],
                        into: [String](),
                        { texts, _, row in texts.append(try row.text(1)) },
                        then: [],
                        into: ()
                    ) { _, _, _ in }
                    let found = try await pipeline.read(queries)
                    return (number, found.shared)
                }
            }
            return try await group.reduce(into: [Int: [String]]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == 600)
        for (number, found) in outcomes {
            #expect(found == ["scope \(number % 7) key \(number % 11)", "only scope \(number % 7)"])
        }
        pipeline.shutDown()
    }

    @Test("An error in a shared query reaches every read that needs it, and no other")
    func sharedErrorsReachTheirReads() async throws {
        var options = PostgresPipeline.Options()
        options.connections = 1
        let pipeline = try PostgresPipeline(TestServer.configuration, options: options)
        let failing: PostgresStatement = """
            SELECT w.number, 1 / (w.key <> 'zero')::int FROM unnest($1::text[]) WITH ORDINALITY AS w (key, number)
            """
        let outcomes = await withTaskGroup(of: (Int, Int?).self) { group in
            for number in 0..<300 {
                group.addTask {
                    let key = number % 10 == 0 ? "zero" : "key \(number)"
                    let queries = ReadQueries(
                        sharing: [SharedQuery(failing, key: [.text(key)])],
                        into: 0,
                        { value, _, row in value = Int(try row.int4(1)) },
                        then: [],
                        into: ()
                    ) { _, _, _ in }
                    let found = try? await pipeline.read(queries)
                    return (number, found?.shared)
                }
            }
            return await group.reduce(into: [Int: Int?]()) { $0[$1.0] = $1.1 }
        }
        for (number, found) in outcomes { #expect(found == (number % 10 == 0 ? nil : 1), "read \(number)") }
        pipeline.shutDown()
    }

    @Test("Connections are warmed up, and a query that fails then does no harm")
    func warmsUpConnections() async throws {
        var options = PostgresPipeline.Options()
        options.connections = 1
        let pipeline = try PostgresPipeline(TestServer.configuration, options: options)
        pipeline.warmUp([PostgresQuery("SELECT 1"), PostgresQuery("SELECT 1 / 0"), PostgresQuery("SELECT 2")])
        let names = try await pipeline.read(
            [PostgresQuery("SELECT statement FROM pg_prepared_statements WHERE statement LIKE 'SELECT 1%'")],
            into: [String]()
        ) { names, _, rows in names = try rows.map { try $0.text(0) } }
        #expect(Set(names) == ["SELECT 1", "SELECT 1 / 0"])
        pipeline.shutDown()
    }

    @Test("Shutting down fails all waiters")
    func shutdownFailsWaiters() async throws {
        let pipeline = try PostgresPipeline(TestServer.configuration)
        pipeline.shutDown()
        await #expect(throws: PostgresError.self) {
            try await pipeline.read([PostgresQuery("SELECT 1")], into: 0) {
                $0 = $2.count; _ = $1
            }
        }
    }
}

@Suite(.timeLimit(.minutes(15))) struct ListenerTests {
    @Test("Notifications arrive, and a lost connection is reported as a gap")
    func connectionLossIsAGap() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        var notices = try PostgresListener(TestServer.configuration, channels: ["Shelf \"a\""]).notices()
            .makeAsyncIterator()
        #expect(await notices.next() == .gap)
        try await connection.perform {
            try $0.execute("SELECT pg_notify($1, $2)", [.text("Shelf \"a\""), .text("hello")])
        }
        #expect(await notices.next() == .notification(channel: "Shelf \"a\"", payload: "hello"))
        try await connection.perform {
            try $0.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE 'LISTEN \"Shelf%'"
            )
        }
        #expect(await notices.next() == .lost)
        #expect(await notices.next() == .gap)
    }
}
