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

/// A statement with its parameters.
package struct PostgresQuery: Sendable {
    package let statement: PostgresStatement
    package let parameters: [PostgresValue]

    package init(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) {
        self.statement = statement
        self.parameters = parameters
    }
}

/// The names of statements in logs and traces. They say which statement ran, and never contain data.
package final class StatementNames: Sendable {
    private let names: [PostgresStatement: String]

    /// - Parameter statements: fixed statements with their names.
    package init(_ statements: [(name: String, statements: [PostgresStatement])] = []) {
        var names: [PostgresStatement: String] = [:]
        names.reserveCapacity(statements.count)
        for (name, statements) in statements {
            for statement in statements { names[statement] = names[statement] ?? name }
        }
        self.names = names
    }

    /// Names that are only known from the text: `SELECT`, `COMMIT`.
    package static let none = StatementNames()

    /// Returns the name of a statement: its own, the registered one, or otherwise the statement's command.
    package func name(of statement: PostgresStatement) -> String {
        statement.name ?? names[statement] ?? Self.command(statement.sql)
    }

    /// Returns the first word of SQL, in capitals.
    static func command(_ sql: String) -> String {
        let word = sql.drop { $0.isWhitespace }.prefix(24).prefix { $0.isLetter && $0.isASCII }
        return word.isEmpty ? "SQL" : word.uppercased()
    }
}
