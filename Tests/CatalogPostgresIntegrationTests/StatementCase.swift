import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// A statement with the rows that it should return, or the changes that it should make.
///
/// Rows are texts of PostgreSQL, such as `(1,ann,)`. Times are `time`, and of ids that begin with zeros, only the last digit is left.
struct StatementCase: Sendable {
    private enum Kind: Sendable {
        /// A query whose rows have an order.
        case lists
        /// A query whose rows have no order.
        case finds
        /// A change that returns rows.
        case returns
        /// A change of the rows that another query returns.
        case changes(SQL)
    }

    private let kind: Kind
    private let statement: PostgresStatement
    private let parameters: [PostgresValue]
    private let expected: [String]
    private let line: Int

    private init(
        _ kind: Kind,
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        _ expected: [String],
        _ line: Int
    ) {
        (self.kind, self.statement, self.parameters, self.expected) = (kind, statement, parameters, expected)
        self.line = line
    }

    /// A query that returns rows in an order.
    static func lists(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        _ expected: [String],
        line: Int = #line
    ) -> StatementCase { StatementCase(.lists, statement, parameters, expected, line) }

    /// A query that returns rows in any order.
    static func finds(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        _ expected: [String],
        line: Int = #line
    ) -> StatementCase { StatementCase(.finds, statement, parameters, expected.sorted(), line) }

    /// A change that returns rows in any order.
    static func returns(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        _ expected: [String],
        line: Int = #line
    ) -> StatementCase { StatementCase(.returns, statement, parameters, expected.sorted(), line) }

    /// A change of the rows of a query.
    ///
    /// - Parameter expected: the former rows after `-`, and the new rows after `+`.
    static func changes(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        in rows: SQL,
        _ expected: [String],
        line: Int = #line
    ) -> StatementCase { StatementCase(.changes(rows), statement, parameters, expected.sorted(), line) }

    /// Runs statements, each on the same rows.
    ///
    /// - Parameter rows: inserts the rows.
    static func check(_ cases: [StatementCase], on rows: String) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await catalog.database.writes.perform { connection in
                try connection.run(script: rows)
                for statementCase in cases { try statementCase.check(connection) }
            }
        }
    }

    private func check(_ connection: isolated PostgresConnection) throws {
        let found: [String]
        do { found = try run(connection) } catch {
            Issue.record("line \(line): \(error)")
            return
        }
        #expect(found == expected, "line \(line): \(statement.sql)")
    }

    /// Runs the statement in a transaction that is rolled back.
    private func run(_ connection: isolated PostgresConnection) throws -> [String] {
        try connection.begin()
        defer { connection.rollback() }
        // Without indexes, rows have the order of their insertion, unless the statement sorts them.
        try connection.run(script: "SET LOCAL enable_indexscan = off; SET LOCAL enable_indexonlyscan = off")
        let text = SQL(unchecked: statement.sql)
        switch kind {
        case .lists: return try Self.texts("", text, parameters, connection)
        case .finds: return try Self.texts("", text, parameters, connection).sorted()
        case .returns:
            return try Self.texts("WITH changed AS (\(text))", "SELECT * FROM changed", parameters, connection).sorted()
        case .changes(let rows):
            var former = try Self.texts("", rows, [], connection)
            try connection.execute(statement, parameters)
            var differences: [String] = []
            for row in try Self.texts("", rows, [], connection) {
                if let index = former.firstIndex(of: row) {
                    former.remove(at: index)
                } else {
                    differences.append("+ \(row)")
                }
            }
            return (differences + former.map { "- \($0)" }).sorted()
        }
    }

    private static func texts(
        _ beginning: SQL,
        _ query: SQL,
        _ parameters: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        let statement: PostgresStatement = """
            \(beginning) SELECT regexp_replace(regexp_replace(found_row::text, '0{8}-0{4}-0{4}-0{4}-0{11}', '', 'g'),
                '"?[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9.:]+[+-][0-9:]+"?', 'time', 'g') FROM (\(query)) AS found_row
            """
        return try connection.query(statement, parameters) { try $0.map { try $0.text(0) } }
    }
}

extension PostgresValue {
    /// A time before now.
    static func ago(_ seconds: Int64) -> PostgresValue {
        .timestamptz(Timestamp.now().microseconds - seconds * 1_000_000)
    }
}
