internal import CLibPQ
internal import DequeModule

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

        /// The statement that the command prepares; nil for another command.
        var preparedStatement: PostgresStatement? { if case .prepare(let statement) = self { statement } else { nil } }
    }

    private let handle: ConnectionHandle
    private var commands: Deque<Command> = []
    private var groups: Deque<PipelineGroup> = []
    /// The preparation error of a statement of the next group.
    private var preparationFailure: PostgresError?
    private(set) var hasUnsent = false
    /// The reason why the connection must be abandoned, without further calls; nil if it can be used.
    private(set) var failure: PostgresError?
    /// When cancellation of the head statement was requested; nil after any later response.
    private(set) var cancelRequestedAt: ContinuousClock.Instant?
    /// Jobs that must be sent again, on this connection or another.
    private var requeued: [any PipelineJob] = []

    /// - Parameter handle: a handle in pipeline mode.
    init(_ handle: ConnectionHandle) { self.handle = handle }

    /// Connects and blocks until done or the connection timeout.
    static func connect(_ configuration: PostgresConfiguration) throws(PostgresError) -> ConnectionHandle {
        let handle = try ConnectionHandle.connect(configuration)
        // Only a pooler needs unnamed statements.
        if configuration.statements == .named {
            try handle.applySettingsToSession(until: .now + configuration.connectTimeout)
        }
        try handle.enterPipelineMode()
        return handle
    }

    var socket: Int32 { handle.socket }
    var groupsInFlight: Int { groups.count }
    /// The number of jobs in flight.
    var inFlight: Int { groups.reduce(0) { $0 + $1.pending } }
    var isWornOut: Bool { handle.isWornOut }
    /// The earliest deadline of a job. A resent job may be queued after newer ones.
    var nextDeadline: ContinuousClock.Instant? { groups.lazy.compactMap(\.nextDeadline).min() }

    /// Sends jobs in one transaction.
    ///
    /// - Parameter name: the name of the pipeline in logs and traces.
    func submit(_ jobs: [any PipelineJob], _ name: String) {
        let group = PipelineGroup(jobs, names: handle.names)
        group.recordSending(name)
        groups.append(group)
        do throws(PostgresError) { try send(group) } catch { failure = error }
        hasUnsent = true
    }

    private func send(_ group: PipelineGroup) throws(PostgresError) {
        var calls: [(command: Command, call: PreparedCall)] = []
        for (index, query) in group.shared.enumerated() {
            calls.append((.shared(index), PreparedCall(query.statement, query.parameters)))
        }
        for (member, job) in group.members.map(\.job).enumerated() {
            for (index, query) in job.queries.enumerated() {
                let call = PreparedCall(query.statement, query.parameters)
                calls.append((.query(member: member, index: index), call))
            }
        }
        var settings = handle.settingsCall(until: group.lastDeadline)
        if var call = settings {
            if let preparation = handle.prepare(&call) { try send(preparation, .prepare(call.statement)) }
            settings = call
        }
        // Parsing may wait for locks, so it needs the settings, too; once for all of the group's preparations.
        var opening = settings
        for index in calls.indices {
            guard let preparation = handle.prepare(&calls[index].call) else { continue }
            if let settings = opening.take() { try send(settings, .settings) }
            try send(preparation, .prepare(preparation.statement))
        }
        if case .prepare? = commands.last {
            try handle.sendSync()
            commands.append(.preparationSync)
        }
        if let settings { try send(settings, .settings) }
        for (command, call) in calls {
            // The server keeps small results until its buffer is full. A slow query must not delay those of other jobs.
            if case .query(let member, 0) = command, member > 0 || !group.shared.isEmpty {
                try handle.sendFlushRequest()
            }
            try send(call, command)
        }
        try handle.sendSync()
        commands.append(.sync)
    }

    private func send(_ call: PreparedCall, _ command: Command) throws(PostgresError) {
        try handle.send(call)
        commands.append(command)
    }

    func flush() {
        guard hasUnsent else { return }
        do throws(PostgresError) { hasUnsent = try handle.flush() } catch { failure = error }
    }

    /// Reads and writes as much as possible without blocking; returns the number of finished jobs.
    func advance(readable: Bool) -> Int {
        if readable {
            do throws(PostgresError) { try handle.consumeInput() } catch {
                failure = error
                return 0
            }
        }
        flush()
        var finished = 0
        while failure == nil, let command = commands.first, !handle.isBusy {
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
            switch handle.outcome(of: rows, preparing: command.preparedStatement) {
            case .sync:
                commands.removeFirst()
                if case .preparationSync = command { continue }
                guard case .sync = command, let group = groups.popFirst() else {
                    failure = PostgresError(.connection, "unexpected result from the server")
                    continue
                }
                preparationFailure = nil
                finished += end(group, PostgresError(.connection, "the server did not answer the query"))
            case .failure(let error): recordFailure(command, error)
            case .skipped: break
            case .success, .copy:
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
        case .prepare: preparationFailure = error
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
}
