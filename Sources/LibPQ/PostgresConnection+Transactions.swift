extension PostgresConnection {
    /// Runs the block between BEGIN and COMMIT; rolls back and rethrows where it throws.
    ///
    /// BEGIN travels with the first statement, and what was left for later with COMMIT.
    ///
    /// - Parameter mode: what follows BEGIN, such as `ISOLATION LEVEL REPEATABLE READ READ ONLY`.
    /// - Throws: what the block throws; a COMMIT whose answer was lost has `commitIsUncertain`.
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

    /// Runs the block between BEGIN and COMMIT or ROLLBACK, as the block decides; rolls back and rethrows where it throws.
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
            rollback()
            return value
        }
    }

    /// Begins a transaction with the next round trip; `commit` or `rollback` ends it. For work that spans several blocks.
    ///
    /// Without a mode the transaction is READ COMMITTED, whatever the server's default is.
    package func begin(_ mode: StaticString = "") throws {
        let mode = mode.utf8CodeUnitCount == 0 ? "ISOLATION LEVEL READ COMMITTED" : SQL(stringLiteral: mode)
        try executeLater("BEGIN \(mode)")
    }

    /// Ends a transaction that `begin` began.
    ///
    /// - Throws: an error with `commitIsUncertain`, if its answer was lost.
    package func commit() throws {
        do { try execute("COMMIT") } catch var error as PostgresError {
            if error.kind == .connection || error.kind == .deadline || error.kind == .cancelled {
                error.commitIsUncertain = true
                handle = nil
            } else {
                rollback()
            }
            throw error
        }
    }

    /// Gives a setting another value for the rest of the transaction.
    ///
    /// - Parameter value: nil for the configuration's, or the server's where that has none.
    package func set(_ name: StaticString, _ value: String?) throws {
        guard let value = value ?? settings[name.description] else {
            return try run(script: "SET LOCAL \(name) = DEFAULT")
        }
        try executeLater("SELECT set_config($1, $2, true)", [.text(name.description), .text(value)])
    }

    /// Takes back what the transaction did; a connection that cannot is closed, which does it too.
    package func rollback() {
        later = []
        if handle?.transactionIsIdle == true { return }
        deadline = .now + Self.cancelLimit
        operation = interrupt.begin()
        do { try run(script: "ROLLBACK") } catch { handle = nil }
    }
}
