import LibPQ
import Platform
import Testing
import TestSupport

/// The steps of requests whose reads share queries, and the notices of listeners.
@Suite(.timeLimit(.minutes(15))) struct SharedRecordingTests {
    private static let texts: PostgresStatement = """
        SELECT w.number, 10 / length(w.key) FROM unnest($1::text[]) WITH ORDINALITY AS w (key, number)
        """
    private static let one: PostgresStatement = "SELECT 1"

    private static func pipeline() throws -> PostgresPipeline {
        var configuration = TestServer.configuration
        configuration.statementNames = StatementNames([("Tests.texts", [texts]), ("Tests.one", [one])])
        var options = PostgresPipeline.Options()
        options.connections = 1
        options.timeout = .seconds(60)
        options.name = "pages"
        return try PostgresPipeline(configuration, options: options)
    }

    /// Reads a key as a request, and returns its steps.
    private static func steps(_ key: String, _ pipeline: PostgresPipeline) async throws -> [StepRecorder.Step] {
        let recorder = StepRecorder()
        let queries = ReadQueries(
            sharing: [SharedQuery(texts, key: [.text(key)])],
            into: 0,
            { sum, _, row in sum += Int(try row.int4(1)) },
            then: [PostgresQuery(one)],
            into: 0
        ) { count, _, rows in count += rows.count }
        let start = ContinuousClock.now
        _ = try? await TaskContext(steps: recorder).run { () async throws -> Int in
            try await pipeline.read(queries).shared
        }
        let (steps, end) = (recorder.recorded.steps, ContinuousClock.now)
        #expect(steps.allSatisfy { start <= $0.start && $0.start <= $0.end && $0.end <= end })
        return steps
    }

    @Test("A request has the steps of the queries that its read shares, and of its own")
    func recordsSharedQueries() async throws {
        let pipeline = try Self.pipeline()
        let all = try await withThrowingTaskGroup(of: [StepRecorder.Step].self) { group in
            for number in 1...20 {
                group.addTask { try await Self.steps(String(repeating: "x", count: number), pipeline) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(all.count == 20)
        for steps in all {
            #expect(steps.map(\.name) == ["pages", "Tests.texts", "Tests.one"])
            #expect(steps.map(\.kind) == [.wait, .statement, .statement])
            #expect(steps.allSatisfy { $0.failure == nil })
        }
        pipeline.shutDown()
    }

    @Test("A request has the failure of a query that its read shares")
    func recordsFailures() async throws {
        let pipeline = try Self.pipeline()
        let steps = try await Self.steps("", pipeline)
        // The read is sent twice, because the error might be that of another read.
        #expect(steps.filter { $0.name == "Tests.texts" }.map(\.failure) == ["22012", "22012"])
        #expect(steps.filter { $0.name == "pages" }.count == 2)
        pipeline.shutDown()
    }

    @Test("A listener hears several channels, and ends with its consumer")
    func listeners() async throws {
        let connection = try await PostgresConnection.connect(TestServer.configuration)
        var configuration = TestServer.configuration
        configuration.applicationName = "listener of a test"
        let listening: PostgresStatement =
            "SELECT 1 FROM pg_stat_activity WHERE application_name = 'listener of a test'"
        do {
            var notices = try PostgresListener(configuration, channels: ["first", "second"]).notices()
                .makeAsyncIterator()
            #expect(await notices.next() == .gap)
            for channel in ["second", "first", "third", "first"] {
                try await connection.perform {
                    try $0.execute("SELECT pg_notify($1, $2)", [.text(channel), .text("to \(channel)")])
                }
            }
            for channel in ["second", "first", "first"] {
                #expect(await notices.next() == .notification(channel: channel, payload: "to \(channel)"))
            }
            let count = try await connection.perform { try $0.query(listening) { $0.count } }
            #expect(count == 1)
        }
        let hasEnded = try await eventually {
            try await connection.perform { try $0.query(listening) { $0.count } } == 0
        }
        #expect(hasEnded)
        await connection.close()
    }
}
