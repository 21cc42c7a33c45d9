internal import CLibPQ
internal import DequeModule
internal import Glibc

/// A connection in pipeline mode and its jobs in flight, in order.
final class PipelinedConnection {
    private enum Command {
        case prepare(PostgresStatement)
        /// Ends the preparation of a job's statements, so that a failing job does not undo a preparation that later jobs
        /// depend on.
        case preparationSync
        /// Applies the settings to the job's transaction.
        case settings
        case query(Int)
        case sync
    }

    private struct Entry {
        let job: any PipelineJob
        var failure: PostgresError?
        /// Whether the caller has already got an error.
        var isOverdue = false
    }

    private let handle: ConnectionHandle
    private let settings: TransactionSettings
    private var statements: StatementCache
    private var commands: Deque<Command> = []
    private var entries: Deque<Entry> = []
    /// The preparation error of a statement of the next job.
    private var preparationFailure: PostgresError?
    private(set) var hasUnsent = false
    private(set) var failure: PostgresError?
    /// When cancellation of the head statement was requested; nil after any later response.
    private(set) var cancelRequestedAt: ContinuousClock.Instant?
    /// Jobs that must be sent again, on this connection or another.
    private var requeued: [any PipelineJob] = []

    init(_ handle: ConnectionHandle, _ configuration: PostgresConfiguration) {
        self.handle = handle
        settings = configuration.transactionSettings
        statements = StatementCache(capacity: configuration.statements.capacity)
        if PQenterPipelineMode(handle.raw) == 0 { failure = .lost(handle.raw) }
    }

    var socket: Int32 { handle.socket }
    var inFlight: Int { entries.count }
    var isWornOut: Bool { statements.isWornOut }
    /// The earliest deadline of a job. A resent job may be queued after newer ones.
    var nextDeadline: ContinuousClock.Instant? { entries.lazy.filter { !$0.isOverdue }.map(\.job.deadline).min() }

    func submit(_ job: any PipelineJob) {
        entries.append(Entry(job: job))
        let setup = settings.statement.map { call($0, settings.parameters(until: job.deadline)) }
        // Parsing may wait for locks, so it needs the settings, too; once for all of the job's preparations.
        var unsent = setup
        let calls = job.queries.map { call($0.statement, $0.parameters, preparedAfter: &unsent) }
        if case .prepare? = commands.last {
            check(PQpipelineSync(handle.raw))
            commands.append(.preparationSync)
        }
        if let setup {
            check(setup.send(handle.raw))
            commands.append(.settings)
        }
        for (index, call) in calls.enumerated() {
            check(call.send(handle.raw))
            commands.append(.query(index))
        }
        check(PQpipelineSync(handle.raw))
        commands.append(.sync)
        hasUnsent = true
    }

    private func call(_ statement: PostgresStatement, _ parameters: [PostgresValue]) -> PreparedCall {
        var none: PreparedCall?
        return call(statement, parameters, preparedAfter: &none)
    }

    /// Returns a statement with its parameters, and sends its preparation if it is named and not prepared yet.
    ///
    /// - Parameter opening: the settings, sent before the first preparation; nil afterwards.
    private func call(
        _ statement: PostgresStatement,
        _ parameters: [PostgresValue],
        preparedAfter opening: inout PreparedCall?
    ) -> PreparedCall {
        let buffers = ParameterBuffers(parameters)
        if let name = statements.name(of: statement) {
            return PreparedCall(statement: statement, name: name, buffers: buffers)
        }
        let name = statements.insert(statement)
        let call = PreparedCall(statement: statement, name: name, buffers: buffers)
        guard name != nil else { return call }
        if let settings = opening.take() {
            check(settings.send(handle.raw))
            commands.append(.settings)
        }
        check(call.sendPreparation(handle.raw))
        commands.append(.prepare(statement))
        return call
    }

    func flush() {
        guard hasUnsent, failure == nil else { return }
        switch PQflush(handle.raw) {
        case 0: hasUnsent = false
        case 1: break
        default: failure = .lost(handle.raw)
        }
    }

    /// Reads and writes as much as possible without blocking; returns the number of finished jobs.
    func advance(readable: Bool) -> Int {
        if readable { check(PQconsumeInput(handle.raw)) }
        flush()
        var finished = 0
        while failure == nil, let command = commands.first, PQisBusy(handle.raw) == 0 {
            guard let raw = PQgetResult(handle.raw) else {
                // The end of a command's results; a sync has none.
                switch command {
                case .sync, .preparationSync: break
                default: commands.removeFirst()
                }
                continue
            }
            let rows = PostgresRows(adopting: raw)
            cancelRequestedAt = nil
            switch rows.status {
            case PGRES_PIPELINE_SYNC:
                commands.removeFirst()
                if case .preparationSync = command { continue }
                guard case .sync = command, !entries.isEmpty else {
                    failure = PostgresError(.connection, "unexpected result from the server")
                    continue
                }
                preparationFailure = nil
                if finish(entries.removeFirst()) { finished += 1 }
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: recordFailure(command, PostgresError(result: raw))
            case PGRES_PIPELINE_ABORTED:
                if case .prepare(let statement) = command { statements.remove(statement) }
            default:
                if case .query(let index) = command { entries.first?.job.receive(index, rows) }
            }
        }
        return finished
    }

    private func recordFailure(_ command: Command, _ error: PostgresError) {
        switch command {
        case .prepare(let statement):
            statements.remove(statement)
            preparationFailure = error
        case .query, .settings:
            // If a preparation failed, its error is more informative.
            guard !entries.isEmpty else { return }
            let first = entries.startIndex
            entries[first].failure = entries[first].failure ?? preparationFailure ?? error
        default: break
        }
    }

    /// Abandons all jobs: they fail or are sent again. Returns the number of failed jobs.
    func abandon(_ error: PostgresError) -> Int {
        defer {
            entries.removeAll()
            commands.removeAll()
        }
        return entries.count { entry in
            if requeueIfPossible(entry) { return false }
            entry.job.fail(entry.failure ?? error)
            return true
        }
    }

    func takeRequeued() -> [any PipelineJob] {
        defer { requeued.removeAll() }
        return requeued
    }

    /// Asks the server to cancel the head statement, without waiting.
    func requestCancel(_ now: ContinuousClock.Instant) {
        cancelRequestedAt = now
        CancelRequests.send(for: handle.raw)
    }

    /// Returns whether a job is sent again: it lost its connection, or it failed because of another job: a cancel
    /// request (class 57), or a preparation that failed (26000).
    private func requeueIfPossible(_ entry: Entry) -> Bool {
        let isNotItsOwn =
            entry.failure.map { $0.sqlState?.classCode == "57" || $0.sqlState?.rawValue == "26000" } ?? true
        guard isNotItsOwn, entry.job.restart() else { return false }
        requeued.append(entry.job)
        return true
    }

    /// Fails overdue jobs, whose results will be dropped. Returns whether the head job is overdue.
    func failOverdue(_ now: ContinuousClock.Instant, _ error: PostgresError) -> Bool {
        for index in entries.indices where !entries[index].isOverdue && entries[index].job.deadline <= now {
            entries[index].isOverdue = true
            entries[index].job.fail(error)
        }
        return entries.first?.isOverdue ?? false
    }

    /// Finishes a job, unless it is sent again; returns whether it finished.
    private func finish(_ entry: Entry) -> Bool {
        guard let failure = entry.failure else {
            entry.job.succeed()
            return true
        }
        if requeueIfPossible(entry) { return false }
        entry.job.fail(failure)
        return true
    }

    private func check(_ status: Int32) {
        if status == 0, failure == nil { failure = .lost(handle.raw) }
    }
}
