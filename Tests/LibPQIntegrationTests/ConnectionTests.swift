import LibPQ
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
    @Test("Values of every type survive a round trip")
    func valuesRoundTrip() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        try await connection.perform { database in
            let values: [PostgresValue] = [
                .bool(true), .int2(-2), .int4(70_000), .int8(.min), .float8(-.infinity), .text("żółć 🍎 'quote\" \\"),
                .bytea([0, 255, 10]),
                .numeric("123456789012345678901234567890.000000000000000001"), .timestamptz(1_750_000_000_123_456),
                .textArray(["a", "", "b,\"c\"", "żó"]), .int8Array([]), .text(""), .text(nil),
                .jsonb("{\"a\": [1, 2]}"), .byteaArray([[1], []]),
            ]
            try database.query(
                """
                SELECT $1::bool, $2::int2, $3::int4, $4::int8, $5::float8, $6::text, $7::bytea, $8::numeric::text, $9::timestamptz,
                    $10::text[], cardinality($11::int8[])::int8, $12::text, $13::text, $14::jsonb::text, cardinality($15::bytea[])::int8
                """,
                values
            ) { rows in
                try rows.forEach { row in
                    try equal(row.bool(0), true)
                    try equal(row.int2(1), -2)
                    try equal(row.int4(2), 70_000)
                    try equal(row.int8(3), .min)
                    try equal(row.float8(4), -.infinity)
                    try equal(row.text(5), "żółć 🍎 'quote\" \\")
                    try equal(row.bytea(6), [0, 255, 10])
                    try equal(row.text(7), "123456789012345678901234567890.000000000000000001")
                    try equal(row.timestamptz(8), 1_750_000_000_123_456)
                    try equal(row.textArray(9), ["a", "", "b,\"c\"", "żó"])
                    try equal(row.int(10), 0)
                    try equal(row.text(11), "")
                    try equal(row.textOrNil(12), nil)
                    try equal(row.text(13), "{\"a\": [1, 2]}")
                    try equal(row.int(14), 2)
                    equal(try? row.int8(1), nil)
                    equal(try? row.text(12), nil)
                }
            }
        }
    }

    @Test("Settings apply from the first statement on")
    func settingsApplyFromFirstStatement() async throws {
        var configuration = try TestServer.configuration.database("postgres")
        configuration.settings = ["jit": "off", "statement_timeout": "1234ms", "aisle.test": "a b\\\\c"]
        let connection = try await PostgresConnection.connect(configuration)
        let shown = try await connection.perform {
            try $0.query(
                "SELECT current_setting('jit'), current_setting('statement_timeout'), current_setting('aisle.test')"
            ) {
                try $0.first { [try $0.text(0), try $0.text(1), try $0.text(2)] }
            }
        }
        #expect(shown == ["off", "1234ms", "a b\\\\c"])
    }

    @Test("Options of the connection string override the settings")
    func connectionStringOverridesSettings() async throws {
        var configuration = TestServer.configuration
        configuration.dsn += " options='-c synchronous_commit=off -c work_mem=5MB'"
        configuration.settings = ["work_mem": "3MB", "aisle.test": "two words"]
        let connection = try await PostgresConnection.connect(configuration)
        let found = try await connection.perform { database in
            try ["synchronous_commit", "work_mem", "aisle.test"].map { name in
                try database.query("SELECT current_setting($1)", [.text(name)]) { try $0.first { try $0.text(0) } }
            }
        }
        #expect(found == ["off", "5MB", "two words"])
    }

    @Test("A failed statement leaves the connection usable")
    func failedStatementKeepsConnection()
        async throws
    {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.execute("SELECT 1 / $1", [.int4(0)]) }
        }
        #expect(error?.sqlState?.rawValue == "22012")
        #expect(error?.description.contains("division") == false)
        #expect(try await connection.perform { try $0.query("SELECT 1::int8") { try $0.first { try $0.int(0) } } } == 1)
    }

    @Test("A rolled back transaction leaves nothing behind")
    func rollbackLeavesNothing() async throws {
        struct Stop: Error {}
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        try await connection.perform { try $0.run(script: "CREATE TEMP TABLE t (x int)") }
        await #expect(throws: Stop.self) {
            try await connection.perform { database in
                try database.transaction { database in
                    try database.execute("INSERT INTO t VALUES (1)")
                    throw Stop()
                }
            }
        }
        #expect(try await connection.perform { try $0.query("SELECT 1 FROM t") { $0.count } } == 0)
    }

    @Test(
        "A deferred constraint that fails at the end of a single statement is reported",
        arguments: [[:], ["lock_timeout": "9s"]]
    )
    func deferredConstraintsAreReported(_ settings: [String: String]) async throws {
        var configuration = TestServer.configuration
        configuration.settings = settings
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.perform {
            try $0.run(script: "CREATE TEMP TABLE t (x int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
        }
        for _ in 0..<2 {
            let error = await #expect(throws: PostgresError.self) {
                try await connection.perform { try $0.execute("INSERT INTO t VALUES (1), (1)") }
            }
            #expect(error?.sqlState == .uniqueViolation)
        }
        #expect(try await connection.perform { try $0.query("SELECT 1 FROM t") { $0.count } } == 0)
        #expect(await connection.isReusable())
    }

    @Test("COPY as a statement is an error, and the connection is not used again")
    func copyNeedsItsOwnCall() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .seconds(60)) { try $0.execute("COPY (SELECT 1) TO STDOUT") }
        }
        #expect(error?.kind == .misuse)
        #expect(await connection.isReusable() == false)
    }

    @Test("A killed backend is reported as a lost connection")
    func killedBackendIsConnectionLoss() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let killer = try await PostgresConnection.connect(TestServer.configuration)
        let pid = try await connection.perform {
            try $0.query("SELECT pg_backend_pid()") { try $0.first { try $0.int4(0) }! }
        }
        try await killer.perform { try $0.execute("SELECT pg_terminate_backend($1, 5000)", [.int4(pid)]) }
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.execute("SELECT 1") }
        }
        #expect(error?.meansUnavailable == true)
        #expect(await connection.isReusable() == false)
    }

    @Test("Cancelling a task cancels its statement on the server")
    func taskCancellationStopsStatement()
        async throws
    {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let watcher = try await PostgresConnection.connect(TestServer.configuration)
        let pid = try await connection.perform {
            try $0.query("SELECT pg_backend_pid()") { try $0.first { try $0.int4(0) }! }
        }
        let task = Task { try await connection.perform { try $0.execute("SELECT pg_sleep(600)") } }
        try await isWaiting(pid, watcher)
        task.cancel()
        let result = await task.result
        #expect(throws: PostgresError.self) { try result.get() }
        if case .failure(let error as PostgresError) = result { #expect(error.kind == .cancelled) }
        #expect(try await connection.perform { try $0.query("SELECT 2::int8") { try $0.first { try $0.int(0) } } } == 2)
    }

    @Test("Each statement of a batch sees the effects of earlier ones")
    func pipelinedStatementsSeeEarlierEffects() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        try await connection.perform { database in
            try database.run(script: "CREATE TEMP TABLE t (n int8)")
            var seen: [Int] = []
            try database.transaction {
                try $0.executeDeferred("INSERT INTO t VALUES ($1)", [.int8(1)])
                let count: PostgresStatement = "SELECT count(*) FROM t"
                try $0.queryBatch([
                    PostgresQuery(count), PostgresQuery("INSERT INTO t VALUES (2), (3)"), PostgresQuery(count),
                ]) { index, rows in seen.append(index == 1 ? rows.affected : try rows.first { try $0.int(0) }!) }
                try $0.executeDeferred("INSERT INTO t VALUES (4)")
            }
            #expect(seen == [1, 2, 3])
            #expect(try database.query("SELECT count(*) FROM t") { try $0.first { try $0.int(0) } } == 4)
        }
    }

    @Test("A deferred statement that fails also fails its transaction")
    func deferredFailureFailsTransaction()
        async throws
    {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        try await connection.perform { database in
            try database.run(script: "CREATE TEMP TABLE t (n int8 CONSTRAINT t_pkey PRIMARY KEY)")
            let insert: PostgresStatement = "INSERT INTO t VALUES ($1)"
            // The last write is sent with COMMIT.
            let error = #expect(throws: PostgresError.self) {
                try database.transaction {
                    try $0.execute(insert, [.int8(1)])
                    try $0.executeDeferred(insert, [.int8(1)])
                }
            }
            #expect(error?.constraint == "t_pkey")
            #expect(error?.commitIsUncertain == false)
            // After an earlier failure, later statements do not run.
            #expect(throws: PostgresError.self) {
                try database.transaction {
                    try $0.executeDeferred("SELECT 1 / 0")
                    try $0.queryBatch([PostgresQuery(insert, [.int8(2)]), PostgresQuery(insert, [.int8(3)])]) { _, _ in
                        Issue.record("a statement ran after a failure")
                    }
                }
            }
            // A decoding failure rolls the batch back.
            #expect(throws: PostgresError.self) {
                try database.transaction {
                    try $0.executeDeferred(insert, [.int8(4)])
                    _ = try $0.query("SELECT 1::int2") { try $0.first { try $0.int8(0) } }
                }
            }
            struct Refused: Error {}
            #expect(throws: Refused.self) { try database.transaction { _ in throw Refused() } }
            #expect(try database.query("SELECT count(*) FROM t") { try $0.first { try $0.int(0) } } == 0)
        }
        #expect(await connection.isReusable())
    }

    @Test("A statement is prepared again if an earlier statement failed before its preparation")
    func skippedPreparationIsRepeated() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let statement: PostgresStatement = "SELECT 2::int8"
        try await connection.perform { database in
            #expect(throws: PostgresError.self) {
                try database.transaction {
                    try $0.executeDeferred("SELECT 1 / 0")
                    try $0.execute(statement)
                }
            }
            let last = try database.query(statement) { try $0.first { try $0.int(0) } }
            #expect(last == 2)
        }
    }

    @Test("Cancelling a task cancels a pipeline of statements")
    func taskCancellationStopsPipeline()
        async throws
    {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let watcher = try await PostgresConnection.connect(TestServer.configuration)
        let pid = try await connection.perform {
            try $0.query("SELECT pg_backend_pid()") { try $0.first { try $0.int4(0) }! }
        }
        let task = Task {
            try await connection.perform { database in
                try database.transaction { _ = try $0.execute("SELECT pg_sleep(600)") }
            }
        }
        try await isWaiting(pid, watcher)
        task.cancel()
        let result = await task.result
        if case .failure(let error as PostgresError) = result { #expect(error.kind == .cancelled) }
        #expect(throws: PostgresError.self) { try result.get() }
        #expect(await connection.isReusable())
        #expect(try await connection.perform { try $0.query("SELECT 2::int8") { try $0.first { try $0.int(0) } } } == 2)
    }

    @Test("A backend killed during a pipeline is reported as a lost connection")
    func killedBackendDuringPipeline() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform { database in
                try database.transaction {
                    try $0.executeDeferred("SELECT pg_terminate_backend(pg_backend_pid())")
                    try $0.executeDeferred("SELECT 1")
                }
            }
        }
        #expect(error?.meansUnavailable == true)
        #expect(await !connection.isReusable())
    }

    @Test("A deadline cancels its statement on the server")
    func deadlineCancelsStatement() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .milliseconds(50)) { try $0.execute("SELECT pg_sleep(600)") }
        }
        #expect(error?.kind == .deadline)
        #expect(try await connection.perform { try $0.query("SELECT 2::int8") { try $0.first { try $0.int(0) } } } == 2)
    }

    @Test("COPY transfers large data in both directions")
    func copyTransfersLargeData() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        let rows = 200_000
        let (sent, received, sum) = try await connection.perform { database in
            try database.run(script: "CREATE TEMP TABLE numbers (x int8)")
            var next = 0
            let sent = try database.copyIn("COPY numbers FROM STDIN") {
                let end = min(rows, next + 10_000)
                defer { next = end }
                return Array((next..<end).map { "\($0)\n" }.joined().utf8)
            }
            try database.beginCopyOut("COPY numbers TO STDOUT")
            var received = 0
            while let piece = try database.nextCopy() { received += piece.count { $0 == 10 } }
            let sum = try database.query("SELECT sum(x)::int8 FROM numbers") { try $0.first { try $0.int(0) }! }
            return (sent, received, sum)
        }
        #expect(sent == rows)
        #expect(received == rows)
        #expect(sum == rows * (rows - 1) / 2)
    }

    @Test("A failed COPY leaves the connection usable")
    func failedCopyKeepsConnection() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        try await connection.perform { try $0.run(script: "CREATE TEMP TABLE numbers (x int8)") }
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform { database in
                var pieces = [Array("1\nnot a number\n".utf8), []]
                _ = try database.copyIn("COPY numbers FROM STDIN") { pieces.removeFirst() }
            }
        }
        #expect(error?.sqlState?.rawValue == "22P02")
        #expect(
            try await connection.perform {
                try $0.query("SELECT count(*) FROM numbers") { try $0.first { try $0.int(0) } }
            } == 0
        )
    }

    /// Compares two values. `#expect` cannot capture a row, which is not copyable.
    private func equal<T: Equatable>(_ a: T, _ b: T) { #expect(a == b) }

    /// Waits until a backend runs `pg_sleep`.
    private func isWaiting(_ pid: Int32, _ watcher: PostgresConnection) async throws {
        let sleeping: PostgresStatement =
            "SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'"
        let isAsleep = try await eventually {
            try await watcher.perform { try $0.query(sleeping, [.int4(pid)]) { $0.count } } > 0
        }
        try #require(isAsleep)
    }
}
