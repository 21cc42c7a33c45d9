internal import CLibPQ
internal import DequeModule
internal import Glibc

/// A connection in pipeline mode and its groups of jobs in flight, in order.
final class PipelinedConnection {
    private enum Command {
        case prepare(PostgresStatement)
        /// Ends the preparation of a group's statements, so that a failing job does not undo a preparation that later jobs
        /// depend on.
        case preparationSync
        /// Applies the settings to the group's transaction.
        case settings
        /// A shared query of the group.
        case shared(Int)
        case query(member: Int, index: Int)
        case sync
    }

    private let handle: ConnectionHandle
    /// The settings that each transaction applies; nil if the session has them.
    private let settings: TransactionSettings?
    private var statements: StatementCache
    private let names: StatementNames
    private var commands: Deque<Command> = []
    private var groups: Deque<PipelineGroup> = []
    /// The preparation error of a statement of the next group.
    private var preparationFailure: PostgresError?
    private(set) var hasUnsent = false
    private(set) var failure: PostgresError?
    /// When cancellation of the head statement was requested; nil after any later response.
    private(set) var cancelRequestedAt: ContinuousClock.Instant?
    /// Jobs that must be sent again, on this connection or another.
    private var requeued: [any PipelineJob] = []

    /// A connection before it enters pipeline mode.
    struct Opened: Sendable {
        let handle: ConnectionHandle
        /// Whether the session has the configuration's settings, so that transactions need not apply them.
        let hasSettings: Bool

        /// Connects and blocks until done or the connection timeout.
        static func connect(_ configuration: PostgresConfiguration) throws(PostgresError) -> Opened {
            let handle = try ConnectionHandle.connect(configuration)
            let settings = configuration.transactionSettings
            // Only a pooler needs unnamed statements.
            guard configuration.statements == .named else { return Opened(handle: handle, hasSettings: false) }
            let deadline = ContinuousClock.now + configuration.connectTimeout
            return Opened(handle: handle, hasSettings: try handle.applyToSession(settings, until: deadline))
        }
    }

    init(_ opened: Opened, _ configuration: PostgresConfiguration) {
        handle = opened.handle
        settings = opened.hasSettings ? nil : configuration.transactionSettings
        statements = StatementCache(capacity: configuration.statementCapacity)
        names = configuration.statementNames
        if PQenterPipelineMode(handle.raw) == 0 { failure = .lost(handle.raw) }
    }

    var socket: Int32 { handle.socket }
    var groupsInFlight: Int { groups.count }
    /// The number of jobs in flight.
    var inFlight: Int { groups.reduce(0) { $0 + $1.pending } }
    var isWornOut: Bool { statements.isWornOut }
    /// The earliest deadline of a job. A resent job may be queued after newer ones.
    var nextDeadline: ContinuousClock.Instant? { groups.lazy.compactMap(\.nextDeadline).min() }

    /// Sends jobs in one transaction.
    ///
    /// - Parameter name: the name of the pipeline in logs and traces.
    func submit(_ jobs: [any PipelineJob], _ name: String) {
        let group = PipelineGroup(jobs, names: names)
        group.recordSending(name)
        groups.append(group)
        let setup = settings.flatMap { settings in
            settings.statement.map { call($0, settings.parameters(until: group.lastDeadline)) }
        }
        // Parsing may wait for locks, so it needs the settings, too; once for all of the group's preparations.
        var unsent = setup
        var calls: [(command: Command, call: PreparedCall)] = []
        for (index, query) in group.shared.enumerated() {
            calls.append((.shared(index), call(query.statement, query.parameters, preparedAfter: &unsent)))
        }
        for (member, job) in group.members.map(\.job).enumerated() {
            for (index, query) in job.queries.enumerated() {
                let call = call(query.statement, query.parameters, preparedAfter: &unsent)
                calls.append((.query(member: member, index: index), call))
            }
        }
        if case .prepare? = commands.last {
            check(PQpipelineSync(handle.raw))
            commands.append(.preparationSync)
        }
        if let setup {
            check(setup.send(handle.raw))
            commands.append(.settings)
        }
        for (command, call) in calls {
            // The server keeps small results until its buffer is full. A slow query must not delay those of other jobs.
            if case .query(let member, 0) = command, member > 0 || !group.shared.isEmpty {
                check(PQsendFlushRequest(handle.raw))
            }
            check(call.send(handle.raw))
            commands.append(command)
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
                guard case .sync = command, let group = groups.popFirst() else {
                    failure = PostgresError(.connection, "unexpected result from the server")
                    continue
                }
                preparationFailure = nil
                finished += end(group, PostgresError(.connection, "the server did not answer the query"))
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: recordFailure(command, PostgresError(result: raw))
            case PGRES_PIPELINE_ABORTED:
                if case .prepare(let statement) = command { statements.remove(statement) }
            default:
                switch command {
                case .shared(let index): finished += groups.first?.receive(shared: index, rows) ?? 0
                case .query(let member, let index): finished += groups.first?.receive(member, index, rows) ?? 0
                default: break
                }
            }
        }
        return finished
    }

    private func recordFailure(_ command: Command, _ error: PostgresError) {
        switch command {
        case .prepare(let statement):
            statements.remove(statement)
            preparationFailure = error
        case .query(let member, let index):
            groups.first?.fail(member, cause(of: error))
            groups.first?.record(member, index, failure: error)
        case .shared(let index):
            groups.first?.fail(nil, cause(of: error))
            groups.first?.record(shared: index, failure: error)
        case .settings: groups.first?.fail(nil, cause(of: error))
        default: break
        }
    }

    /// Returns the error of a preparation if a statement is missing because of it (26000).
    private func cause(of error: PostgresError) -> PostgresError {
        error.sqlState?.rawValue == "26000" ? preparationFailure ?? error : error
    }

    /// Abandons all jobs: they fail or are sent again. Returns the number of failed jobs.
    func abandon(_ error: PostgresError) -> Int {
        defer {
            groups.removeAll()
            commands.removeAll()
        }
        return groups.reduce(0) { $0 + end($1, error) }
    }

    private func end(_ group: PipelineGroup, _ error: PostgresError) -> Int {
        let (again, failed) = group.end(error)
        requeued += again
        return failed
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

    /// Fails overdue jobs, whose results will be dropped. Returns whether the head job is overdue.
    func failOverdue(_ now: ContinuousClock.Instant, _ error: PostgresError) -> Bool {
        for group in groups { group.failOverdue(now, error) }
        return groups.first { $0.pending > 0 }?.isOverdue ?? false
    }

    private func check(_ status: Int32) {
        if status == 0, failure == nil { failure = .lost(handle.raw) }
    }
}
