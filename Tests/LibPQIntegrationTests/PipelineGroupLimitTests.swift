import Glibc
import LibPQ
import TestSupport
import Testing

/// The number of reads that share a transaction of a pipeline.
@Suite(.timeLimit(.minutes(15))) struct PipelineGroupLimitTests {
    private static func times(_ statement: PostgresStatement, _ pipeline: PostgresPipeline) async throws -> Int64 {
        try await pipeline.read([PostgresQuery(statement)], into: Int64(0)) { time, _, rows in
            time = try rows.first { try $0.int8(0) } ?? 0
        }
    }

    /// Waits for a number of reads in flight.
    private static func require(_ count: Int, _ pipeline: PostgresPipeline) async throws {
        let isReached = await eventually { pipeline.readsInFlight == count }
        try #require(isReached)
    }

    @Test("Reads that wait together share transactions of up to 32 reads")
    func groups() async throws {
        var options = PostgresPipeline.Options()
        options.connections = 1
        options.timeout = .seconds(60)
        let pipeline = try PostgresPipeline(TestServer.configuration, options: options)
        let owner = try await PostgresConnection.connect(TestServer.configuration)
        let key = Int(getpid()) * 100 + 77
        let lock: PostgresStatement = "SELECT pg_advisory_xact_lock(\(key))"
        try await owner.perform { connection in
            try connection.begin()
            try connection.execute(lock)
        }
        // At most two transactions are in flight.
        let blocked: PostgresStatement = "SELECT 0::bigint FROM pg_advisory_xact_lock(\(key))"
        var blockers: [Task<Int64, any Error>] = []
        for number in 1...2 {
            blockers.append(Task { try await Self.times(blocked, pipeline) })
            try await Self.require(number, pipeline)
        }
        // The time of a transaction is that of its start.
        let start: PostgresStatement = "SELECT (extract(epoch FROM now()) * 1000000)::bigint"
        let reads = (0..<65).map { _ in Task { try await Self.times(start, pipeline) } }
        try await Self.require(67, pipeline)
        try await owner.perform { $0.rollback() }
        for blocker in blockers { _ = try await blocker.value }
        var sizes: [Int64: Int] = [:]
        for read in reads { sizes[try await read.value, default: 0] += 1 }
        // The first reads may have been sent with one that waits for the lock.
        #expect(sizes.values.max() == 32 && sizes.values.reduce(0, +) == 65, "\(sizes.values.sorted())")
        pipeline.shutDown()
        await owner.close()
    }
}
