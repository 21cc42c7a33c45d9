internal import CLibPQ
internal import Glibc
internal import Platform

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
    var statements: StatementCache
    let settings: TransactionSettings
    let names: StatementNames
    /// The maximum number of transactions in flight.
    let inFlightLimit: Int
    /// Whether a statement failed because the server is read-only: after a failover another host may be the primary.
    var sawReadOnlyError = false
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
        statements = StatementCache(capacity: configuration.statementCapacity)
        settings = configuration.transactionSettings
        names = configuration.statementNames
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
        handle.map { $0.isOpen && $0.transactionIsIdle } ?? false && !statements.isWornOut && !sawReadOnlyError
    }

    /// Whether the next statement begins a transaction.
    var isBetweenTransactions: Bool { handle?.transactionIsIdle ?? false }

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
        guard deferredCalls.isEmpty, !isBetweenTransactions || (settings.statement == nil && epilogue == nil) else {
            var value: T?
            try queryBatch([PostgresQuery(statement, parameters)]) { value = try read($1) }
            guard let value else { throw lost(try open()) }
            return value
        }
        let call = try prepare(statement, parameters)
        let raw = try open()
        return try measure(statement) {
            try send { call.send(raw) }
            let rows = try lastResult(raw)
            return try read(rows)
        }
    }

    /// Runs a statement and returns the number of affected rows.
    @discardableResult
    package func execute(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) throws -> Int {
        try query(statement, parameters) { $0.affected }
    }

    /// Runs SQL text of any number of statements, without parameters: migrations, BEGIN, SET.
    package func run(script: String) throws { _ = try execute(script: script) }

    /// Runs SQL text of any number of statements, and returns the number of rows that the last one affected.
    package func execute(script: String) throws -> Int {
        guard !script.utf8.contains(0) else { throw PostgresError(.misuse, "SQL text contains a NUL byte") }
        try flushDeferred()
        let raw = try open()
        return try measure(script: script) {
            try send { PQsendQuery(raw, script) }
            return try lastResult(raw).affected
        }
    }

    /// Returns a call of a statement, which is prepared on the server at its first use.
    func prepare(_ statement: PostgresStatement, _ parameters: [PostgresValue]) throws -> PreparedCall {
        let buffers = ParameterBuffers(parameters)
        guard !buffers.isTooLarge else { throw PostgresError(.misuse, "the parameters exceed 1 GiB") }
        if let name = statements.name(of: statement) {
            return PreparedCall(statement: statement, name: name, buffers: buffers)
        }
        let raw = try open()
        let call = PreparedCall(statement: statement, name: statements.insert(statement), buffers: buffers)
        guard call.name != nil else { return call }
        do {
            if statement == settings.statement {
                try measure(statement, .preparation) {
                    try send { call.sendPreparation(raw) }
                    _ = try lastResult(raw)
                }
            } else {
                // Parsing may wait for locks, so it needs the settings and the transaction's own changes to them.
                var preparation = call
                preparation.isPreparation = true
                try exchange(takeDeferred() + [preparation]) { _, _ in }
            }
        } catch {
            statements.remove(statement)
            throw error
        }
        return call
    }

    /// Returns the error of a failed result.
    func serverError(_ result: OpaquePointer) -> PostgresError {
        let error = PostgresError(result: result)
        if error.sqlState == .readOnlyTransaction { sawReadOnlyError = true }
        return error
    }
}
