extension PostgresConnection {
    /// Runs a block between BEGIN and COMMIT; rolls back and rethrows if it throws.
    ///
    /// BEGIN is sent with the first statement, and deferred statements are sent with COMMIT.
    ///
    /// - Parameter mode: the transaction mode, such as `ISOLATION LEVEL REPEATABLE READ READ ONLY`.
    /// - Throws: the error of the block; `commitIsUncertain` is set if the response to COMMIT was lost.
    package func transaction<T>(
        _ mode: StaticString = "",
        _ body: (isolated PostgresConnection) throws -> T
    ) throws -> T {
        try begin(mode)
        let value: T
        do { value = try body(self) } catch {
            rollback()
            throw error
        }
        try commit()
        return value
    }

    /// Runs a block between BEGIN and COMMIT or ROLLBACK, as the block decides; rolls back and rethrows if it throws.
    package func transaction<T>(
        deciding body: (isolated PostgresConnection) throws -> TransactionEnd<T>
    ) throws -> T {
        try begin()
        let end: TransactionEnd<T>
        do { end = try body(self) } catch {
            rollback()
            throw error
        }
        switch end {
        case .commit(let value):
            try commit()
            return value
        case .rollback(let value):
            // If this fails, so that the transaction is still open, `rollback` ends it or closes the connection.
            if epilogue != nil, handle?.transactionIsIdle == false { try? endTransaction("ROLLBACK") }
            rollback()
            return value
        }
    }

    /// Begins a transaction with the next round trip; `commit` or `rollback` ends it. For work that spans several blocks.
    ///
    /// Without a mode the transaction is READ COMMITTED, whatever the server's default is.
    package func begin(_ mode: StaticString = "") throws {
        let mode = mode.utf8CodeUnitCount == 0 ? "ISOLATION LEVEL READ COMMITTED" : SQL(stringLiteral: mode)
        try deferCall(call("BEGIN \(mode)", [], .begin))
    }

    /// Ends a transaction that `begin` began.
    ///
    /// - Throws: an error with `commitIsUncertain` if the response was lost.
    package func commit() throws {
        do { try endTransaction("COMMIT") } catch var error as PostgresError {
            if error.kind == .connection || error.kind == .deadline || error.kind == .cancelled {
                error.commitIsUncertain = true
                handle = nil
            } else {
                rollback()
            }
            throw error
        }
    }

    /// Sends COMMIT or ROLLBACK, and the epilogue with it.
    private func endTransaction(_ statement: PostgresStatement) throws {
        let call = try call(statement, [], .end)
        try exchange(takeDeferred() + [call]) { _, _ in }
    }

    /// Changes a setting for the rest of the transaction, with SET, which Citus can send to its workers.
    ///
    /// - Parameter value: nil restores the configuration's value, or the server's default.
    package func set(_ name: StaticString, _ value: String?) throws {
        let configured = try open().settings?[name.description]
        let text: SQL = if let value = value ?? configured { "\(literal: value)" } else { "DEFAULT" }
        try executeDeferred(PostgresStatement("SET LOCAL \(SQL(stringLiteral: name)) = \(text)"))
    }

    /// Rolls back the transaction; if that fails, closes the connection, which has the same effect.
    package func rollback() {
        deferredCalls = []
        if handle?.transactionIsIdle == true { return }
        deadline = .now + Self.cancelLimit
        operation = interrupt.begin()
        do { try run(script: "ROLLBACK") } catch { handle = nil }
    }
}

/// The end of a transaction, with its value.
package enum TransactionEnd<Value> {
    case commit(Value)
    case rollback(Value)
}

extension TransactionEnd: Sendable where Value: Sendable {}

/// A query that follows the end of each transaction of a block in the same round trip, or in the next one with unnamed statements. For
/// example, it reads the position of the write-ahead log after the commit.
///
/// It runs in a transaction of its own. Its failure changes nothing about the transaction before it; `failed` is called.
package struct TransactionEpilogue: Sendable {
    let statement: PostgresStatement
    let read: @Sendable (borrowing PostgresRows) throws -> Void
    let failed: @Sendable () -> Void

    /// - Parameters:
    ///   - read: called with the rows after each transaction that ended without an error of the server, unless the query failed.
    ///   - failed: called after such a transaction if the query or `read` failed.
    package init(
        _ statement: PostgresStatement,
        failed: @escaping @Sendable () -> Void = {},
        _ read: @escaping @Sendable (borrowing PostgresRows) throws -> Void
    ) {
        self.statement = statement
        self.read = read
        self.failed = failed
    }
}
