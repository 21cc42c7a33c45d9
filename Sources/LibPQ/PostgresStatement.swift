/// A complete SQL statement that can be prepared. Different statements compare in constant time.
package struct PostgresStatement: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text of the statement.
    package let sql: String
    private let hash: Int

    /// Creates a statement from a fragment.
    package init(_ sql: SQL) {
        self.sql = sql.text
        hash = sql.text.hashValue
    }

    package init(stringLiteral sql: StaticString) { self.init(SQL(stringLiteral: sql)) }
    package init(stringInterpolation parts: SQL.Interpolation) { self.init(SQL(stringInterpolation: parts)) }

    package static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.sql == b.sql }
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
