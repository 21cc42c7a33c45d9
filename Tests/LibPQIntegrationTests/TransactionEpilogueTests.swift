import Synchronization
import TestSupport
import Testing

@testable import LibPQ

/// Queries that follow the end of each transaction.
@Suite(.timeLimit(.minutes(5))) struct TransactionEpilogueTests {
    /// The numbers of rows that epilogues have seen.
    private final class Log: Sendable {
        private let counts = Mutex<[Int]>([])
        private let failures = Mutex(0)
        var all: [Int] { counts.withLock { $0 } }
        /// The number of epilogues that failed.
        var failureCount: Int { failures.withLock { $0 } }

        func epilogue(_ statement: PostgresStatement = "SELECT count(*) FROM epilogue_item") -> TransactionEpilogue {
            TransactionEpilogue(statement, failed: { self.failures.withLock { $0 += 1 } }) { rows in
                let count = try rows.first { try $0.int(0) } ?? -1
                self.counts.withLock { $0.append(count) }
            }
        }
    }

    private static let insert: PostgresStatement = "INSERT INTO epilogue_item DEFAULT VALUES"

    private static func withTable(
        _ settings: [String: String],
        _ statements: PreparedStatements = .named,
        _ body: (PostgresConnection, Log) async throws -> Void
    ) async throws {
        var configuration = TestServer.configuration
        configuration.settings = settings
        configuration.statements = statements
        let connection = try await PostgresConnection.connect(configuration)
        try await connection.perform {
            try $0.run(script: "CREATE TEMP TABLE epilogue_item (id bigint GENERATED ALWAYS AS IDENTITY)")
        }
        try await body(connection, Log())
        await connection.close()
    }

    @Test(
        "The epilogue sees each commit, with named and unnamed statements, with and without settings",
        arguments: [["statement_timeout": "300s"], [:]],
        [PreparedStatements.named, .unnamed]
    )
    func followsCommits(settings: [String: String], statements: PreparedStatements) async throws {
        try await Self.withTable(settings, statements) { connection, log in
            for round in 0..<3 {
                try await connection.perform(until: nil, epilogue: log.epilogue()) { database in
                    try database.transaction { _ = try $0.execute(Self.insert) }
                    try database.execute(Self.insert)
                    try database.transaction { (database) in
                        try database.executeDeferred(Self.insert)
                        try database.executeDeferred(Self.insert)
                    }
                }
                #expect(Array(log.all.suffix(3)) == [1, 2, 4].map { $0 + 4 * round })
            }
            #expect(log.all.count == 9)
        }
    }

    @Test("Nothing follows the transactions of other blocks")
    func endsWithItsBlock() async throws {
        try await Self.withTable([:]) { connection, log in
            try await connection.perform(until: nil, epilogue: log.epilogue()) { try $0.execute(Self.insert) }
            try await connection.perform { database in
                try database.execute(Self.insert)
                try database.transaction { _ = try $0.execute(Self.insert) }
            }
            #expect(log.all == [1])
        }
    }

    @Test(
        "A transaction that the block rolls back is followed, and one that fails is not",
        arguments: [PreparedStatements.named, .unnamed]
    )
    func followsRollbacks(statements: PreparedStatements) async throws {
        try await Self.withTable(["statement_timeout": "300s"], statements) { connection, log in
            try await connection.perform(until: nil, epilogue: log.epilogue()) { database in
                try database.transaction { (database) -> TransactionEnd<Void> in
                    try database.execute(Self.insert)
                    return .rollback(())
                }
                do {
                    try database.transaction { _ = try $0.execute("SELECT 1 / 0") }
                } catch let error as PostgresError { #expect(error.sqlState?.rawValue == "22012") }
                do { try database.execute("SELECT 1 / 0") } catch let error as PostgresError {
                    #expect(error.sqlState?.rawValue == "22012")
                }
                do {
                    try database.transaction { database in
                        try database.executeDeferred("SELECT 1 / 0")
                        try database.executeDeferred(Self.insert)
                    }
                } catch let error as PostgresError { #expect(error.sqlState?.rawValue == "22012") }
                try database.execute(Self.insert)
            }
            #expect(log.all == [0, 1])
            #expect(log.failureCount == 0)
        }
    }

    @Test(
        "A commit that fails is reported, and the connection stays usable",
        arguments: [PreparedStatements.named, .unnamed]
    )
    func reportsFailedCommits(statements: PreparedStatements) async throws {
        try await Self.withTable(["statement_timeout": "300s"], statements) { connection, log in
            try await connection.perform {
                try $0.run(
                    script:
                        "ALTER TABLE epilogue_item ADD CONSTRAINT item_key UNIQUE (id) DEFERRABLE INITIALLY DEFERRED"
                )
            }
            try await connection.perform(until: nil, epilogue: log.epilogue()) { database in
                do {
                    try database.transaction { database in
                        _ = try database.execute("INSERT INTO epilogue_item OVERRIDING SYSTEM VALUE VALUES (7), (7)")
                    }
                    Issue.record("the commit succeeded")
                } catch let error as PostgresError {
                    #expect(error.sqlState == .uniqueViolation)
                    #expect(!error.commitIsUncertain)
                }
                try database.transaction { _ = try $0.execute(Self.insert) }
            }
            #expect(log.all == [1])
            #expect(log.failureCount == 0)
            #expect(await connection.isReusable())
        }
    }

    @Test(
        "An epilogue that fails is reported, and changes nothing about the transaction",
        arguments: [PreparedStatements.named, .unnamed]
    )
    func ignoresFailures(statements: PreparedStatements) async throws {
        try await Self.withTable(["statement_timeout": "300s"], statements) { connection, log in
            for _ in 0..<2 {
                try await connection.perform(
                    until: nil,
                    epilogue: log.epilogue("SELECT count(*) / 0 FROM epilogue_item")
                ) {
                    database in
                    try database.transaction { _ = try $0.execute(Self.insert) }
                    try database.execute(Self.insert)
                }
            }
            #expect(log.all.isEmpty)
            #expect(log.failureCount == 4)
            let count = try await connection.perform {
                try $0.query("SELECT count(*) FROM epilogue_item") { try $0.first { try $0.int(0) } }
            }
            #expect(count == 4)
        }
    }

    @Test(
        "An epilogue that ends the connection is reported, and its transaction has succeeded",
        arguments: [PreparedStatements.named, .unnamed]
    )
    func losesConnections(statements: PreparedStatements) async throws {
        try await Self.withTable([:], statements) { connection, log in
            let end: PostgresStatement = "SELECT pg_terminate_backend(pg_backend_pid())"
            try await connection.perform(until: nil, epilogue: log.epilogue(end)) { database in
                try database.transaction { _ = try $0.execute(Self.insert) }
            }
            #expect(log.all.isEmpty && log.failureCount == 1)
            #expect(await !connection.isReusable())
        }
    }
}
