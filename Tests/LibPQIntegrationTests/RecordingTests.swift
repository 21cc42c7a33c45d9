import LibPQ
import Platform
import Testing
import TestSupport

/// The steps that connections, pools and pipelines record for a request.
@Suite(.timeLimit(.minutes(5))) struct RecordingTests {
    private static let one: PostgresStatement = "SELECT 1"
    private static let many: PostgresStatement = "SELECT g::int4 FROM generate_series(1, 3) AS g"
    private static let failing: PostgresStatement = "SELECT 1 / $1::int4"

    private static func configuration() throws -> PostgresConfiguration {
        var configuration = try TestServer.configuration.database("postgres")
        configuration.statementNames = StatementNames([("Tests.one", [one]), ("Tests.failing", [failing])])
        return configuration
    }

    /// Runs a block as a request, and returns its steps.
    private static func steps(_ body: () async throws -> Void) async throws -> [StepRecorder.Step] {
        let recorder = StepRecorder()
        let start = ContinuousClock.now
        try await TaskContext(steps: recorder).run { try await body() }
        let (steps, end) = (recorder.recorded.steps, ContinuousClock.now)
        #expect(steps.allSatisfy { start <= $0.start && $0.start <= $0.end && $0.end <= end })
        return steps
    }

    private static func error(_ body: () async throws -> Void) async -> PostgresError? {
        do { try await body() } catch { return error as? PostgresError }
        return nil
    }

    private static func titles(_ steps: [StepRecorder.Step]) -> [String] { steps.map { "\($0.kind) \($0.name)" } }

    @Test("A transaction of a pool is recorded as the wait and its statements, in order")
    func recordsTransactions() async throws {
        let pool = PostgresPool(try Self.configuration(), options: .init(size: 1, name: "lane"))
        let run: @Sendable (isolated PostgresConnection) throws -> Void = {
            try $0.query(Self.one) { _ in }
            try $0.executeDeferred(Self.many.named("Tests.many"))
            try $0.execute(Self.one)
        }
        let first = try await Self.steps { try await pool.transaction("", run) }
        // A statement is prepared at its first use, in the same round trip.
        let second = try await Self.steps { try await pool.transaction("", run) }
        #expect(
            Self.titles(first) == [
                "wait lane", "preparation BEGIN", "statement BEGIN", "preparation TransactionSettings",
                "statement TransactionSettings", "preparation Tests.one", "statement Tests.one",
                "preparation Tests.many", "statement Tests.many", "statement Tests.one", "preparation COMMIT",
                "statement COMMIT",
            ]
        )
        #expect(
            Self.titles(second) == [
                "wait lane", "statement BEGIN", "statement TransactionSettings", "statement Tests.one",
                "statement Tests.many", "statement Tests.one", "statement COMMIT",
            ]
        )
        for (earlier, later) in zip(second, second.dropFirst()) { #expect(earlier.end <= later.start) }
        #expect(second.allSatisfy { $0.failure == nil })
        pool.shutDown()
    }

    @Test("A failed statement is recorded with its SQLSTATE, and a failed wait with its kind")
    func recordsFailures() async throws {
        // Connecting counts as waiting, so a shorter timeout would also end the first wait on a busy machine.
        let pool = PostgresPool(
            try Self.configuration(),
            options: .init(size: 1, leaseTimeout: .seconds(3), name: "lane")
        )
        let failed = try await Self.steps {
            await #expect(throws: PostgresError.self) {
                try await pool.perform { try $0.execute(Self.failing, [.int4(0)]) }
            }
        }
        #expect(failed.last?.name == "Tests.failing")
        #expect(failed.last?.failure == "22012")
        let waited: [StepRecorder.Step] = try await Self.steps {
            try await pool.withConnection { (_: PostgresConnection) async throws -> Void in
                let error = await Self.error { _ = try await pool.perform { try $0.execute(Self.one) } }
                #expect(error?.kind == .exhausted)
            }
        }
        #expect(waited.map { $0.failure } == [nil, "exhausted"])
        pool.shutDown()
    }

    @Test("Reads of a pipeline are recorded for each caller, though they share statements and a thread")
    func recordsPipelines() async throws {
        var options = PostgresPipeline.Options()
        options.name = "pages"
        let pipeline = try PostgresPipeline(try Self.configuration(), options: options)
        @Sendable func read() async throws -> [StepRecorder.Step] {
            try await Self.steps {
                let queries = [PostgresQuery(Self.one), PostgresQuery(Self.many)]
                let count = try await pipeline.read(queries, into: 0) {
                    $0 += $2.count; _ = $1
                }
                #expect(count == 4)
            }
        }
        let all = try await withThrowingTaskGroup(of: [StepRecorder.Step].self) { group in
            for _ in 0..<8 { group.addTask { try await read() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for steps in all { #expect(Self.titles(steps) == ["wait pages", "statement Tests.one", "statement SELECT"]) }
        let failed = try await Self.steps {
            await #expect(throws: PostgresError.self) {
                try await pipeline.read([PostgresQuery(Self.failing, [.int4(0)])], into: 0) {
                    $0 = $2.count; _ = $1
                }
            }
        }
        #expect(failed.last?.failure == "22012")
        // Without a recorder, nothing is recorded.
        #expect(StepRecorder.current == nil)
        pipeline.shutDown()
    }
}
