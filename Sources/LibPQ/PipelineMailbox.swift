internal import DequeModule
internal import Platform
internal import Synchronization

/// The mailbox of the driver, for new jobs and for established connections.
final class PipelineMailbox: Sendable {
    struct Content {
        var jobs: Deque<any PipelineJob> = []
        var connected: [(slot: Int, result: Result<ConnectionHandle, PostgresError>)] = []
        /// New queries that prepare connections for reads.
        var warmUp: [PostgresQuery]?
        var inFlight = 0
        var isShutDown = false
    }

    let wakeup: Wakeup
    private let content = Mutex(Content())

    init() throws(PostgresError) { wakeup = try Wakeup() }

    /// Posts a job; returns an error if it is rejected.
    func post(_ job: any PipelineJob, limit: Int) -> PostgresError? {
        let (rejection, isFirst): (PostgresError?, Bool) = content.withLock {
            if $0.isShutDown { return (PostgresError(.exhausted, "the pipeline was shut down"), false) }
            guard $0.inFlight < limit else { return (PostgresError(.exhausted, "too many reads in flight"), false) }
            $0.inFlight += 1
            $0.jobs.append(job)
            return (nil, $0.jobs.count == 1)
        }
        // The driver collects all jobs at once, so the first one wakes it for the others, too.
        if isFirst { wakeup.signal() }
        return rejection
    }

    /// The number of jobs that have not finished.
    var inFlight: Int { content.withLock { $0.inFlight } }

    func deliver(_ slot: Int, _ result: Result<ConnectionHandle, PostgresError>) {
        content.withLock { $0.connected.append((slot, result)) }
        wakeup.signal()
    }

    func warmUp(_ queries: [PostgresQuery]) {
        content.withLock { $0.warmUp = queries }
        wakeup.signal()
    }

    func shutDown() {
        content.withLock { $0.isShutDown = true }
        wakeup.signal()
    }

    /// Takes all new items; `finished` jobs free capacity.
    func collect(finished: Int) -> Content {
        content.withLock { content in
            content.inFlight -= finished
            defer {
                content.jobs.removeAll()
                content.connected.removeAll()
                content.warmUp = nil
            }
            return content
        }
    }
}

/// The driver's view of a read.
protocol PipelineJob: AnyObject, Sendable {
    var shared: [SharedQuery] { get }
    var queries: [PostgresQuery] { get }
    var deadline: ContinuousClock.Instant { get }
    /// The recorder of the caller's request, with the time of the call; nil if its steps are not recorded.
    var recording: CallRecording? { get }
    /// Whether a caller is still waiting.
    var isPending: Bool { get }
    /// Whether the job is sent for the second time. The second time, the job has a separate transaction.
    var hasRestarted: Bool { get }
    /// Discards received rows so that the job can be sent again. Returns false if the job was resent before or has no time left.
    func restart() -> Bool
    func receive(shared index: Int, _ row: borrowing PostgresRow)
    func receive(_ index: Int, _ rows: borrowing PostgresRows)
    func succeed()
    func fail(_ error: any Error)
}

/// Runs queries and discards the results, so that the server has planned the queries and cached the required catalog pages.
final class WarmUpJob: PipelineJob {
    let shared: [SharedQuery] = []
    let queries: [PostgresQuery]
    let deadline: ContinuousClock.Instant
    let recording: CallRecording? = nil
    let isPending = true
    let hasRestarted = true

    init(_ queries: [PostgresQuery], deadline: ContinuousClock.Instant) {
        self.queries = queries
        self.deadline = deadline
    }

    func restart() -> Bool { false }
    func receive(shared index: Int, _ row: borrowing PostgresRow) {}
    func receive(_ index: Int, _ rows: borrowing PostgresRows) {}
    func succeed() {}
    func fail(_ error: any Error) {}
}
