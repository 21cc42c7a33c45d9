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
