import LibPQ
import Synchronization
import Testing
import TestSupport

/// The waits for leases that a pool reported.
private final class Waits: Sendable {
    private let waits = Mutex<[Duration]>([])
    var all: [Duration] { waits.withLock { $0 } }
    func add(_ wait: Duration) { waits.withLock { $0.append(wait) } }
}

/// Counts from 1.
private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

/// Connections and pools at their limits: deferred statements, uncertain commits, misuse, COPY and the ends of leases.
@Suite(.timeLimit(.minutes(15))) struct ConnectionLimitTests {
    private static let count: PostgresStatement = "SELECT count(*) FROM t"
    private static let insert: PostgresStatement = "INSERT INTO t VALUES (1)"

    /// Returns a connection with an empty temporary table.
    private static func connection(
        _ configuration: PostgresConfiguration = TestServer.configuration
    ) async throws -> PostgresConnection {
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.perform { try $0.run(script: "CREATE TEMP TABLE t (n int8)") }
        return connection
    }

    private static func rows(_ connection: PostgresConnection) async throws -> Int? {
        try await connection.perform { try $0.query(count) { try $0.first { try $0.int(0) } } }
    }

    // MARK: - Transactions

    @Test("Deferred statements are sent when 64 of them wait")
    func deferredLimit() async throws {
        let connection = try await Self.connection()
        try await connection.perform { database in
            try database.begin()
            try database.executeDeferred("SELECT 1 / 0")
            // BEGIN is one of the statements that wait.
            for _ in 0..<62 { try database.executeDeferred("SELECT 1") }
            let error = #expect(throws: PostgresError.self) { try database.executeDeferred("SELECT 1") }
            #expect(error?.sqlState?.rawValue == "22012")
            database.rollback()
        }
        #expect(await connection.isReusable())
        #expect(try await Self.rows(connection) == 0)
    }

    @Test("Statements that were deferred before a rollback do not run")
    func rollbackDropsDeferredStatements() async throws {
        let connection = try await Self.connection()
        let value = try await connection.perform { database in
            try database.transaction(deciding: { (database) -> TransactionEnd<Int> in
                try database.executeDeferred(Self.insert)
                return .rollback(7)
            })
        }
        #expect(value == 7)
        #expect(try await Self.rows(connection) == 0)
        let kept = try await connection.perform { database in
            try database.transaction(deciding: { (database) -> TransactionEnd<Int> in
                try database.executeDeferred(Self.insert)
                return .commit(8)
            })
        }
        #expect(kept == 8)
        #expect(try await Self.rows(connection) == 1)
        struct Refused: Error {}
        await #expect(throws: Refused.self) {
            try await connection.perform { database in
                try database.transaction(deciding: { (database) -> TransactionEnd<Int> in
                    try database.execute(Self.insert)
                    throw Refused()
                })
            }
        }
        #expect(try await Self.rows(connection) == 1)
        #expect(await connection.isReusable())
    }

    @Test("A commit whose response did not arrive in time is uncertain, and its connection is not used again")
    func uncertainCommits() async throws {
        let connection = try await Self.connection()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .milliseconds(200)) { database in
                try database.transaction { try $0.executeDeferred("SELECT pg_sleep(600)") }
            }
        }
        #expect(error?.kind == .deadline)
        #expect(error?.commitIsUncertain == true)
        #expect(await connection.isReusable() == false)
    }

    @Test("An error before the commit is certain")
    func certainErrors() async throws {
        let connection = try await Self.connection()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .milliseconds(200)) { database in
                try database.transaction { _ = try $0.execute("SELECT pg_sleep(600)") }
            }
        }
        #expect(error?.kind == .deadline)
        #expect(error?.commitIsUncertain == false)
        #expect(await connection.isReusable())
    }

    private static let shownModes: PostgresStatement =
        "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')"

    private static func modes(_ database: isolated PostgresConnection) throws -> [String] {
        try database.query(shownModes) { try $0.first { [try $0.text(0), try $0.text(1)] } ?? [] }
    }

    @Test("A transaction is READ COMMITTED unless it has a mode, whatever the server's default is")
    func isolation() async throws {
        let connection = try await Self.connection()
        let found = try await connection.perform { database in
            try database.run(script: "SET default_transaction_isolation = 'serializable'")
            let usual = try database.transaction { try Self.modes($0) }
            let mode = try database.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY") { try Self.modes($0) }
            let decided = try database.transaction(deciding: { (database) -> TransactionEnd<[String]> in
                .commit(try Self.modes(database))
            })
            return [usual, mode, decided]
        }
        #expect(found == [["read committed", "off"], ["repeatable read", "on"], ["read committed", "off"]])
    }

    @Test("A connection inside a transaction is not reusable, and is again after the rollback")
    func openTransactions() async throws {
        let connection = try await Self.connection()
        try await connection.perform { database in
            try database.begin()
            try database.execute(Self.insert)
        }
        #expect(await connection.isReusable() == false)
        try await connection.perform { $0.rollback() }
        #expect(await connection.isReusable())
        #expect(!connection.hasUnexpectedInput)
        #expect(try await Self.rows(connection) == 0)
    }

    @Test("A connection that finds the server read-only is not reusable, because another host may be the primary now")
    func readOnlyServers() async throws {
        let connection = try await Self.connection()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform { database in
                try database.transaction("READ ONLY") { _ = try $0.execute("CREATE TABLE must_not_exist (n int)") }
            }
        }
        #expect(error?.sqlState == .readOnlyTransaction)
        #expect(await connection.isReusable() == false)
    }

    // MARK: - Errors

    @Test("The error of a statement has its code, constraint and first line, and not the detail, which quotes rows")
    func errorsQuoteNoRows() async throws {
        let connection = try await Self.connection()
        let error = await #expect(throws: PostgresError.self) {
            try await connection.perform { database in
                try database.run(script: "CREATE UNIQUE INDEX t_unique ON t (n)")
                try database.execute("INSERT INTO t VALUES (778899), (778899)")
            }
        }
        #expect(error?.kind == .server && error?.sqlState == .uniqueViolation && error?.constraint == "t_unique")
        #expect(error?.message == #"duplicate key value violates unique constraint "t_unique""#)
    }

    @Test("A block whose deadline has passed sends nothing, and a closed connection is a lost one")
    func passedDeadlines() async throws {
        let connection = try await Self.connection()
        let late = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .zero) { try $0.execute(Self.insert) }
        }
        #expect(late?.kind == .deadline)
        let script = await #expect(throws: PostgresError.self) {
            try await connection.perform(within: .zero) { try $0.run(script: "INSERT INTO t VALUES (2)") }
        }
        #expect(script?.kind == .deadline)
        #expect(try await Self.rows(connection) == 0)
        await connection.close()
        let closed = await #expect(throws: PostgresError.self) { try await Self.rows(connection) }
        #expect(closed?.kind == .connection)
        #expect(await connection.isReusable() == false)
    }

    @Test("Misuse is refused: NUL in a script, a result of the wrong kind, and a COPY that is not one")
    func misuse() async throws {
        let connection = try await Self.connection()
        let nul = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.run(script: "SELECT 1\0") }
        }
        #expect(nul?.kind == .misuse)
        let copy = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.beginCopyIn("SELECT 1") }
        }
        #expect(copy?.kind == .misuse)
        let direction = await #expect(throws: PostgresError.self) {
            try await connection.perform { try $0.beginCopyOut("SELECT 1") }
        }
        #expect(direction?.kind == .misuse)
        #expect(try await Self.rows(connection) == 0)
        #expect(await connection.isReusable())
    }

    @Test("A script returns the rows that its last statement affected")
    func scripts() async throws {
        let connection = try await Self.connection()
        let affected = try await connection.perform { database in
            [
                try database.execute(script: "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2), (3)"),
                try database.execute(script: "DELETE FROM t WHERE n = 1"),
                try database.execute(script: "DELETE FROM t WHERE n = 1"),
                try database.execute("UPDATE t SET n = n + 1"),
            ]
        }
        #expect(affected == [2, 1, 0, 2])
    }

    // MARK: - Rows

    @Test("Each getter reads NULL or its own type, and refuses other types")
    func getters() async throws {
        let connection = try await Self.connection()
        try await connection.perform { database in
            try database.query(
                """
                SELECT 1::int2, 2::int4, 3::int8, 'x'::text, '\\x07'::bytea, NULL::int2, NULL::int4, NULL::int8, NULL::text, NULL::bytea,
                    'infinity'::timestamptz, '{}'::text[], ARRAY[NULL]::text[], ARRAY[['a', 'b']], NULL::text[], '1970-01-02 00:00+00'::timestamptz
                """
            ) { rows in
                try rows.forEach { row in
                    try equal(row.int2OrNil(0), 1)
                    try equal(row.int4OrNil(1), 2)
                    try equal(row.int8OrNil(2), 3)
                    try equal(row.textOrNil(3), "x")
                    try equal(row.byteaOrNil(4), [7])
                    try equal(row.int2OrNil(5), nil)
                    try equal(row.int4OrNil(6), nil)
                    try equal(row.int8OrNil(7), nil)
                    try equal(row.textOrNil(8), nil)
                    try equal(row.byteaOrNil(9), nil)
                    equal(row.isNull(9), true)
                    equal(row.isNull(4), false)
                    try equal(row.textArray(11), [])
                    equal(try? row.int4(0), nil)
                    equal(try? row.int8(1), nil)
                    equal(try? row.int2(2), nil)
                    equal(try? row.bool(0), nil)
                    equal(try? row.int8(7), nil)
                    equal(try? row.bytea(9), nil)
                    // There is no finite number of microseconds.
                    equal(try? row.timestamptz(10), nil)
                    equal(try? row.textArray(12), nil)
                    equal(try? row.textArray(13), nil)
                    equal(try? row.textArray(14), nil)
                    equal(try? row.textArray(3), nil)
                    try equal(row.timestamptz(15), 86_400_000_000)
                    let found = row.bytes(3).map { Array($0) }
                    equal(found, [0x78])
                    equal(row.bytes(8) == nil, true)
                }
            }
            let empty = try database.query("SELECT 1 WHERE false") { rows in
                (rows.count, try rows.first { try $0.int4(0) }, try rows.map { try $0.int4(0) })
            }
            equal(empty.0, 0)
            equal(empty.1, nil)
            equal(empty.2, [])
            let several = try database.query("SELECT g FROM generate_series(3, 5) AS g") { rows in
                (rows.count, try rows.first { try $0.int4(0) }, try rows.map { try $0.int4(0) })
            }
            equal(several.0, 3)
            equal(several.1, 3)
            equal(several.2, [3, 4, 5])
        }
    }

    @Test("Dates, lists of truth values and NULLs in lists arrive as they are")
    func parameters() async throws {
        let connection = try await Self.connection()
        let found = try await connection.perform { database in
            try database.query(
                "SELECT $1::date::text, $2::bool[]::text, $3::int8[]::text, $4::bytea[]::text, $5::date::text, $6::timestamptz::text",
                [
                    .date(59), .boolArray([true, false]), .int8Array([1, nil, -1]), .byteaArray([[255], nil]),
                    .date(nil), .timestamptz(.min),
                ]
            ) { rows in
                try rows.first { row in try (0..<6).map { try row.textOrNil($0) } }
            }
        }
        #expect(found == ["1970-03-01", "{t,f}", "{1,NULL,-1}", #"{"\\xff",NULL}"#, nil, "-infinity"])
    }

    /// Compares two values. `#expect` cannot capture a row, which is not copyable.
    private func equal<T: Equatable>(_ a: T, _ b: T) { #expect(a == b) }

    // MARK: - COPY

    @Test("A chunk of COPY data may be larger than the pieces that are sent")
    func largeChunks() async throws {
        let connection = try await Self.connection()
        let chunk = (0..<50_000).map { "\($0)\n" }.joined()
        #expect(chunk.utf8.count > 4 * PostgresConnection.copyChunkSize)
        let (rows, sum) = try await connection.perform { database in
            var chunks = [Array(chunk.utf8), []]
            let rows = try database.copyIn("COPY t FROM STDIN") { chunks.removeFirst() }
            return (rows, try database.query("SELECT sum(n)::int8 FROM t") { try $0.first { try $0.int(0) } })
        }
        #expect(rows == 50_000)
        #expect(sum == 49_999 * 25_000)
    }

    @Test("A COPY whose source fails stores nothing, and the connection stays usable")
    func failingSources() async throws {
        struct Refused: Error {}
        let connection = try await Self.connection()
        await #expect(throws: Refused.self) {
            try await connection.perform { database in
                var isFirst = true
                _ = try database.copyIn("COPY t FROM STDIN") {
                    guard isFirst else { throw Refused() }
                    isFirst = false
                    return Array("1\n2\n".utf8)
                }
            }
        }
        #expect(try await Self.rows(connection) == 0)
        #expect(await connection.isReusable())
    }

    /// Returns the chunks of a COPY.
    private static func chunks(_ database: isolated PostgresConnection) throws -> [[UInt8]] {
        try database.beginCopyOut("COPY t TO STDOUT")
        var chunks: [[UInt8]] = []
        while let chunk = try database.nextCopy() { chunks.append(chunk) }
        return chunks
    }

    @Test("An empty COPY has no chunk, and chunks of a large one are complete rows")
    func copyOut() async throws {
        let connection = try await Self.connection()
        let (empty, copies) = try await connection.perform { database in
            let empty = try Self.chunks(database)
            try database.execute("INSERT INTO t SELECT g FROM generate_series(1, 30000) AS g")
            // The end of one COPY must not be taken for that of the next one.
            return (empty, [try Self.chunks(database), try Self.chunks(database)])
        }
        #expect(empty.isEmpty)
        let expected = Array((1...30_000).map { "\($0)\n" }.joined().utf8)
        for chunks in copies {
            #expect(chunks.allSatisfy { $0.last == 10 })
            #expect(Array(chunks.joined()) == expected)
        }
        #expect(await connection.isReusable())
    }

    // MARK: - Pools

    @Test("Each lease reports its wait, and the counts of a pool are those of its connections and callers")
    func leases() async throws {
        let waits = Waits()
        let pool = PostgresPool(
            TestServer.configuration,
            options: .init(size: 2, leaseTimeout: .seconds(60)) { waits.add($0) }
        )
        #expect(pool.size == 2)
        #expect((pool.counts.total, pool.counts.leased, pool.counts.waiting) == (0, 0, 0))
        try await pool.withConnection { _ in
            #expect((pool.counts.total, pool.counts.leased, pool.counts.waiting) == (1, 1, 0))
            try await pool.perform { _ = try $0.execute("SELECT 1") }
        }
        // A released connection is used again.
        try await pool.perform { _ = try $0.execute("SELECT 1") }
        #expect((pool.counts.total, pool.counts.leased, pool.counts.waiting) == (2, 0, 0))
        let reported = waits.all
        #expect(reported.count == 3)
        #expect(reported.allSatisfy { $0 > .zero && $0 < .seconds(60) })
        pool.shutDown()
        let error = await #expect(throws: PostgresError.self) { try await pool.perform { try $0.execute("SELECT 1") } }
        #expect(error?.kind == .exhausted)
        #expect(error?.message == "the pool was shut down")
        #expect(pool.counts.total == 0)
    }

    @Test("A caller beyond the queue's limit fails at once")
    func fullQueues() async throws {
        let pool = PostgresPool(
            TestServer.configuration,
            options: .init(size: 1, leaseTimeout: .seconds(600), maximumWaiting: 0)
        )
        let error = await #expect(throws: PostgresError.self) { try await pool.perform { try $0.execute("SELECT 1") } }
        #expect(error?.kind == .exhausted)
        #expect(error?.message == "too many callers are waiting for a connection")
        pool.shutDown()
    }

    @Test("A cancelled task gets the error of a cancellation instead of a connection")
    func cancelledWaiters() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1, leaseTimeout: .seconds(600)))
        try await pool.withConnection { _ in
            let waiter = Task { try await pool.perform { try $0.execute("SELECT 1") } }
            let deadline = ContinuousClock.now + .seconds(30)
            while pool.counts.waiting == 0, ContinuousClock.now < deadline { await Task.yield() }
            waiter.cancel()
            guard case .failure(let error) = await waiter.result else {
                Issue.record("the lease succeeded")
                return
            }
            #expect((error as? PostgresError)?.kind == .cancelled)
        }
        #expect(pool.counts.leased == 0)
        pool.shutDown()
    }

    @Test("A transaction is retried after a conflict as often as it may, and not after other errors")
    func retriedTransactions() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1))
        /// Returns the number of times that a transaction ran.
        func runs(_ kind: PostgresError.Kind, attempts: Int? = nil, succeedingAt success: Int = .max) async -> Int {
            let counter = Counter()
            do {
                if let attempts {
                    try await pool.transaction(attempts: attempts) { _ in
                        if counter.next() < success { throw PostgresError(kind, "again") }
                    }
                } else {
                    try await pool.transaction(deciding: { (_) -> TransactionEnd<Void> in
                        if counter.next() < success { throw PostgresError(kind, "again") }
                        return .commit(())
                    })
                }
            } catch {}
            return counter.next() - 1
        }
        let counts = [
            await runs(.conflict), await runs(.conflict, attempts: 2), await runs(.conflict, attempts: 1),
            await runs(.misuse), await runs(.misuse, attempts: 3), await runs(.conflict, succeedingAt: 3),
            await runs(.conflict, attempts: 9, succeedingAt: 2),
        ]
        #expect(counts == [10, 2, 1, 1, 1, 3, 2])
        pool.shutDown()
    }
}
