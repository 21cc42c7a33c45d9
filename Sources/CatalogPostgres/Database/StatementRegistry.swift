internal import LibPQ

/// Every fixed statement, by the name of its declaration, which logs and traces show. The build lists them.
enum StatementRegistry {
    /// The names of all fixed statements.
    static let names = StatementNames(statements + IdempotencyRecords.Statements.registered)
}
