/// A statement with its parameters.
package struct PostgresQuery: Sendable {
    package let statement: PostgresStatement
    package let parameters: [PostgresValue]

    package init(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) {
        self.statement = statement
        self.parameters = parameters
    }
}
