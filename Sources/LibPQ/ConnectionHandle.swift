internal import CLibPQ
internal import Glibc
internal import Platform

/// A connection to the server: the engine that leased connections and pipelines share.
///
/// It prepares and sends calls, recognizes results and maps errors. Only `connect` and `applySettingsToSession` wait for the
/// server. It is used by one thread at a time: its connection's or its pipeline's.
final class ConnectionHandle: @unchecked Sendable {
    /// The meaning of a result.
    enum Outcome {
        case success
        case failure(PostgresError)
        /// The call did not run, because an earlier one failed.
        case skipped
        case copy
        case sync
    }

    let raw: OpaquePointer
    /// The settings that each transaction applies; nil if the session has them.
    private(set) var settings: TransactionSettings?
    let names: StatementNames
    private var statements: StatementCache
    /// Whether libpq reported that the connection cannot be used.
    private var hasFailed = false
    /// Whether a statement failed because the server is read-only: after a failover another host may be the primary.
    private var sawReadOnlyError = false

    private init(adopting raw: OpaquePointer, _ configuration: PostgresConfiguration) {
        self.raw = raw
        settings = configuration.transactionSettings
        names = configuration.statementNames
        statements = StatementCache(capacity: configuration.statementCapacity)
    }

    deinit { PQfinish(raw) }

    var isOpen: Bool { !hasFailed && PQstatus(raw) == CONNECTION_OK }
    var socket: Int32 { PQsocket(raw) }
    var transactionIsIdle: Bool { PQtransactionStatus(raw) == PQTRANS_IDLE }
    /// Whether a new connection would serve better.
    var isWornOut: Bool { statements.isWornOut || sawReadOnlyError }

    // MARK: - Connecting

    /// Connects and blocks until done or `connect_timeout`; several hosts are tried in sequence.
    static func connect(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionHandle {
        TLSLibrary.outlivesThreads
        let keywords = configuration.connectionKeywords()
        let names = keywords.map { $0.key.nulTerminated }
        let values = keywords.map { $0.value.nulTerminated }
        let raw = withPointers(names) { namePointers in
            withPointers(values) { valuePointers in PQconnectdbParams(namePointers, valuePointers, 1) }
        }
        guard let raw else { throw PostgresError(.connection, "out of memory") }
        let handle = ConnectionHandle(adopting: raw, configuration)
        guard handle.isOpen else { throw handle.lost() }
        _ = PQsetnonblocking(raw, 1)
        _ = PQsetNoticeProcessor(raw, { _, _ in }, nil)
        return handle
    }

    /// Applies the settings to the session, instead of each transaction, if the connection is to PostgreSQL itself; blocks until done.
    ///
    /// A pooler lends the connection's transactions to different server processes, so a session's settings would affect other
    /// clients. A pooler reports a process id of its own, which it needs for cancel requests.
    ///
    /// - Parameter deadline: when to give up.
    func applySettingsToSession(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        guard let script = settings?.session(ofProcess: PQbackendPID(raw)) else { return }
        try send(script: script)
        while true {
            let isUnsent = try flush()
            while !isBusy {
                guard let result = PQgetResult(raw) else { return }
                let rows = PostgresRows(adopting: result)
                if case .failure(let error) = outcome(of: rows) { throw error }
                if rows.count == 1 { settings = nil }
            }
            guard deadline > .now else { throw PostgresError(.connection, "the server did not respond in time") }
            _ = pollDescriptors([(socket, Int16(POLLIN) | (isUnsent ? Int16(POLLOUT) : 0))], until: deadline)
            try consumeInput()
        }
    }

    // MARK: - Sending

    func enterPipelineMode() throws(PostgresError) { try check(PQenterPipelineMode(raw)) }
    func exitPipelineMode() throws(PostgresError) { try check(PQexitPipelineMode(raw)) }

    /// Returns the call that applies the settings to a transaction; nil if there are none, or if the session has them.
    ///
    /// - Parameter deadline: the deadline of the transaction.
    func settingsCall(until deadline: ContinuousClock.Instant?) -> PreparedCall? {
        guard let settings, let statement = settings.statement else { return nil }
        return PreparedCall(statement, settings.parameters(until: deadline))
    }

    /// Gives a call the name of its prepared statement.
    ///
    /// - Returns: the preparation, at the first use of the statement; it must be sent before the call.
    func prepare(_ call: inout PreparedCall) -> PreparedCall? {
        if let name = statements.name(of: call.statement) {
            call.name = name
            return nil
        }
        call.name = statements.insert(call.statement)
        return call.name == nil ? nil : call.preparation
    }

    /// Forgets the name of a statement whose preparation did not succeed.
    func forget(_ statement: PostgresStatement) { statements.remove(statement) }

    func send(_ call: PreparedCall) throws(PostgresError) { try check(call.send(raw)) }
    func send(script: String) throws(PostgresError) { try check(PQsendQuery(raw, script)) }

    /// Ends the calls that fail together, and their transaction if it has no BEGIN.
    func sendSync() throws(PostgresError) { try check(PQpipelineSync(raw)) }

    /// Asks the server to send the results so far.
    func sendFlushRequest() throws(PostgresError) { try check(PQsendFlushRequest(raw)) }

    /// Writes as much as possible without blocking; returns whether something is left.
    func flush() throws(PostgresError) -> Bool {
        let status = PQflush(raw)
        guard status >= 0 else { throw lost() }
        return status == 1
    }

    // MARK: - Receiving

    /// Whether the next result has not arrived yet.
    var isBusy: Bool { PQisBusy(raw) == 1 }

    func consumeInput() throws(PostgresError) { try check(PQconsumeInput(raw)) }

    /// Returns the meaning of a result.
    ///
    /// - Parameter preparation: the statement that the call prepared; it is forgotten unless that succeeded.
    func outcome(of rows: borrowing PostgresRows, preparing preparation: PostgresStatement? = nil) -> Outcome {
        let outcome = rows.outcome
        switch outcome {
        case .failure(let error):
            if error.sqlState == .readOnlyTransaction { sawReadOnlyError = true }
            if let preparation { forget(preparation) }
        case .skipped: if let preparation { forget(preparation) }
        case .success, .copy, .sync: break
        }
        return outcome
    }

    /// Returns the error of a failed call of libpq, after which the connection is not used again.
    func lost() -> PostgresError {
        hasFailed = true
        return PostgresError(.connection, String(cString: PQerrorMessage(raw)))
    }

    private func check(_ status: Int32) throws(PostgresError) {
        if status == 0 { throw lost() }
    }
}

extension String {
    var nulTerminated: [CChar] { Array(utf8CString) }
}

/// Calls a closure with a NULL-terminated array of C strings.
private func withPointers<R>(_ strings: [[CChar]], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R) -> R {
    let bytes = strings.flatMap { $0 }
    return bytes.withUnsafeBufferPointer { buffer in
        var offset = 0
        var pointers: [UnsafePointer<CChar>?] = []
        for string in strings {
            pointers.append(buffer.baseAddress! + offset)
            offset += string.count
        }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
