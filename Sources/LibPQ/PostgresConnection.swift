internal import CLibPQ
internal import Glibc

/// One connection: an actor on a thread of its own, which waits in `poll(2)` on the socket and on an event descriptor.
///
/// Its isolated methods are synchronous: between sending a statement and reading its last result nothing suspends, so
/// two statements cannot interleave. From outside, `perform` runs a block of them on the connection's thread, with one
/// deadline and the calling task's cancellation.
package actor PostgresConnection {
    private let executor: ThreadExecutor
    private let interrupt: Interrupt
    private let socket: Int32
    var handle: ConnectionHandle?
    /// Whether the end of a COPY was seen behind its last data.
    var copyHasEnded = false
    private var statements: StatementCache
    let settings: TransactionSettings
    /// Whether a statement failed because the server is read-only: after a failover another host may be the primary.
    private var metReadOnly = false
    /// What waits for the next round trip.
    var later: [PreparedCall] = []
    private var operation: UInt64 = 0
    private(set) var deadline: ContinuousClock.Instant?

    /// How long a cancelled statement may take to end before its connection is closed.
    private static let cancelLimit: Duration = .milliseconds(500)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Connects. Blocks a thread of its own, never the caller's.
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
        statements = StatementCache(capacity: configuration.statements.capacity)
        settings = configuration.transactionSettings
        self.executor = executor
        self.interrupt = interrupt
        self.handle = handle
        self.socket = handle.socket
    }

    deinit { executor.stop() }

    // MARK: - From outside

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

    /// Runs a block on the connection's thread, which must end by a point in time.
    @discardableResult
    package nonisolated func perform<T: Sendable>(
        until deadline: ContinuousClock.Instant?,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        let operation = interrupt.begin()
        return try await withTaskCancellationHandler {
            try await run(operation, deadline, body)
        } onCancel: { [interrupt] in
            interrupt.request(operation)
        }
    }

    private func run<T: Sendable>(
        _ operation: UInt64,
        _ deadline: ContinuousClock.Instant?,
        _ body: @Sendable (isolated PostgresConnection) throws -> T
    ) throws -> T {
        self.operation = operation
        self.deadline = deadline
        defer { interrupt.end(operation) }
        return try body(self)
    }

    /// Closes the connection at once; whatever is called after this throws kind `connection`.
    package func close() { handle = nil }

    /// Runs asynchronous work on the connection's thread, wherever it is not isolated to another actor: work that is long
    /// or blocks, and belongs to this connection, then takes no thread from anybody else.
    package nonisolated func onOwnThread<T>(_ body: () async throws -> T) async rethrows -> T {
        try await withTaskExecutorPreference(executor) { try await body() }
    }

    /// Whether the next lease may have it: open, outside any transaction, and not better replaced by a new one.
    package func isReusable() -> Bool {
        handle.map { $0.isOpen && $0.transactionIsIdle } ?? false && !statements.isWornOut && !metReadOnly
    }

    /// Whether the next statement begins a transaction.
    var isBetweenTransactions: Bool { handle?.transactionIsIdle ?? false }

    /// Whether the socket has something to say although nothing was asked: the server closed it, or is about to.
    ///
    /// Only for a connection that nobody uses.
    package nonisolated var isDisturbed: Bool {
        let outcome = pollDescriptors([(socket, Int16(POLLIN))], until: .now)
        return outcome.events[0] != 0
    }

    // MARK: - Statements

    /// Runs a statement, prepared once and then by name, and reads its rows.
    package func query<T>(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue] = [],
        _ read: (borrowing PostgresRows) throws -> T
    ) throws -> T {
        guard later.isEmpty, !isBetweenTransactions || settings.statement == nil else {
            var value: T?
            try together([PostgresQuery(statement, parameters)]) { value = try read($1) }
            guard let value else { throw lost(try open()) }
            return value
        }
        let call = try prepare(statement, parameters)
        let raw = try open()
        try send { call.send(raw) }
        let rows = try lastResult(raw)
        return try read(rows)
    }

    /// Runs a statement and returns the number of rows it touched.
    @discardableResult
    package func execute(_ statement: PostgresStatement, _ parameters: [PostgresValue] = []) throws -> Int {
        try query(statement, parameters) { $0.affected }
    }

    /// Runs SQL text of any number of statements, without parameters: migrations, BEGIN, SET.
    package func run(script: String) throws {
        guard !script.utf8.contains(0) else { throw PostgresError(.misuse, "SQL text has a NUL byte") }
        try runLater()
        let raw = try open()
        try send { PQsendQuery(raw, script) }
        _ = try lastResult(raw)
    }

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

    /// Begins a transaction with the next statement; `commit` or `rollback` ends it. For work that spans several blocks.
    ///
    /// Without a mode the transaction is READ COMMITTED, whatever the server's default is.
    package func begin(_ mode: StaticString = "") throws {
        let mode = mode.utf8CodeUnitCount == 0 ? "ISOLATION LEVEL READ COMMITTED" : mode.description
        try executeLater(PostgresStatement(assembled: "BEGIN \(mode)"))
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

    /// The statement by its name, which is made known to the server the first time.
    func prepare(_ statement: PostgresStatement, _ parameters: [PostgresValue]) throws -> PreparedCall {
        let buffers = ParameterBuffers(parameters)
        guard !buffers.isTooLarge else { throw PostgresError(.misuse, "parameters of 1 GiB or more") }
        if let name = statements.name(of: statement) {
            return PreparedCall(statement: statement, name: name, buffers: buffers)
        }
        let raw = try open()
        guard let name = statements.insert(statement) else {
            return PreparedCall(statement: statement, name: nil, buffers: buffers)
        }
        do {
            try send { PQsendPrepare(raw, name, statement.sql, Int32(buffers.oids.count), buffers.oids) }
            _ = try lastResult(raw)
        } catch {
            statements.remove(statement)
            throw error
        }
        return PreparedCall(statement: statement, name: name, buffers: buffers)
    }

    /// A failed result's error.
    func serverError(_ result: OpaquePointer) -> PostgresError {
        let error = PostgresError(result: result)
        if error.sqlState == .readOnlyTransaction { metReadOnly = true }
        return error
    }

    // MARK: - The socket

    func open() throws(PostgresError) -> OpaquePointer {
        guard let handle, handle.isOpen else { throw PostgresError(.connection, "the connection is closed") }
        return handle.raw
    }

    /// Queues a message and writes it out.
    func send(_ message: () -> Int32) throws(PostgresError) {
        try checkInterrupt()
        let raw = try open()
        guard message() == 1 else { throw lost(raw) }
        try flush(raw)
    }

    /// Writes what is queued. Reads too while it waits: the server may be blocked until we do.
    func flush(_ raw: OpaquePointer) throws(PostgresError) {
        while true {
            switch PQflush(raw) {
            case 0: return
            case 1: break
            default: throw lost(raw)
            }
            switch wait(for: Int16(POLLIN) | Int16(POLLOUT)) {
            case .ready(let events):
                if events & Int16(POLLIN) != 0, PQconsumeInput(raw) == 0 { throw lost(raw) }
            case .stopped(let error):
                // A half-written message cannot be taken back.
                handle = nil
                throw error
            }
        }
    }

    /// Reads results to the end and returns the last; a failed one is thrown once all are read.
    func lastResult(_ raw: OpaquePointer) throws(PostgresError) -> PostgresRows {
        var last: PostgresRows?
        var failure: PostgresError?
        while let result = try nextResult(raw) {
            let rows = PostgresRows(adopting: result)
            switch rows.status {
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
                failure = failure ?? serverError(result)
            case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
                // COPY has its own calls; the results go on only after the data.
                return rows
            default: break
            }
            last = consume rows
        }
        if let failure {
            guard PQstatus(raw) == CONNECTION_OK else {
                handle = nil
                throw failure.sqlState == nil ? PostgresError(.connection, failure.message) : failure
            }
            throw failure
        }
        guard let rows = last.take() else { throw PostgresError(.misuse, "the statement answered nothing") }
        return rows
    }

    /// The next result, nil after the last. A deadline or cancellation while waiting cancels the statement on the
    /// server and reads on until it has ended.
    func nextResult(_ raw: OpaquePointer) throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(raw) == 1 {
            switch wait(for: Int16(POLLIN)) {
            case .ready: guard PQconsumeInput(raw) == 1 else { throw lost(raw) }
            case .stopped(let reason): try cancelOnServer(raw, because: reason)
            }
        }
        return PQgetResult(raw)
    }

    /// Always throws: the reason where the statement ended as cancelled or failed, and then the connection is good; else
    /// closes the connection, because the cancel request may still hit the next statement. Returns within `cancelLimit`,
    /// whatever the server does.
    ///
    /// Of statements that travel together, all that are left end with the one that is cancelled.
    private func cancelOnServer(_ raw: OpaquePointer, because reason: PostgresError) throws(PostgresError) {
        let request = CancelRequests.send(for: raw)
        let limit = ContinuousClock.now + Self.cancelLimit
        /// Whether the next statement is safe from the request, which may come after the server's own timeout.
        func isOver() -> Bool {
            while let request, !request.hasEnded {
                if limit <= .now { return false }
                usleep(500)
            }
            return true
        }
        var wasCancelled = false
        drain: while ContinuousClock.now < limit {
            while PQisBusy(raw) == 1 {
                let outcome = pollDescriptors([(PQsocket(raw), Int16(POLLIN))], until: limit)
                if outcome.timedOut || PQconsumeInput(raw) == 0 { break drain }
            }
            guard let result = PQgetResult(raw) else {
                guard PQpipelineStatus(raw) == PQ_PIPELINE_OFF else {
                    if PQstatus(raw) == CONNECTION_OK { continue }
                    break
                }
                if wasCancelled, isOver() { throw reason }
                break
            }
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(result)
                if wasCancelled, isOver(), PQexitPipelineMode(raw) == 1 { throw reason }
                break
            }
            if status == PGRES_FATAL_ERROR { wasCancelled = PostgresError(result: result).sqlState == .queryCanceled }
            PQclear(result)
            if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH { break }
        }
        handle = nil
        throw reason
    }

    /// Waits until the server has sent something; a stop while COPY runs closes the connection.
    func waitForInput(_ raw: OpaquePointer) throws(PostgresError) {
        switch wait(for: Int16(POLLIN)) {
        case .ready: guard PQconsumeInput(raw) == 1 else { throw lost(raw) }
        case .stopped(let reason):
            handle = nil
            throw reason
        }
    }

    enum WaitOutcome {
        case ready(Int16)
        case stopped(PostgresError)
    }

    private func wait(for events: Int16) -> WaitOutcome {
        while true {
            let outcome = pollDescriptors(
                [(socket, events), (interrupt.wakeup.descriptor, Int16(POLLIN))],
                until: deadline
            )
            if outcome.events[1] != 0 { interrupt.wakeup.drain() }
            if interrupt.isRequested(operation) { return .stopped(PostgresError(.cancelled, "the task was cancelled")) }
            // A socket that is always ready does not outrun the deadline.
            if outcome.timedOut || deadline.map({ $0 <= .now }) ?? false {
                return .stopped(PostgresError(.deadline, "the deadline passed"))
            }
            if outcome.events[0] != 0 { return .ready(outcome.events[0]) }
        }
    }

    func checkInterrupt() throws(PostgresError) {
        if interrupt.isRequested(operation) { throw PostgresError(.cancelled, "the task was cancelled") }
        if let deadline, deadline <= .now { throw PostgresError(.deadline, "the deadline passed") }
    }

    /// The error of a broken connection, which is closed.
    func lost(_ raw: OpaquePointer) -> PostgresError {
        let error = PostgresError.lost(raw)
        handle = nil
        return error
    }
}
