/// Reads that are sent together, in one transaction: first the queries that they share, then the queries of each.
///
/// So they share the transaction's settings and its end, too. Each statement still has its own snapshot, taken after all
/// of the reads started.
final class PipelineGroup {
    struct Member {
        let job: any PipelineJob
        /// The error of one of the job's own queries.
        var failure: PostgresError?
        /// Whether the caller has already got an error.
        var isOverdue = false
        /// Whether the job succeeded, failed, or will be sent again.
        var isDone = false
    }

    private(set) var members: [Member]
    private(set) var shared: [SharedQueryBatch] = []
    /// The number of members that are not done.
    private(set) var pending: Int
    /// The error of the settings or of a shared query, which concerns all members.
    private var failure: PostgresError?

    init(_ jobs: [any PipelineJob]) {
        members = jobs.map { Member(job: $0) }
        pending = jobs.count
        for (member, job) in jobs.enumerated() {
            for (query, wanted) in job.shared.enumerated() {
                let index = shared.firstIndex { $0.statement == wanted.statement } ?? shared.endIndex
                if index == shared.endIndex { shared.append(SharedQueryBatch(wanted.statement)) }
                shared[index].add(wanted.key, for: .init(member: member, query: query))
            }
        }
    }

    /// The latest deadline of the members. The driver cancels the statement of an earlier one itself.
    var lastDeadline: ContinuousClock.Instant { members.lazy.map(\.job.deadline).max() ?? .now }

    /// The earliest deadline of the members whose callers still wait.
    var nextDeadline: ContinuousClock.Instant? {
        members.lazy.filter { !$0.isOverdue && !$0.isDone }.map(\.job.deadline).min()
    }

    /// Whether the caller of the next member to be answered has got an error already.
    var isOverdue: Bool { members.first { !$0.isDone }?.isOverdue ?? false }

    /// Distributes the rows of a shared query; returns the number of jobs that are done.
    func receive(shared index: Int, _ rows: borrowing PostgresRows) -> Int {
        do {
            try shared[index].forEachReader(of: rows) { reader, row in
                members[reader.member].job.receive(shared: reader.query, row)
            }
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

    /// Fails the members whose deadline has passed; their results will be dropped.
    func failOverdue(_ now: ContinuousClock.Instant, _ error: PostgresError) {
        for index in members.indices
        where !members[index].isDone && !members[index].isOverdue && members[index].job.deadline <= now {
            members[index].isOverdue = true
            members[index].job.fail(error)
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
            let (job, own) = (members[index].job, members[index].failure)
            members[index].isDone = true
            let isNotItsOwn = own.map { $0.sqlState?.classCode == "57" || $0.sqlState?.rawValue == "26000" } ?? true
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
