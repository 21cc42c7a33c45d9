import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Runs single statements on rows that a test has inserted.
struct StatementProbe: Sendable {
    static let (shop, other) = (CatalogKey("shop")!, CatalogKey("other")!)

    let catalog: PostgresCatalog

    /// Runs a test on a database with the stores 1 and 2, which are empty.
    static func run(_ body: (StatementProbe) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for key in [shop, other] {
                _ = try await catalog.shelves.put(Store(key: key, title: key.text, currency: Currency("EUR")!))
            }
            let probe = StatementProbe(catalog: catalog)
            try #require(
                try await probe.rows("SELECT store_id || ' ' || key FROM store ORDER BY 1") == ["1 shop", "2 other"]
            )
            try await body(probe)
        }
    }

    /// Runs SQL text of any number of statements.
    func run(_ script: String) async throws {
        try await catalog.database.writes.perform { try $0.run(script: script) }
    }

    /// Runs a statement and returns the number of affected rows.
    @discardableResult
    func execute(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) async throws -> Int {
        try await catalog.database.writes.perform { try $0.execute(statement, parameters) }
    }

    /// Returns the only column of a query, which has texts.
    func rows(_ query: String) async throws -> [String] {
        try await texts(PostgresStatement(SQL(unchecked: query)))
    }

    /// Returns a column of a statement's result, which has texts.
    func texts(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        column: Int = 0
    ) async throws -> [String] {
        try await catalog.database.writes.perform {
            try $0.query(statement, parameters) { try $0.map { try $0.text(column) } }
        }
    }

    /// Returns a column of a statement's result, which has integers of 32 bits.
    func numbers(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        column: Int = 0
    ) async throws -> [Int32] {
        try await catalog.database.writes.perform {
            try $0.query(statement, parameters) { try $0.map { try $0.int4(column) } }
        }
    }

    // MARK: - Rows

    /// SQL that creates products.
    static func products(_ skus: [String], in store: Int = 1) -> String {
        inserting(
            "product",
            skus.map { sku in
                [
                    "store_id": "\(store)", "sku": "'\(sku)'", "name": "'N'", "name_key": "'\\x01'",
                    "created_at": "now()",
                    "modified_at": "now()",
                ]
            }
        )
    }

    /// SQL that creates shelves, numbered from 1 in the order of their keys here.
    static func shelves(_ keys: [String], in store: Int = 1) -> String {
        inserting(
            "shelf",
            keys.enumerated().map { index, key in
                [
                    "store_id": "\(store)", "shelf_id": "\(index + 1)", "key": "'\(key)'", "title": "'\(key)'",
                    "title_key": "'\\x01'", "position": "int4send(\(index + 1))", "modified_at": "now()",
                ]
            }
        )
    }

    /// SQL that inserts rows, each with the SQL of its values by column.
    static func inserting(_ table: String, _ rows: [[String: String]]) -> String {
        rows.map { row in
            let columns = row.keys.sorted()
            let values = columns.map { row[$0]! }
            return
                "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")));\n"
        }.joined()
    }

    /// Returns SQL that inserts rows: the first one meets all conditions of a statement, and each other one fails one condition.
    ///
    /// - Parameters:
    ///   - name: the column that names a row after the condition that it fails; `meets-all` for the first row.
    ///   - values: the values of the row that meets all conditions, as SQL by column.
    ///   - failing: the values by which each other row differs, by its name.
    static func variants(
        _ table: String,
        named name: String,
        _ values: [String: String],
        failing: KeyValuePairs<String, [String: String]>
    ) -> String {
        let rows = [("meets-all", [:])] + failing.map { ($0.key, $0.value) }
        return inserting(
            table,
            rows.map { label, changes in values.merging([name: "'\(label)'"]) { $1 }.merging(changes) { $1 } }
        )
    }

    // MARK: - Locks

    /// SQL that begins a transaction that waits, and is waited for, as long as a busy machine needs.
    static let begin = "BEGIN; SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '60s'"

    /// The modes in which a transaction locks a row, the weakest first.
    enum LockMode: String { case keyShare, share, noKeyUpdate, update }

    /// Returns how a statement locks rows while its transaction is open.
    ///
    /// - Parameters:
    ///   - table: the table, perhaps with a condition.
    ///   - name: the expression that names a row.
    func locks(
        of statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        in table: String,
        named name: String
    ) async throws -> [String: LockMode] {
        let holder = try await PostgresConnection.connect(catalog.database.writes.configuration)
        try await holder.perform { connection in
            try connection.run(script: Self.begin)
            try connection.query(statement, parameters) { _ in }
        }
        let all = Set(try await rows("SELECT \(name)::text FROM \(table)"))
        var modes: [String: LockMode] = [:]
        // Each of these modes is refused for a row that is locked at least in the mode beside it.
        let refusals: [(String, LockMode)] = [
            ("UPDATE", .keyShare), ("NO KEY UPDATE", .share), ("SHARE", .noKeyUpdate), ("KEY SHARE", .update),
        ]
        for (requested, held) in refusals {
            let free = try await rows("SELECT \(name)::text FROM \(table) FOR \(requested) SKIP LOCKED")
            for row in all.subtracting(free) { modes[row] = held }
        }
        try await holder.perform { try $0.run(script: "ROLLBACK") }
        await holder.close()
        return modes
    }

    /// Returns the rows that a statement has not locked when it waits for a row of another transaction.
    ///
    /// The statement reads the table in the order of its rows, so that only an order of its own decides.
    ///
    /// - Parameters:
    ///   - table: the table, with a condition.
    ///   - name: the expression that names a row.
    ///   - held: the row for which the statement waits.
    func unlocked(
        by statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        in table: String,
        named name: String,
        waitingFor held: String
    ) async throws -> [String] {
        let configuration = catalog.database.writes.configuration
        let holder = try await PostgresConnection.connect(configuration)
        let waiting = try await PostgresConnection.connect(configuration)
        try await holder.perform {
            try $0.run(script: "\(Self.begin); SELECT FROM \(table) AND (\(name))::text = '\(held)' FOR UPDATE")
        }
        try await waiting.perform {
            try $0.run(
                script: """
                    \(Self.begin); SET LOCAL enable_seqscan = on; SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off;
                    SET LOCAL enable_bitmapscan = off
                    """
            )
        }
        let task = Task { try await waiting.perform { try $0.query(statement, parameters) { _ in } } }
        try await catalog.untilLockIsAwaited()
        let free = try await rows("SELECT (\(name))::text FROM \(table) FOR UPDATE SKIP LOCKED")
        try await holder.perform { try $0.run(script: "ROLLBACK") }
        try await task.value
        try await waiting.perform { try $0.run(script: "ROLLBACK") }
        await holder.close()
        await waiting.close()
        return free.sorted()
    }
}
