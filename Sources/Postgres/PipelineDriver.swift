internal import CLibPQ
internal import DequeModule
internal import Foundation

/// The thread behind a `PostgresPipeline`: polls its connections, sends what has arrived, reads what has come.
final class PipelineDriver: @unchecked Sendable {
    private let configuration: PostgresConfiguration
    private let options: PostgresPipeline.Options
    private let mailbox: PipelineMailbox
    // Touched by the driver's thread only.
    private var slots: [Slot]
    private var queue: Deque<any PipelineJob> = []
    private var finished = 0
    private var lastFailure: PostgresError?

    /// One connection, or the place of one.
    private struct Slot {
        var connection: PipelinedConnection?
        var isConnecting = false
        var failures = 0
        var retryAt: ContinuousClock.Instant = .now
    }

    init(_ configuration: PostgresConfiguration, _ options: PostgresPipeline.Options, _ mailbox: PipelineMailbox) {
        self.configuration = configuration
        self.options = options
        self.mailbox = mailbox
        slots = Array(repeating: Slot(), count: max(1, options.connections))
    }

    func run() {
        while true {
            let content = mailbox.collect(finished: finished)
            finished = 0
            if content.isShutDown { return end(content.jobs) }
            queue.append(contentsOf: content.jobs)
            for (slot, result) in content.connected { arrived(slot, result) }
            connectWhereNeeded()
            dispatch()
            wait()
        }
    }

    private func wait() {
        var wanted: [(descriptor: Int32, events: Int16)] = [(mailbox.wakeup.descriptor, Int16(POLLIN))]
        var polled: [Int] = []
        for (index, slot) in slots.enumerated() {
            guard let connection = slot.connection else { continue }
            wanted.append((connection.socket, Int16(POLLIN) | (connection.hasUnsent ? Int16(POLLOUT) : 0)))
            polled.append(index)
        }
        let outcome = pollDescriptors(wanted, until: nextDeadline())
        if outcome.events[0] != 0 { mailbox.wakeup.drain() }
        for (position, index) in polled.enumerated() where outcome.events[position + 1] != 0 {
            guard let connection = slots[index].connection else { continue }
            finished += connection.advance(readable: outcome.events[position + 1] & ~Int16(POLLOUT) != 0)
            if let failure = connection.failure { drop(index, failure) }
        }
        expire()
    }

    /// Sends waiting jobs, each on the connection with the fewest under way.
    private func dispatch() {
        while let job = queue.first {
            guard job.isWanted else {
                queue.removeFirst()
                finished += 1
                continue
            }
            let ready = slots.indices.filter { slots[$0].connection.map { $0.inFlight < 64 } ?? false }
            guard let index = ready.min(by: { slots[$0].connection!.inFlight < slots[$1].connection!.inFlight }) else {
                break
            }
            queue.removeFirst()
            let connection = slots[index].connection!
            connection.submit(job)
            if let failure = connection.failure { drop(index, failure) }
        }
        for index in slots.indices {
            guard let connection = slots[index].connection else { continue }
            connection.flush()
            if let failure = connection.failure { drop(index, failure) }
        }
        // Nobody waits for a server that is known to be away.
        if slots.allSatisfy({ $0.connection == nil && $0.failures > 0 }), let lastFailure {
            finished += queue.count
            for job in queue { job.fail(lastFailure) }
            queue.removeAll()
        }
    }

    private func connectWhereNeeded() {
        for index in slots.indices
        where slots[index].connection == nil && !slots[index].isConnecting && slots[index].retryAt <= .now {
            slots[index].isConnecting = true
            // Connecting blocks, so it has a thread of its own for the time.
            let thread = Thread { [configuration, mailbox] in
                do throws(PostgresError) {
                    mailbox.deliver(index, .success(try ConnectionHandle.connect(configuration)))
                } catch {
                    mailbox.deliver(index, .failure(error))
                }
            }
            thread.start()
        }
    }

    private func arrived(_ index: Int, _ result: Result<ConnectionHandle, PostgresError>) {
        slots[index].isConnecting = false
        switch result {
        case .success(let handle):
            slots[index].connection = PipelinedConnection(handle)
            slots[index].failures = 0
        case .failure(let error):
            lastFailure = error
            slots[index].failures += 1
            let pause = Duration.milliseconds(100 * (1 << min(slots[index].failures - 1, 4)))
            slots[index].retryAt = .now + pause * Double.random(in: 0.5...1)
        }
    }

    private func drop(_ index: Int, _ failure: PostgresError) {
        finished += slots[index].connection?.failAll(failure) ?? 0
        slots[index].connection = nil
        slots[index].retryAt = .now + .milliseconds(50)
    }

    /// Tells who waited too long; a connection that has not moved for as long again is given up.
    private func expire() {
        let now = ContinuousClock.now
        let timedOut = PostgresError(.deadline, "the deadline passed")
        while let job = queue.first, job.deadline <= now {
            queue.removeFirst().fail(timedOut)
            finished += 1
        }
        for index in slots.indices {
            guard let connection = slots[index].connection, let oldest = connection.oldestDeadline else { continue }
            if oldest + .seconds(1) <= now {
                drop(index, PostgresError(.connection, "the connection does not answer"))
            } else if oldest <= now {
                connection.failOverdue(now, timedOut)
            }
        }
    }

    private func nextDeadline() -> ContinuousClock.Instant? {
        let reconnects = slots.filter { $0.connection == nil && !$0.isConnecting }.map(\.retryAt)
        let overdue = slots.compactMap { $0.connection?.oldestDeadline }
            .map { $0 <= .now ? $0 + .seconds(1) : $0 }
        return (reconnects + overdue + (queue.first.map { [$0.deadline] } ?? [])).min()
    }

    private func end(_ arrived: Deque<any PipelineJob>) {
        let error = PostgresError(.exhausted, "the pipeline is shut down")
        for index in slots.indices { drop(index, error) }
        for job in queue { job.fail(error) }
        for job in arrived { job.fail(error) }
    }
}

/// A connection in pipeline mode and the jobs under way on it, in order.
final class PipelinedConnection {
    private enum Command {
        case prepare(PostgresStatement)
        case deallocate
        /// Ends what prepares a job's statements, so that no failing job ever takes a preparation with it: later jobs
        /// count on it.
        case preparationSync
        case query(Int)
        case sync
    }

    private struct Entry {
        let job: any PipelineJob
        var failure: PostgresError?
    }

    private let handle: ConnectionHandle
    private var statements = StatementCache(capacity: 200)
    private var commands: Deque<Command> = []
    private var entries: Deque<Entry> = []
    /// Why a statement of the next job could not be prepared.
    private var preparationFailure: PostgresError?
    private(set) var hasUnsent = false
    private(set) var failure: PostgresError?

    init(_ handle: ConnectionHandle) {
        self.handle = handle
        if PQenterPipelineMode(handle.raw) == 0 { failure = .lost(handle.raw) }
    }

    var socket: Int32 { handle.socket }
    var inFlight: Int { entries.count }
    var oldestDeadline: ContinuousClock.Instant? { entries.first?.job.deadline }

    func submit(_ job: any PipelineJob) {
        entries.append(Entry(job: job))
        let buffers = job.queries.map { ParameterBuffers($0.parameters) }
        let names = zip(job.queries, buffers).map { name(of: $0.statement, $1.oids) }
        if case .prepare? = commands.last {
            check(PQpipelineSync(handle.raw))
            commands.append(.preparationSync)
        }
        for (index, (name, buffers)) in zip(names, buffers).enumerated() {
            check(buffers.withPointers { PQsendQueryPrepared(handle.raw, name, $0, $1, $2, $3, 1) })
            commands.append(.query(index))
        }
        check(PQpipelineSync(handle.raw))
        commands.append(.sync)
        hasUnsent = true
    }

    /// The name of a statement, which is sent to be prepared where it is not.
    private func name(of statement: PostgresStatement, _ oids: [UInt32]) -> String {
        if let prepared = statements.name(of: statement) { return prepared }
        let (name, evicted) = statements.insert(statement)
        if let evicted {
            check(PQsendQueryParams(handle.raw, "DEALLOCATE \(evicted)", 0, nil, nil, nil, nil, 1))
            commands.append(.deallocate)
        }
        check(PQsendPrepare(handle.raw, name, statement.sql, Int32(oids.count), oids))
        commands.append(.prepare(statement))
        return name
    }

    func flush() {
        guard hasUnsent, failure == nil else { return }
        switch PQflush(handle.raw) {
        case 0: hasUnsent = false
        case 1: break
        default: failure = .lost(handle.raw)
        }
    }

    /// Reads and writes what can be without waiting; returns how many jobs it finished.
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
            switch rows.status {
            case PGRES_PIPELINE_SYNC:
                commands.removeFirst()
                if case .preparationSync = command { continue }
                preparationFailure = nil
                finish(entries.removeFirst())
                finished += 1
            case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE: failed(command, PostgresError(result: raw))
            case PGRES_PIPELINE_ABORTED:
                if case .prepare(let statement) = command { statements.remove(statement) }
            default:
                if case .query(let index) = command { entries[entries.startIndex].job.receive(index, rows) }
            }
        }
        return finished
    }

    private func failed(_ command: Command, _ error: PostgresError) {
        switch command {
        case .prepare(let statement):
            statements.remove(statement)
            preparationFailure = error
        case .query:
            // A statement that is not there: why it could not be prepared says more.
            let first = entries.startIndex
            entries[first].failure = entries[first].failure ?? preparationFailure ?? error
        default: break
        }
    }

    func failAll(_ error: PostgresError) -> Int {
        defer {
            entries.removeAll()
            commands.removeAll()
        }
        for entry in entries { entry.job.fail(entry.failure ?? error) }
        return entries.count
    }

    /// Tells who waited too long; their answers are dropped when they come.
    func failOverdue(_ now: ContinuousClock.Instant, _ error: PostgresError) {
        for entry in entries where entry.job.deadline <= now { entry.job.fail(error) }
    }

    private func finish(_ entry: Entry) {
        if let failure = entry.failure { entry.job.fail(failure) } else { entry.job.succeed() }
    }

    private func check(_ answer: Int32) {
        if answer == 0, failure == nil { failure = .lost(handle.raw) }
    }
}
