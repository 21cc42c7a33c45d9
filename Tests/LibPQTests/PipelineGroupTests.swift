import Testing

@testable import LibPQ

/// Reads with the same queries in one group, tested without a connection.
@Suite(.timeLimit(.minutes(15))) struct PipelineGroupTests {
    private typealias Job = ReadJob<String, Int>

    private let now = ContinuousClock.now

    private func job(
        _ identity: String,
        for limit: Duration = .seconds(9),
        sharing shared: String = "",
        reading value: Int = 0
    ) -> Job {
        Job(
            [],
            into: shared,
            { _, _, _ in },
            then: [PostgresQuery("SELECT 1")],
            ReadIdentity(identity),
            into: value,
            { _, _, _ in },
            deadline: now + limit
        )
    }

    /// Returns the result of a job, and runs a block when the job has a caller.
    private func result(
        of job: Job,
        after body: () -> Void
    ) async -> Result<(shared: String, own: Int), any Error> {
        do {
            return .success(
                try await withCheckedThrowingContinuation { continuation in
                    job.start(continuation)
                    body()
                }
            )
        } catch { return .failure(error) }
    }

    @Test("Reads with the same identity and type are sent once")
    func joinsSameReads() {
        let other = ReadJob<String, Bool>(
            [],
            into: "",
            { _, _, _ in },
            then: [PostgresQuery("SELECT 1")],
            ReadIdentity("a"),
            into: false,
            { _, _, _ in },
            deadline: now + .seconds(9)
        )
        let group = PipelineGroup([job("a"), job("b"), job("a"), other])
        #expect(group.members.map(\.followers.count) == [1, 0, 0])
        #expect(group.pending == 4)
    }

    @Test("Each caller of the same queries has its own deadline, whichever was sent")
    func keepsDeadlines() async throws {
        let timedOut = PostgresError(.deadline, "late")
        for limits in [[1, 3], [3, 1]] {
            let jobs = limits.map { job("a", for: .seconds($0)) }
            let group = PipelineGroup(jobs)
            #expect(group.nextDeadline == now + .seconds(1))
            #expect(group.lastDeadline == now + .seconds(3))
            let early = limits[0] == 1 ? jobs[0] : jobs[1]
            let late = limits[0] == 1 ? jobs[1] : jobs[0]
            let first = await result(of: early) { group.failOverdue(now + .seconds(2), timedOut) }
            #expect(throws: PostgresError.self) { try first.get() }
            #expect(group.nextDeadline == now + .seconds(3))
            #expect(!group.isOverdue, "a caller still waits")
            let second = await result(of: late) { group.failOverdue(now + .seconds(4), timedOut) }
            #expect(throws: PostgresError.self) { try second.get() }
            #expect(group.nextDeadline == nil)
            #expect(group.isOverdue)
        }
    }

    @Test("A read that gets another read's rows keeps what it shares with others")
    func takesRowsOfAnother() async throws {
        let sent = job("a", sharing: "revision 1", reading: 7)
        let waiting = job("a", sharing: "revision 2")
        let found = try await result(of: waiting) { waiting.succeed(withRowsOf: sent) }.get()
        #expect(found == ("revision 2", 7))
    }
}
