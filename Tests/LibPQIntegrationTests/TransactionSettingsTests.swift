import Glibc
import TestSupport
import Testing

@testable import LibPQ

/// Settings that apply to a transaction, regardless of earlier users of the server connection.
@Suite(.timeLimit(.minutes(5))) struct TransactionSettingsTests {
    private static let shown: PostgresStatement = """
        SELECT current_setting('work_mem'), current_setting('lock_timeout'), current_setting('statement_timeout')
        """

    private static func settings(_ database: isolated PostgresConnection) throws -> [String] {
        try database.query(shown) { try $0.first { [try $0.text(0), try $0.text(1), try $0.text(2)] } ?? [] }
    }

    private static func configuration() -> PostgresConfiguration {
        var configuration = TestServer.configuration
        configuration.settings = ["work_mem": "3MB", "lock_timeout": "3s", "statement_timeout": "5s"]
        return configuration
    }

    @Test("Settings apply to transactions and single statements, and the session keeps its own")
    func settingsEndWithTransaction() async throws {
        let connection = try await PostgresConnection.connect(Self.configuration())
        let (single, inside, after) = try await connection.perform { database in
            let single = try Self.settings(database)
            let inside = try database.transaction { try Self.settings($0) }
            // A simple query has no settings, so it shows those of the session.
            try database.run(script: "CREATE TEMP TABLE seen AS SELECT current_setting('work_mem') AS work_mem")
            let after = try database.query("SELECT work_mem FROM seen") { try $0.first { try $0.text(0) } }
            return (single, inside, after)
        }
        #expect(single == ["3MB", "3s", "5s"])
        #expect(inside == single)
        #expect(after == "4MB")
    }

    @Test(
        "Settings of an extension replace others where it is loaded",
        arguments: [("block_size", ["9MB", "7s"]), ("citus_is_not_loaded.x", ["3MB", "3s"])]
    )
    func settingsOfAnExtension(marker: String, expected: [String]) async throws {
        var configuration = Self.configuration()
        configuration.extensionSettings = ExtensionSettings(
            marker: marker,
            settings: ["work_mem": "9MB", "lock_timeout": "7s", "temp_buffers": "16MB"]
        )
        let connection = try await PostgresConnection.connect(configuration)
        let statement: PostgresStatement = "SELECT current_setting('temp_buffers')"
        let (seen, buffers) = try await connection.perform { database in
            (
                Array(try Self.settings(database).prefix(2)),
                try database.query(statement) { try $0.first { try $0.text(0) } }
            )
        }
        #expect(seen == expected)
        #expect(buffers == (expected[0] == "9MB" ? "16MB" : "8MB"))
        await connection.close()
    }

    @Test("The server ends a statement at the deadline of its transaction")
    func serverEnforcesDeadline() async throws {
        let connection = try await PostgresConnection.connect(Self.configuration())
        let shown = try await connection.perform(within: .seconds(90)) { try Self.settings($0) }
        let milliseconds = Int(shown[2].hasSuffix("ms") ? String(shown[2].dropLast(2)) : "") ?? 90_000
        #expect((80_000...90_000).contains(milliseconds), "\(shown)")
    }

    @Test("A setting can differ for the rest of a transaction, and return to the configured value")
    func settingCanChangeWithinTransaction() async throws {
        let connection = try await PostgresConnection.connect(Self.configuration())
        let seen = try await connection.perform { database in
            try database.transaction { database in
                try database.set("lock_timeout", "20ms")
                let changed = try Self.settings(database)[1]
                try database.set("lock_timeout", nil)
                return [changed, try Self.settings(database)[1]]
            }
        }
        #expect(seen == ["20ms", "3s"])
    }

    @Test("The settings apply while a statement is prepared, because parsing waits for locks, too")
    func preparingObeysTheLockTimeout() async throws {
        var configuration = Self.configuration()
        let owner = try await PostgresConnection.connect(configuration)
        let table = "prepared_\(getpid())"
        try await owner.perform {
            try $0.run(script: "CREATE TABLE \(table) (id integer)")
            try $0.run(script: "BEGIN; LOCK TABLE \(table)")
        }
        configuration.settings["lock_timeout"] = "50ms"
        let reader = try await PostgresConnection.connect(configuration)
        let pipeline = try PostgresPipeline(configuration)
        let read: PostgresStatement = "SELECT count(*) FROM \(identifier: table)"
        let single = await #expect(throws: PostgresError.self) {
            try await reader.perform(within: .seconds(60)) { try $0.execute(read) }
        }
        #expect(single?.sqlState == .lockNotAvailable)
        let inside = await #expect(throws: PostgresError.self) {
            try await reader.perform(within: .seconds(60)) { _ = try $0.transaction { try $0.execute(read) } }
        }
        #expect(inside?.sqlState == .lockNotAvailable)
        let piped = await #expect(throws: PostgresError.self) {
            try await pipeline.read([PostgresQuery(read)], into: 0) { _, _, _ in }
        }
        #expect(piped?.sqlState == .lockNotAvailable)
        try await owner.perform { try $0.run(script: "ROLLBACK; DROP TABLE \(table)") }
        pipeline.shutDown()
    }

    @Test("A pipeline has its settings, and through a pooler no other client gets them")
    func pipelineKeepsSettingsToItself() async throws {
        let configuration = TestPooler.pooled(Self.configuration())
        let pipeline = try PostgresPipeline(configuration)
        var plain = configuration
        plain.settings = [:]
        let other = try await PostgresConnection.connect(plain)
        for _ in 0..<20 {
            let piped = try await pipeline.read([PostgresQuery(Self.shown)], into: [String]()) { value, _, rows in
                value = try rows.first { [try $0.text(0), try $0.text(1)] } ?? []
            }
            #expect(piped == ["3MB", "3s"])
            #expect(try await other.perform { try Self.settings($0) } == ["4MB", "0", "0"])
        }
        pipeline.shutDown()
    }

    @Test("A session gets the settings only if its server process is the expected one")
    func sessionIsRecognized() async throws {
        let configuration = Self.configuration()
        var plain = configuration
        plain.settings = [:]
        let connection = try await PostgresConnection.connect(plain)
        let process = try await connection.perform {
            try $0.query("SELECT pg_backend_pid()") { try $0.first { try $0.int4(0) }! }
        }
        for (id, expected) in [(process + 1, ["4MB", "0", "0"]), (process, ["3MB", "3s", "5s"])] {
            let script = try #require(configuration.transactionSettings.session(ofProcess: id))
            #expect(
                try await connection.perform {
                    try $0.run(script: script); return try Self.settings($0)
                } == expected
            )
        }
    }

    @Test("An idle transaction is ended and frees its locks")
    func idleTransactionIsEnded() async throws {
        var configuration = Self.configuration()
        configuration.settings["idle_in_transaction_session_timeout"] = "500ms"
        configuration.settings["lock_timeout"] = "60s"
        let (abandoned, next) = (
            try await PostgresConnection.connect(configuration), try await PostgresConnection.connect(configuration)
        )
        let lock: PostgresStatement = "SELECT pg_advisory_xact_lock(77001)"
        // Between two blocks, the client counts as idle.
        try await abandoned.perform { database in
            try database.begin()
            try database.execute(lock)
        }
        try await next.perform(within: .seconds(60)) { database in
            _ = try database.transaction { try $0.execute(lock) }
        }
        let error = await #expect(throws: PostgresError.self) {
            try await abandoned.perform { try $0.execute("SELECT 1") }
        }
        #expect(error?.meansUnavailable == true)
        #expect(await abandoned.isReusable() == false)
    }

    @Test(
        "Options of the connection string are recognized in every spelling",
        arguments: [
            ("-c work_mem=5MB", ["work_mem"]), ("-cwork_mem=5MB -c jit=off", ["work_mem", "jit"]),
            ("--lock-timeout=1s", ["lock_timeout"]), ("-c", []), ("", []), ("plain words", []),
        ] as [(String, Set<String>)]
    )
    func optionNames(_ options: String, _ names: Set<String>) {
        #expect(PostgresConfiguration.settingNames(options) == names)
    }

    @Test("More statements than names work, and the connection is retired afterwards")
    func statementsBeyondTheCacheWork() async throws {
        let connection = try await PostgresConnection.connect(Self.configuration())
        let wrong = try await connection.perform { database in
            try (0..<2400).filter { round in
                let statement: PostgresStatement = "SELECT \(round)::int8 + $1"
                return try database.query(statement, [.int8(1)]) { try $0.first { try $0.int(0) } } != round + 1
            }
        }
        #expect(wrong == [])
        #expect(await connection.isReusable() == false)
    }

    @Test("Unnamed statements work singly, in batches, in transactions and in the pipeline")
    func unnamedStatementsWork() async throws {
        var configuration = Self.configuration()
        configuration.statements = .unnamed
        let connection = try await PostgresConnection.connect(configuration)
        let sums = try await connection.perform { database in
            let statement: PostgresStatement = "SELECT $1::int8 + 1"
            var sums = try database.query(statement, [.int8(1)]) { try $0.map { try $0.int(0) } }
            sums += try database.transaction { database in
                var found: [Int] = []
                try database.executeDeferred(statement, [.int8(0)])
                try database.queryBatch([PostgresQuery(statement, [.int8(2)]), PostgresQuery(statement, [.int8(3)])]) {
                    found += try $1.map { try $0.int(0) }
                }
                return found
            }
            let names = try database.query("SELECT count(*) FROM pg_prepared_statements") {
                try $0.first { try $0.int(0) } ?? -1
            }
            return sums + [names]
        }
        #expect(sums == [2, 3, 4, 0])
        let pipeline = try PostgresPipeline(configuration)
        let query = PostgresQuery("SELECT $1::int8, current_setting('work_mem')", [.int8(7)])
        let read = try await pipeline.read([query, query], into: [String]()) { texts, _, rows in
            texts += try rows.map { "\(try $0.int(0)) \(try $0.text(1))" }
        }
        #expect(read == ["7 3MB", "7 3MB"])
        pipeline.shutDown()
    }
}
