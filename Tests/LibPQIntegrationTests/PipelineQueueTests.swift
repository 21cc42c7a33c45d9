import Glibc
import TestSupport
import Testing

@testable import LibPQ

/// The jobs of a pipeline that wait or are in flight.
@Suite(.timeLimit(.minutes(2))) struct PipelineQueueTests {
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

    @Test("A read that no connection could send fails at its deadline, and is no longer counted")
    func waitingReadsExpire() async throws {
        // A server that accepts connections, and never answers.
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        try #require(isListening)
        var configuration = TestServer.configuration
        configuration.dsn = "host=127.0.0.1 port=\(UInt16(bigEndian: address.sin_port)) user=nobody dbname=none"
        configuration.connectTimeout = .seconds(60)
        var options = PostgresPipeline.Options()
        options.timeout = .milliseconds(50)
        let pipeline = try PostgresPipeline(configuration, options: options)
        defer { pipeline.shutDown() }
        for _ in 0..<3 {
            let error = await #expect(throws: PostgresError.self) {
                try await pipeline.read([PostgresQuery("SELECT 1")], into: 0) { _, _, _ in }
            }
            #expect(error?.kind == .deadline && error?.message == "the deadline passed")
        }
        _ = await eventually { pipeline.readsInFlight == 0 }
        #expect(pipeline.readsInFlight == 0)
    }
}
