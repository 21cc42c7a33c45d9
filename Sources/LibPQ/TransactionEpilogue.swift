/// A query that follows the end of each transaction of a block in the same round trip, or in the next one with unnamed statements. For
/// example, it reads the position of the write-ahead log after the commit.
///
/// It runs in a transaction of its own. Its failure changes nothing about the transaction before it, and is not reported.
package struct TransactionEpilogue: Sendable {
    let statement: PostgresStatement
    let read: @Sendable (borrowing PostgresRows) throws -> Void

    /// - Parameter read: called with the rows after each transaction that ended, unless the query failed.
    package init(
        _ statement: PostgresStatement,
        _ read: @escaping @Sendable (borrowing PostgresRows) throws -> Void
    ) {
        self.statement = statement
        self.read = read
    }
}
