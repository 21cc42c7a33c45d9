import Glibc
import TestSupport
import Testing

@testable import LibPQ

/// The jobs of a pipeline that wait or are in flight.
@Suite(.timeLimit(.minutes(15))) struct PipelineQueueTests {
    private func job() -> ReadJob<Void, Int> {
        let queries = ReadQueries(
            sharing: [],
            into: (),
            { _, _, _ in },
            then: [PostgresQuery("SELECT 1")],
            into: 0
        ) { _, _, _ in }
        return ReadJob(queries, deadline: .now + .seconds(60))
    }

    @Test("The jobs of all groups in flight are counted until their results are there")
    func countsJobs() throws {
        let connection = PipelinedConnection(try PipelinedConnection.connect(TestServer.configuration))
        #expect(connection.inFlight == 0 && connection.groupsInFlight == 0 && connection.nextDeadline == nil)
        connection.submit([job(), job()], "test")
        #expect(connection.inFlight == 2 && connection.groupsInFlight == 1)
        connection.submit([job()], "test")
        #expect(connection.inFlight == 3 && connection.groupsInFlight == 2)
        let deadline = ContinuousClock.now + .seconds(60)
        var finished = 0
        while connection.inFlight > 0, connection.failure == nil, ContinuousClock.now < deadline {
            finished += connection.advance(readable: true)
            sched_yield()
        }
        #expect(finished == 3 && connection.groupsInFlight == 0 && connection.failure == nil)
        connection.submit([job(), job(), job()], "test")
        #expect(connection.abandon(PostgresError(.connection, "closed")) + connection.takeRequeued().count == 3)
        #expect(connection.inFlight == 0 && connection.groupsInFlight == 0)
    }
}
