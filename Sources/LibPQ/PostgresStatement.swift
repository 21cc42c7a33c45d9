/// A whole statement of SQL that can be prepared. Compares in constant time where two statements differ.
package struct PostgresStatement: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text of the statement.
    package let sql: String
    private let hash: Int

    /// The statement that a fragment is.
    package init(_ sql: SQL) {
        self.sql = sql.text
        hash = sql.text.hashValue
    }

    package init(stringLiteral sql: StaticString) { self.init(SQL(stringLiteral: sql)) }
    package init(stringInterpolation parts: SQL.Interpolation) { self.init(SQL(stringInterpolation: parts)) }

    package static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.sql == b.sql }
    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
