/// Reads that are sent together, in one transaction: first the queries that they share, then the queries of each.
///
/// So they share the transaction's settings and its end, too. Each statement still has its own snapshot, taken after all
/// of the reads started.
final class PipelineGroup {
    struct Member {
        let job: any PipelineJob
        /// The error of one of the job's own queries.
        fileprivate(set) var failure: PostgresError?
        /// Whether the caller has got the error of a passed deadline; the results will be dropped.
        fileprivate(set) var isOverdue = false
        /// Whether the job succeeded, failed, or will be sent again.
        fileprivate(set) var isDone = false

        fileprivate init(_ job: any PipelineJob) { self.job = job }

        /// Whether the caller has got neither a value nor an error.
        fileprivate var isWaiting: Bool { !isDone && !isOverdue }
    }

    private(set) var members: [Member]
    private(set) var shared: [SharedQueryBatch] = []
    /// The number of jobs that are not done.
    private(set) var pending: Int
    /// The error of the settings or of a shared query, which concerns all members.
    private var failure: PostgresError?
    let names: StatementNames
    /// The time of the last result, at first of the sending; nil if no job's steps are recorded.
    var lastResult: ContinuousClock.Instant?

    init(_ jobs: [any PipelineJob], names: StatementNames = .none) {
        self.names = names
        lastResult = jobs.contains { $0.recording != nil } ? .now : nil
        members = jobs.map(Member.init)
        pending = jobs.count
        for job in jobs {
            for (query, wanted) in job.shared.enumerated() {
                let index = shared.firstIndex { $0.canHold(wanted) } ?? shared.endIndex
                if index == shared.endIndex { shared.append(SharedQueryBatch(wanted)) }
                shared[index].add(wanted.key, for: .init(job: job, query: query))
            }
        }
    }

    /// The latest deadline of the members. The driver cancels the statement of an earlier one itself.
    var lastDeadline: ContinuousClock.Instant { members.lazy.map(\.job.deadline).max() ?? .now }

    /// The earliest deadline of the members whose callers still wait.
    var nextDeadline: ContinuousClock.Instant? {
        members.lazy.filter(\.isWaiting).map(\.job.deadline).min()
    }

    /// Whether the caller of the next member to be answered has got an error already.
    var isOverdue: Bool { members.first { !$0.isDone }?.isOverdue ?? false }

    /// Distributes the rows of a shared query; returns the number of jobs that are done.
    func receive(shared index: Int, _ rows: borrowing PostgresRows) -> Int {
        record(shared: index)
        do {
            try shared[index].forEachReader(of: rows) { reader, row in reader.job.receive(shared: reader.query, row) }
        } catch { failure = failure ?? (error as? PostgresError) ?? PostgresError(.decoding, "\(error)") }
        guard index == shared.indices.last, failure == nil else { return 0 }
        var done = 0
        for member in members.indices where members[member].job.queries.isEmpty {
            succeed(member)
            done += 1
        }
        return done
    }

    /// Passes the rows of a query to its job; returns the number of jobs that are done.
    func receive(_ member: Int, _ index: Int, _ rows: borrowing PostgresRows) -> Int {
        members[member].job.receive(index, rows)
        record(member, index)
        guard index == members[member].job.queries.count - 1, failure == nil else { return 0 }
        succeed(member)
        return 1
    }

    private func succeed(_ member: Int) {
        members[member].job.succeed()
        members[member].isDone = true
        pending -= 1
    }

    /// Records an error of a member's query, or of the settings or a shared query, which concerns all members.
    ///
    /// - Parameter member: nil for the settings or a shared query.
    func fail(_ member: Int?, _ error: PostgresError) {
        guard let member else { return failure = failure ?? error }
        members[member].failure = members[member].failure ?? error
    }

    /// Fails the jobs whose deadline has passed; their results will be dropped.
    func failOverdue(_ now: ContinuousClock.Instant, _ error: PostgresError) {
        for index in members.indices where members[index].isWaiting && members[index].job.deadline <= now {
            members[index].job.fail(error)
            members[index].isOverdue = true
        }
    }

    /// Ends the group: the members that are not done are sent again, if that can help, and otherwise fail.
    ///
    /// Sending again can help after the loss of the connection, and after the error of another job: in a query, in a
    /// preparation (26000), or a cancel request (class 57).
    ///
    /// - Parameter error: the error of members that have none of their own.
    /// - Returns: the jobs to send again, and the number of failed jobs.
    func end(_ error: PostgresError) -> (again: [any PipelineJob], failed: Int) {
        var again: [any PipelineJob] = []
        var failed = 0
        for index in members.indices where !members[index].isDone {
            let own = members[index].failure
            members[index].isDone = true
            let isNotItsOwn = own.map { $0.sqlState?.classCode == "57" || $0.sqlState?.rawValue == "26000" } ?? true
            let job = members[index].job
            if isNotItsOwn, job.restart() {
                again.append(job)
            } else {
                job.fail(own ?? failure ?? error)
                failed += 1
            }
        }
        pending = 0
        return (again, failed)
    }
}
