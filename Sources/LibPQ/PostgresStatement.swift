/// A complete SQL statement that can be prepared. Different statements compare in constant time.
package struct PostgresStatement: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text of the statement.
    package let sql: String
    /// The name of a statement that is generated, in logs and traces; nil for fixed statements, which `StatementNames` knows. It does
    /// not distinguish statements.
    package let name: String?
    private let hash: Int

    /// Creates a statement from a fragment.
    package init(_ sql: SQL, name: String? = nil) {
        self.sql = sql.text
        self.name = name
        hash = sql.text.hashValue
    }

    package init(stringLiteral sql: StaticString) { self.init(SQL(stringLiteral: sql)) }
    package init(stringInterpolation parts: SQL.Interpolation) { self.init(SQL(stringInterpolation: parts)) }

    /// Returns the statement with a name.
    package func named(_ name: StaticString) -> PostgresStatement {
        PostgresStatement(SQL(unchecked: sql), name: name.description)
    }

    package static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.sql == b.sql }
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
