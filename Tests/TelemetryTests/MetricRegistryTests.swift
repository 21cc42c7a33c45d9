import CoreMetrics
import Telemetry
import Testing

@Suite struct MetricRegistryTests {
    private static let requests = MetricDefinition("requests_total", .counter, labels: ["path"], "Requests.")
    private static let load = MetricDefinition("load", .gauge, "Load.")
    private static let delay = MetricDefinition("delay_seconds", .histogram(bounds: [0.1, 1]), "Delay.")

    private let registry = MetricRegistry([Self.requests, Self.load, Self.delay])

    private func counter(_ path: String) -> Counter {
        Counter(label: Self.requests.name, dimensions: [("path", path)], factory: registry)
    }

    @Test("A counter, a gauge and a histogram have the text that Prometheus reads")
    func prometheusText() {
        counter("/b").increment(by: 2)
        counter("/a").increment()
        Gauge(label: Self.load.name, dimensions: [], factory: registry).record(0.5)
        let timer = Timer(label: Self.delay.name, dimensions: [], factory: registry)
        for nanoseconds in [50_000_000, 100_000_000, 500_000_000, 2_000_000_000] as [Int64] {
            timer.recordNanoseconds(nanoseconds)
        }
        #expect(
            registry.text(.prometheus) == """
                # HELP delay_seconds Delay.
                # TYPE delay_seconds histogram
                delay_seconds_bucket{le="0.1"} 2
                delay_seconds_bucket{le="1.0"} 3
                delay_seconds_bucket{le="+Inf"} 4
                delay_seconds_sum 2.65
                delay_seconds_count 4
                # HELP load Load.
                # TYPE load gauge
                load 0.5
                # HELP requests_total Requests.
                # TYPE requests_total counter
                requests_total{path="/a"} 1
                requests_total{path="/b"} 2

                """
        )
    }

    @Test("OpenMetrics names the family of a counter without its suffix, and ends with EOF")
    func openMetricsText() {
        counter("/a").increment()
        #expect(
            registry.text(.openMetrics) == """
                # HELP requests Requests.
                # TYPE requests counter
                requests_total{path="/a"} 1
                # EOF

                """
        )
    }

    @Test("Two handles with the same labels share one value")
    func sharedSeries() {
        counter("/a").increment()
        counter("/a").increment()
        #expect(registry.text(.prometheus).contains("requests_total{path=\"/a\"} 2\n"))
    }

    @Test(
        "Quotation marks, backslashes and line breaks in labels are escaped",
        arguments: [("a\"b", #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\nb"#), ("a\r\nb", #"a\nb"#), ("ž", "ž")]
    )
    func escapedLabels(_ value: String, _ escaped: String) {
        counter(value).increment()
        #expect(registry.text(.prometheus).contains("requests_total{path=\"\(escaped)\"} 1\n"))
    }

    @Test("Names are limited to the characters that scrapers accept")
    func names() {
        Counter(label: "9 lives-total", dimensions: [("a-b", "1")], factory: registry).increment()
        #expect(registry.text(.prometheus).contains("_9_lives_total{a_b=\"1\"} 1\n"))
    }

    @Test("A metric of another kind than declared is not exported, and does not replace the declared one")
    func conflictingKind() {
        counter("/a").increment()
        Gauge(label: Self.requests.name, dimensions: [("path", "/a")], factory: registry).record(9)
        Gauge(label: Self.requests.name, dimensions: [("path", "/z")], factory: registry).record(9)
        let text = registry.text(.prometheus)
        #expect(text.contains("requests_total{path=\"/a\"} 1\n"))
        #expect(!text.contains("/z"))
    }

    @Test("Counters never shrink")
    func counterIgnoresNegativeAmounts() {
        counter("/a").increment(by: 5)
        counter("/a").increment(by: -3)
        #expect(registry.text(.prometheus).contains("} 5\n"))
    }

    @Test("A destroyed metric is no longer exported")
    func destroyedMetric() {
        let metric = counter("/a")
        metric.increment()
        metric.destroy()
        #expect(!registry.text(.prometheus).contains("/a"))
    }

    @Test("Concurrent increments are all counted")
    func concurrentIncrements() async {
        let registry = registry
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let counter = Counter(label: "requests_total", dimensions: [("path", "/a")], factory: registry)
                    for _ in 0..<1000 { counter.increment() }
                }
            }
        }
        #expect(registry.text(.prometheus).contains("requests_total{path=\"/a\"} 8000\n"))
    }

    @Test(
        "The format follows the Accept header",
        arguments: [
            (nil, MetricFormat.prometheus), ("*/*", .prometheus), ("text/plain", .prometheus),
            ("application/openmetrics-text", .openMetrics),
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
                .openMetrics
            ),
            ("application/openmetrics-text;q=0,text/plain", .prometheus),
            ("application/openmetrics-text;q=0.2,text/plain;q=0.9", .prometheus), ("image/png", .prometheus),
        ] as [(String?, MetricFormat)]
    )
    func negotiation(_ accept: String?, _ format: MetricFormat) {
        #expect(MetricFormat.accepted(by: accept) == format)
    }
}
