import Testing

@testable import LibPQ

/// The deadlines of reads that are sent together, tested without a connection.
@Suite(.timeLimit(.minutes(15))) struct PipelineGroupTests {
    private typealias Job = ReadJob<Void, Int>

    private let now = ContinuousClock.now

    private func job(for limit: Duration) -> Job {
        let queries = ReadQueries(
            sharing: [],
            into: (),
            { _, _, _ in },
            then: [PostgresQuery("SELECT 1")],
            into: 0
        ) { _, _, _ in }
        return Job(queries, deadline: now + limit)
    }

    /// Returns the value of a job, and runs a block when the job has a caller.
    private func value(of job: Job, after body: () -> Void) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            job.start(continuation)
            body()
        }.own
    }

    @Test("Each caller of a group has its own deadline, whichever was sent first", arguments: [[1, 3], [3, 1]])
    func keepsDeadlines(limits: [Int]) async throws {
        let jobs = limits.map { job(for: .seconds($0)) }
        let group = PipelineGroup(jobs)
        #expect(group.nextDeadline == now + .seconds(1))
        #expect(group.lastDeadline == now + .seconds(3))
        let (early, late) = limits[0] == 1 ? (0, 1) : (1, 0)
        let timedOut = PostgresError(.deadline, "late")
        await #expect(throws: PostgresError.self) {
            try await value(of: jobs[early]) { group.failOverdue(now + .seconds(2), timedOut) }
        }
        #expect(group.nextDeadline == now + .seconds(3))
        #expect(group.isOverdue == (early == 0), "whether the next result has no caller")
        await #expect(throws: PostgresError.self) {
            try await value(of: jobs[late]) { group.failOverdue(now + .seconds(4), timedOut) }
        }
        #expect(group.nextDeadline == nil)
        #expect(group.isOverdue)
        #expect(group.pending == 2, "the results of both are still to come")
    }
}
