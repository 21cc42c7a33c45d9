internal import CLibPQ
internal import DequeModule
internal import Glibc
internal import Platform

/// The thread behind a `PostgresPipeline`: polls its connections, sends jobs and reads results.
final class PipelineDriver: @unchecked Sendable {
    private let configuration: PostgresConfiguration
    private let options: PostgresPipeline.Options
    private let mailbox: PipelineMailbox
    // Only accessed by the driver's thread.
    private var slots: [Slot]
    private var queue: Deque<any PipelineJob> = []
    private var finished = 0
    private var lastFailure: PostgresError?
    /// The queries that every connection runs first.
    private var warmUp: [PostgresQuery] = []

    /// A connection, or a slot for one.
    private struct Slot {
        var connection: PipelinedConnection?
        var isConnecting = false
        var pauses = RetryPauses(doublings: 3)
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
            // Other threads may be about to send reads, and more reads then share a transaction.
            sched_yield()
            let content = mailbox.collect(finished: finished)
            finished = 0
            if content.isShutDown { return end(content.jobs) }
            queue.append(contentsOf: content.jobs)
            if let queries = content.warmUp {
                warmUp = queries
                for index in slots.indices where slots[index].connection != nil { warm(index) }
            }
            for (slot, result) in content.connected { connectionFinished(slot, result) }
            connectWhereNeeded()
            dispatch()
            // Reads whose callers had gone are counted off before the thread sleeps.
            if finished == 0 { wait() }
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
            requeue(connection.takeRequeued())
            if let failure = connection.failure { drop(index, failure) }
        }
        expire()
    }

    /// The maximum number of jobs that share a transaction. The answers of all but the last ones may wait for the end.
    private static let groupLimit = 32

    /// Sends waiting jobs, each on the connection with the fewest jobs in flight; those of a connection go together. Jobs that arrive while
    /// the limit of groups is in flight wait, and then share a transaction.
    private func dispatch() {
        var groups: [[any PipelineJob]] = Array(repeating: [], count: queue.isEmpty ? 0 : slots.count)
        while let job = queue.first {
            guard job.isPending else {
                queue.removeFirst()
                finished += 1
                continue
            }
            guard let index = leastBusy(groups, isAlone: job.hasRestarted) else { break }
            queue.removeFirst()
            if job.hasRestarted {
                submit([job], index)
                continue
            }
            groups[index].append(job)
            if groups[index].count == Self.groupLimit {
                submit(groups[index], index)
                groups[index].removeAll()
            }
        }
        for (index, jobs) in groups.enumerated() where !jobs.isEmpty { submit(jobs, index) }
        for index in slots.indices {
            guard let connection = slots[index].connection else { continue }
            if connection.isWornOut, connection.inFlight == 0 {
                slots[index].connection = nil
                continue
            }
            connection.flush()
            if let failure = connection.failure { drop(index, failure) }
        }
        // Fail fast if the server is known to be unreachable.
        if slots.allSatisfy({ $0.connection == nil && $0.pauses.failures > 0 }), let lastFailure {
            finished += queue.count
            for job in queue { job.fail(lastFailure) }
            queue.removeAll()
        }
    }

    /// Returns the connection with the fewest jobs; nil if there is none for another job.
    ///
    /// - Parameters:
    ///   - groups: the jobs that will be sent on each connection.
    ///   - isAlone: whether the job cannot join them.
    private func leastBusy(_ groups: [[any PipelineJob]], isAlone: Bool) -> Int? {
        var best: (index: Int, isWornOut: Bool, jobs: Int)?
        for index in slots.indices {
            guard let connection = slots[index].connection else { continue }
            let groupsInFlight = connection.groupsInFlight + (isAlone && !groups[index].isEmpty ? 1 : 0)
            guard groupsInFlight < configuration.inFlightLimit else { continue }
            let (jobs, isWornOut) = (connection.inFlight + groups[index].count, connection.isWornOut)
            // Worn-out connections are replaced when idle; until then they serve only if no other can.
            guard let found = best, (found.isWornOut ? 1 : 0, found.jobs) <= (isWornOut ? 1 : 0, jobs) else {
                best = (index, isWornOut, jobs)
                continue
            }
        }
        return best?.index
    }

    private func submit(_ jobs: [any PipelineJob], _ index: Int) {
        guard let connection = slots[index].connection else { return requeue(jobs) }
        connection.submit(jobs, options.name)
        if let failure = connection.failure { drop(index, failure) }
    }

    private func connectWhereNeeded() {
        for index in slots.indices
        where slots[index].connection == nil && !slots[index].isConnecting && slots[index].retryAt <= .now {
            slots[index].isConnecting = true
            do throws(OSThreadError) {
                // Connecting blocks, so it runs on a temporary thread.
                try OSThread.start(name: "connect") { [configuration, mailbox] in
                    do throws(PostgresError) {
                        mailbox.deliver(index, .success(try PipelinedConnection.connect(configuration)))
                    } catch {
                        mailbox.deliver(index, .failure(error))
                    }
                }
            } catch {
                mailbox.deliver(index, .failure(PostgresError(error)))
            }
        }
    }

    private func connectionFinished(_ index: Int, _ result: Result<ConnectionHandle, PostgresError>) {
        slots[index].isConnecting = false
        switch result {
        case .success(let handle):
            slots[index].connection = PipelinedConnection(handle)
            slots[index].pauses.succeed()
            if !warmUp.isEmpty { warm(index) }
        case .failure(let error):
            lastFailure = error
            slots[index].retryAt = .now + slots[index].pauses.fail()
        }
    }

    private func warm(_ index: Int) {
        // It is sent regardless of the limit of transactions in flight.
        guard configuration.statements == .named else { return }
        // The job did not come from the mailbox, where its end will be counted.
        finished -= 1
        submit([WarmUpJob(warmUp, deadline: .now + options.timeout)], index)
    }

    /// Closes a connection. Jobs with time left are sent on another connection; the others fail.
    private func drop(_ index: Int, _ failure: PostgresError) {
        if let connection = slots[index].connection {
            finished += connection.abandon(failure)
            requeue(connection.takeRequeued())
        }
        slots[index].connection = nil
        slots[index].retryAt = .now + .milliseconds(50)
    }

    /// Puts jobs back at the front of the queue.
    private func requeue(_ jobs: [any PipelineJob]) {
        for job in jobs.reversed() { queue.prepend(job) }
    }

    /// How long a connection may stay silent after a cancel request before it is closed.
    private static let silenceLimit: Duration = .seconds(1)

    /// Fails overdue jobs and requests cancellation of an overdue statement. If the connection stays silent after that,
    /// it is closed, and the other jobs are sent on another connection.
    private func expire() {
        let now = ContinuousClock.now
        let timedOut = PostgresError(.deadline, "the deadline passed")
        while let job = queue.first, job.deadline <= now {
            queue.removeFirst().fail(timedOut)
            finished += 1
        }
        for index in slots.indices {
            guard let connection = slots[index].connection, connection.failOverdue(now, timedOut) else { continue }
            if let requestedAt = connection.cancelRequestedAt {
                if requestedAt + Self.silenceLimit <= now {
                    drop(index, PostgresError(.connection, "the connection is not responding"))
                }
            } else {
                connection.requestCancel(now)
            }
        }
    }

    private func nextDeadline() -> ContinuousClock.Instant? {
        let reconnects = slots.filter { $0.connection == nil && !$0.isConnecting }.map(\.retryAt)
        let overdue = slots.compactMap { slot in
            slot.connection.flatMap { connection in
                [connection.cancelRequestedAt.map { $0 + Self.silenceLimit }, connection.nextDeadline].compactMap { $0 }
                    .min()
            }
        }
        return (reconnects + overdue + (queue.first.map { [$0.deadline] } ?? [])).min()
    }

    private func end(_ jobs: Deque<any PipelineJob>) {
        let error = PostgresError(.exhausted, "the pipeline was shut down")
        for index in slots.indices { drop(index, error) }
        // Includes the jobs that `drop` has put back.
        for job in queue { job.fail(error) }
        for job in jobs { job.fail(error) }
    }
}
