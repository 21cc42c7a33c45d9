import Testing

@testable import Telemetry
@testable import WebClient

@Suite(.timeLimit(.minutes(15))) struct SpanExporterTests {
    private static func add(_ count: Int, to exporter: SpanExporter) {
        for id in 0..<count { exporter.receive(.test(UInt64(id + 1))) }
    }

    /// Runs an exporter for a test, and stops it.
    private static func running(_ exporter: SpanExporter, _ body: () async -> Void) async {
        let task = Task { await exporter.run() }
        await body()
        exporter.stop()
        await task.value
    }

    @Test("The remaining spans are sent at shutdown, in batches and with the configured headers")
    func flushesAtShutdown() async {
        let collector = FakeCollector()
        let exporter = collector.exporter { $0.headers = [("api-key", "secret")] }
        Self.add(1300, to: exporter)
        exporter.stop()
        await exporter.run()
        #expect(collector.spanCounts == [512, 512, 276])
        #expect(exporter.counts == .init(exported: 1300))
        let request = collector.requests.first
        #expect(request?.method == "POST")
        #expect(request?.url == "http://collector/v1/traces")
        #expect(request?.headers.map { "\($0): \($1)" } == ["Content-Type: application/json", "api-key: secret"])
    }

    @Test("A complete batch is sent at once; without spans, nothing is sent")
    func sendsCompleteBatches() async {
        let collector = FakeCollector()
        let exporter = collector.exporter()
        await Self.running(exporter) {
            Self.add(512, to: exporter)
            await collector.waitForRequests(1)
        }
        #expect(collector.spanCounts == [512])
        #expect(exporter.counts == .init(exported: 512))
    }

    @Test("A batch is sent again after a temporary failure, as late as the collector requests")
    func retries() async {
        let collector = FakeCollector([.status(503, retryAfter: "7"), .failure, .status(429)])
        let exporter = collector.exporter()
        await Self.running(exporter) {
            Self.add(512, to: exporter)
            await collector.waitForRequests(4)
        }
        #expect(collector.spanCounts == [512, 512, 512, 512])
        #expect(Set(collector.requests.map { $0.body ?? [] }).count == 1)
        #expect(exporter.counts == .init(exported: 512))
        let pauses = collector.pauses
        #expect(pauses.count == 3)
        #expect(pauses.first.map { (.seconds(7)...(.milliseconds(7700))).contains($0) } == true)
        #expect(pauses.dropFirst().first.map { (.seconds(1)...(.seconds(2))).contains($0) } == true)
    }

    @Test("Spans that the collector rejects count as failed, at most all of them", arguments: [(12, 500), (9999, 0)])
    func countsRejectedSpans(rejected: Int, exported: Int) async {
        let collector = FakeCollector([.rejection(spans: rejected)])
        let exporter = collector.exporter()
        await Self.running(exporter) {
            Self.add(512, to: exporter)
            await collector.waitForRequests(1)
        }
        #expect(collector.requests.count == 1)
        #expect(exporter.counts == .init(exported: exported, failed: 512 - exported))
    }

    @Test("A batch is given up after five attempts, and the next one is sent")
    func givesUp() async {
        let collector = FakeCollector(Array(repeating: .failure, count: 5))
        let exporter = collector.exporter()
        await Self.running(exporter) {
            Self.add(512, to: exporter)
            await collector.waitForRequests(5)
            Self.add(512, to: exporter)
            await collector.waitForRequests(6)
        }
        #expect(collector.requests.count == 6)
        #expect(exporter.counts == .init(exported: 512, failed: 512))
    }

    @Test("A refused batch is not sent again", arguments: [400, 401, 404, 500])
    func doesNotRepeatRefusedBatches(status: Int) async {
        let collector = FakeCollector([.status(status)])
        let exporter = collector.exporter()
        Self.add(3, to: exporter)
        exporter.stop()
        await exporter.run()
        #expect(collector.requests.count == 1)
        #expect(exporter.counts == .init(failed: 3))
    }

    @Test("While a collector does not answer, spans beyond the limit are dropped and counted")
    func dropsBeyondTheLimit() async {
        let collector = FakeCollector([.silence])
        let exporter = collector.exporter()
        let task = Task { await exporter.run() }
        Self.add(512, to: exporter)
        await collector.waitForRequests(1)
        Self.add(SpanExporter.queueLimit + 100, to: exporter)
        #expect(exporter.counts == .init(dropped: 100))
        task.cancel()
        await task.value
        #expect(exporter.counts.dropped == 100)
        #expect(exporter.counts.failed >= 512)
    }

    @Test("At shutdown, a pause before another attempt ends, and a failed batch is given up")
    func doesNotWaitAtShutdown() async {
        let collector = FakeCollector(Array(repeating: .failure, count: 100))
        let exporter = collector.exporter()
        Self.add(700, to: exporter)
        exporter.stop()
        await exporter.run()
        #expect(collector.pauses.isEmpty)
        #expect(exporter.counts == .init(failed: 700))
    }
}
