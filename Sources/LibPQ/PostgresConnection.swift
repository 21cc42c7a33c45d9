internal import Glibc

/// A connection: an actor on its own thread, which waits in `poll(2)` on the socket and on an event descriptor.
///
/// Its isolated methods are synchronous: between sending a statement and reading its last result nothing suspends, so
/// two statements cannot interleave. From outside, `perform` runs a block of them on the connection's thread, with one
/// deadline and the calling task's cancellation.
package actor PostgresConnection {
    private let executor: ThreadExecutor
    let interrupt: Interrupt
    let socket: Int32
    var handle: ConnectionHandle?
    /// Whether the end of a COPY was read together with its last data.
    var copyHasEnded = false
    /// The maximum number of transactions in flight.
    let inFlightLimit: Int
    /// The statements deferred to the next round trip.
    var deferredCalls: [PreparedCall] = []
    /// Follows each transaction of the current block; nil for none.
    var epilogue: TransactionEpilogue?
    var operation: UInt64 = 0
    var deadline: ContinuousClock.Instant?

    /// How long a cancelled statement may take to end before its connection is closed.
    static let cancelLimit: Duration = .milliseconds(500)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Connects on a separate thread, without blocking the caller's.
    ///
    /// - Throws: `PostgresError` of kind `connection`.
    package static func connect(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let executor = try ThreadExecutor(name: "postgres")
        let connector = Connector(executor: executor)
        do {
            let handle = try await connector.connect(configuration)
            return PostgresConnection(executor, try Interrupt(), handle, configuration)
        } catch {
            executor.stop()
            throw error
        }
    }

    /// Connects on the thread that the connection will own.
    private actor Connector {
        let executor: ThreadExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        init(executor: ThreadExecutor) { self.executor = executor }
        func connect(_ configuration: PostgresConfiguration) throws -> ConnectionHandle { try .connect(configuration) }
    }

    private init(
        _ executor: ThreadExecutor,
        _ interrupt: Interrupt,
        _ handle: ConnectionHandle,
        _ configuration: PostgresConfiguration
    ) {
        inFlightLimit = configuration.inFlightLimit
        self.executor = executor
        self.interrupt = interrupt
        self.handle = handle
        self.socket = handle.socket
    }

    deinit { executor.stop() }

    // MARK: - Nonisolated access

    /// Runs a block on the connection's thread.
    ///
    /// When the calling task is cancelled, or the deadline passes, the statement in flight is cancelled on the server
    /// and the block's call throws.
    @discardableResult
    package nonisolated func perform<T: Sendable>(
        within limit: Duration? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await perform(until: limit.map { .now + $0 }, body)
    }

    /// Runs a block with a deadline on the connection's thread.
    ///
    /// - Parameter epilogue: follows each transaction of the block.
    @discardableResult
    package nonisolated func perform<T: Sendable>(
        until deadline: ContinuousClock.Instant?,
        epilogue: TransactionEpilogue? = nil,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        let operation = interrupt.begin()
        return try await withTaskCancellationHandler {
            try await run(operation, deadline, epilogue, body)
        } onCancel: { [interrupt] in
            interrupt.request(operation)
        }
    }

    private func run<T: Sendable>(
        _ operation: UInt64,
        _ deadline: ContinuousClock.Instant?,
        _ epilogue: TransactionEpilogue?,
        _ body: @Sendable (isolated PostgresConnection) throws -> T
    ) throws -> T {
        self.operation = operation
        self.deadline = deadline
        self.epilogue = epilogue
        defer {
            interrupt.end(operation)
            self.epilogue = nil
        }
        return try body(self)
    }

    /// Closes the connection immediately; later calls throw kind `connection`.
    package func close() { handle = nil }

    /// Runs asynchronous work on the connection's thread, unless it is isolated to another actor. Long or blocking work
    /// for this connection then does not occupy the shared thread pool.
    package nonisolated func onOwnThread<T>(_ body: () async throws -> T) async rethrows -> T {
        try await withTaskExecutorPreference(executor) { try await body() }
    }

    /// Returns whether the connection can be leased again: open, outside any transaction, and not due for replacement.
    package func isReusable() -> Bool {
        handle.map { $0.isOpen && $0.transactionIsIdle && !$0.isWornOut } ?? false
    }

    /// Whether the idle socket is readable: the server closed the connection, or is about to.
    ///
    /// Use it only for a connection that is not in use.
    package nonisolated var hasUnexpectedInput: Bool {
        let outcome = pollDescriptors([(socket, Int16(POLLIN))], until: .now)
        return outcome.events[0] != 0
    }

    // MARK: - Statements

    /// Runs a statement, which is prepared at its first use, and reads its rows.
    package func query<T>(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        _ read: (borrowing PostgresRows) throws -> T
    ) throws -> T {
        var value: T?
        try queryBatch([PostgresQuery(statement, parameters)]) { value = try read($1) }
        guard let value else { throw PostgresError(.misuse, "the statement returned no result") }
        return value
    }

    /// Runs a statement and returns the number of affected rows.
    @discardableResult
    package func execute(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) throws -> Int {
        try query(statement, parameters) { $0.affected }
    }

    /// Runs statements in sequence in one round trip, each with its own snapshot.
    ///
    /// - Parameter read: called with the index and rows of each statement.
    /// - Throws: the first error. Later statements did not run, unless the error came from `read`.
    package func queryBatch(
        _ queries: [PostgresQuery],
        _ read: (Int, borrowing PostgresRows) throws -> Void
    ) throws {
        let calls = try queries.enumerated().map { try call($1.statement, $1.parameters, .query($0)) }
        try exchange(takeDeferred() + calls, read)
    }

    /// Defers a statement to the next round trip. Its error is thrown there.
    ///
    /// Use it only inside a transaction.
    package func executeDeferred(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) throws {
        try deferCall(call(statement, parameters))
    }

    /// Runs SQL text of any number of statements, without parameters: migrations, BEGIN, SET.
    package func run(script: String) throws { _ = try execute(script: script) }

    /// Runs SQL text of any number of statements, and returns the number of rows that the last one affected.
    package func execute(script: String) throws -> Int {
        guard !script.utf8.contains(0) else { throw PostgresError(.misuse, "SQL text contains a NUL byte") }
        return try run(script, named: StatementNames.command(script)) { $0.affected }
    }

    /// Returns a call of a statement.
    func call(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        _ role: PreparedCall.Role = .other
    ) throws(PostgresError) -> PreparedCall {
        let call = PreparedCall(statement, parameters, role)
        guard !call.buffers.isTooLarge else { throw PostgresError(.misuse, "the parameters exceed 1 GiB") }
        return call
    }
}
