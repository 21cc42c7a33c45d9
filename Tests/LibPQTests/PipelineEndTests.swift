import Testing

@testable import LibPQ

/// The ends of reads that were sent together: those that fail, and those that are sent again.
@Suite(.timeLimit(.minutes(15))) struct PipelineEndTests {
    private let end = PostgresError(.connection, "end")

    private static func error(_ state: String, _ message: String) -> PostgresError {
        PostgresError(.server, message, sqlState: SQLState(state))
    }

    @Test("A read fails with an error of its own, and the others are sent again")
    func ownErrors() {
        let jobs = [RecordedJob(), RecordedJob()]
        let group = PipelineGroup(jobs)
        group.fail(0, Self.error("22012", "own"))
        group.fail(0, Self.error("25P02", "later"))
        let (again, failed) = group.end(end)
        #expect(again.map { ObjectIdentifier($0) } == [ObjectIdentifier(jobs[1])])
        #expect(failed == 1)
        #expect(jobs.map(\.events) == [["failure own"], ["restart"]])
        #expect(group.pending == 0)
        // All members are done now.
        let (none, noFailure) = group.end(end)
        #expect(none.isEmpty && noFailure == 0)
    }

    @Test(
        "An error that another read caused lets a read be sent again",
        arguments: [("57014", true), ("57P01", true), ("26000", true), ("25006", false), ("42P01", false)]
    )
    func errorsOfOthers(state: String, isSentAgain: Bool) {
        let jobs = [RecordedJob()]
        let group = PipelineGroup(jobs)
        group.fail(0, Self.error(state, "own"))
        let (again, failed) = group.end(end)
        #expect(again.count == (isSentAgain ? 1 : 0))
        #expect(failed == (isSentAgain ? 0 : 1))
        #expect(jobs[0].events == (isSentAgain ? ["restart"] : ["failure own"]))
    }

    @Test("A read that cannot be sent again fails with its own error, that of the group, or that of the end")
    func finalErrors() {
        for (hasOwn, hasShared, message) in [
            (true, true, "own"), (true, false, "own"), (false, true, "shared"), (false, false, "end"),
        ] {
            let jobs = [RecordedJob(canRestart: false)]
            let group = PipelineGroup(jobs)
            if hasShared {
                group.fail(nil, Self.error("22012", "shared"))
                group.fail(nil, Self.error("25P02", "later"))
            }
            if hasOwn { group.fail(0, Self.error("57014", "own")) }
            let (again, failed) = group.end(end)
            #expect(again.isEmpty && failed == 1)
            #expect(jobs[0].events == ["restart", "failure \(message)"])
        }
    }

    @Test("A read is overdue at its deadline, and gets one error")
    func deadlines() {
        let deadline = ContinuousClock.now + .seconds(60)
        let jobs = [RecordedJob(deadline: deadline), RecordedJob(deadline: deadline + .seconds(1))]
        let group = PipelineGroup(jobs)
        let late = PostgresError(.deadline, "late")
        group.failOverdue(deadline - .milliseconds(1), late)
        #expect(jobs[0].events == [] && !group.isOverdue)
        group.failOverdue(deadline, late)
        group.failOverdue(deadline, late)
        #expect(jobs.map(\.events) == [["failure late"], []])
        #expect(group.isOverdue)
        #expect(group.nextDeadline == deadline + .seconds(1))
        #expect(group.lastDeadline == deadline + .seconds(1))
        // Its results are still to come.
        #expect(group.pending == 2)
    }

    @Test("Reads with equal shared queries share them, and each scope has a batch of its own")
    func sharedQueries() {
        let statement: PostgresStatement = "SELECT 1"
        func query(_ scope: Int64, _ key: Int64) -> SharedQuery {
            SharedQuery(statement, scope: [.int8(scope)], key: [.int8(key)])
        }
        let group = PipelineGroup([
            RecordedJob(sharing: [query(1, 10)]), RecordedJob(sharing: [query(2, 20), query(1, 30)]),
            RecordedJob(sharing: [query(1, 10)]),
        ])
        #expect(group.shared.map(\.parameters) == [[.int8(1), .int8Array([10, 30])], [.int8(2), .int8Array([20])]])
        #expect(group.pending == 3)
    }

    @Test("The keys of a batch are arrays by column, in the order of their first reads")
    func keysOfBatches() {
        let key: [PostgresValue] = [.int8(1), .text("a")]
        let query = SharedQuery("SELECT 1", scope: [.int4(7)], key: key)
        var batch = SharedQueryBatch(query)
        #expect(batch.parameters == [.int4(7)])
        let reader = SharedQueryBatch.Reader(job: RecordedJob(), query: 0)
        batch.add(key, for: reader)
        batch.add([.int8(2), .text("b")], for: reader)
        batch.add(key, for: reader)
        #expect(batch.parameters == [.int4(7), .int8Array([1, 2]), .textArray(["a", "b"])])
        #expect(batch.canHold(SharedQuery("SELECT 1", scope: [.int4(7)], key: [.int8(9)])))
        #expect(!batch.canHold(SharedQuery("SELECT 1", scope: [.int4(8)], key: key)))
        #expect(!batch.canHold(SharedQuery("SELECT 2", scope: [.int4(7)], key: key)))
        let other = query.replacing("SELECT 2")
        #expect(other.statement.sql == "SELECT 2" && other.scope == [.int4(7)] && other.key == key)
    }

    /// A caller of a read.
    private func result(_ job: ReadJob<Int, Int>, _ body: () -> Void) async -> Result<[Int], any Error> {
        do {
            let value = try await withCheckedThrowingContinuation { continuation in
                job.start(continuation)
                body()
            }
            return .success([value.shared, value.own])
        } catch { return .failure(error) }
    }

    private func job(until deadline: ContinuousClock.Instant) -> ReadJob<Int, Int> {
        let queries = ReadQueries(sharing: [], into: 1, { _, _, _ in }, then: [], into: 2) { _, _, _ in }
        return ReadJob(queries, deadline: deadline)
    }

    @Test("A read is sent again once, while its caller waits")
    func restarts() async throws {
        let job = job(until: .now + .seconds(600))
        #expect(!job.isPending && !job.hasRestarted)
        let early = job.restart()
        #expect(!early, "nobody waits yet")
        let result = await result(job) {
            #expect(job.isPending)
            let (first, second) = (job.restart(), job.restart())
            #expect(first && !second && job.hasRestarted)
            job.succeed()
            #expect(!job.isPending)
            // Later ends change nothing.
            job.fail(PostgresError(.deadline, "late"))
        }
        #expect(try result.get() == [1, 2])
    }

    @Test("A read that failed or has no time left is not sent again")
    func noRestarts() async {
        let failed = job(until: .now + .seconds(600))
        let first = await result(failed) {
            failed.fail(PostgresError(.cancelled, "cancelled"))
            let isAgain = failed.restart()
            #expect(!isAgain && !failed.hasRestarted)
        }
        #expect(throws: PostgresError.self) { try first.get() }
        let late = job(until: .now - .seconds(1))
        let second = await result(late) {
            let isAgain = late.restart()
            #expect(!isAgain)
            late.fail(PostgresError(.deadline, "late"))
        }
        #expect(throws: PostgresError.self) { try second.get() }
    }
}
