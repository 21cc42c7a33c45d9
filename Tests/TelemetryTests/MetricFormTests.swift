import CoreMetrics
import Testing

@testable import Telemetry

/// The complete text of metrics of every kind.
@Suite("Forms of metrics") struct MetricFormTests {
    private let registry = MetricRegistry([
        MetricDefinition("load", .gauge, "A \"load\" of \\ and\nmore."), MetricDefinition("size", .gauge, ""),
        MetricDefinition("done", .counter, "Done."),
        MetricDefinition("wait", .histogram(bounds: [1, 2.5]), labels: ["a"], "Waits."),
    ])

    @Test("A help text is escaped as its format requires, and an empty one is left out")
    func help() {
        Gauge(label: "load", dimensions: [], factory: registry).record(1)
        Gauge(label: "size", dimensions: [], factory: registry).record(2)
        let samples = "# TYPE load gauge\nload 1\n# TYPE size gauge\nsize 2\n"
        #expect(registry.text(.prometheus) == "# HELP load A \"load\" of \\\\ and\\nmore.\n" + samples)
        #expect(registry.text(.openMetrics) == "# HELP load A \\\"load\\\" of \\\\ and\\nmore.\n" + samples + "# EOF\n")
    }

    @Test("A gauge grows and shrinks, and a counter only grows until it is reset")
    func numbers() {
        let meter = registry.makeMeter(label: "load", dimensions: [])
        meter.set(5 as Int64)
        meter.increment(by: 2.5)
        meter.decrement(by: 1)
        #expect(registry.text(.prometheus).contains("\nload 6.5\n"))
        meter.set(-0.5)
        #expect(registry.text(.prometheus).contains("\nload -0.5\n"))
        let recorder = registry.makeRecorder(label: "size", dimensions: [], aggregate: false)
        recorder.record(7 as Int64)
        #expect(registry.text(.prometheus).contains("\nsize 7\n"))
        recorder.record(8.25)
        #expect(registry.text(.prometheus).contains("\nsize 8.25\n"))
        let counter = registry.makeFloatingPointCounter(label: "done", dimensions: [])
        counter.increment(by: 1.5)
        counter.increment(by: -1)
        #expect(registry.text(.prometheus).contains("\ndone 1.5\n"))
        counter.reset()
        #expect(registry.text(.prometheus).contains("\ndone 0\n"))
    }

    @Test(
        "Numbers without digits have the names of the formats",
        arguments: [
            (Double.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (1e18, "1000000000000000000"),
            (1e19, "1e+19"),
        ] as [(Double, String)]
    )
    func names(_ value: Double, _ text: String) {
        registry.makeMeter(label: "load", dimensions: []).set(value)
        #expect(registry.text(.prometheus).contains("\nload \(text)\n"))
    }

    @Test("A distribution counts a value in the first bucket that it does not exceed, and ignores what is not a number")
    func histograms() {
        let recorder = registry.makeRecorder(label: "wait", dimensions: [("a", "b")], aggregate: true)
        for value in [0.5, 1, 1.5, 2.5, 2.75, .nan] { recorder.record(value) }
        recorder.record(3 as Int64)
        registry.makeTimer(label: "wait", dimensions: [("a", "b")]).recordNanoseconds(1_500_000_000)
        #expect(
            registry.text(.prometheus) == """
                # HELP wait Waits.
                # TYPE wait histogram
                wait_bucket{a="b",le="1.0"} 2
                wait_bucket{a="b",le="2.5"} 5
                wait_bucket{a="b",le="+Inf"} 7
                wait_sum{a="b"} 12.75
                wait_count{a="b"} 7

                """
        )
    }

    @Test("A timer that is not declared has the buckets of requests, and no help text")
    func undeclared() {
        registry.makeTimer(label: "other", dimensions: []).recordNanoseconds(1)
        let bounds = registry.text(.prometheus).split(separator: "\n").compactMap { line in
            line.split(separator: "\"").dropFirst().first.map(String.init)
        }
        let expected = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
        #expect(bounds == expected.map { "\($0)" } + ["+Inf"])
        #expect(registry.text(.prometheus).hasPrefix("# TYPE other histogram\n"))
    }

    @Test("Waits and batches have the documented buckets")
    func bounds() {
        #expect(
            MetricDefinition.Kind.waitSeconds
                == .histogram(bounds: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 3])
        )
        #expect(
            MetricDefinition.Kind.batchSeconds == .histogram(bounds: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800, 3600])
        )
        #expect(MetricFormat.prometheus.contentType == "text/plain; version=0.0.4; charset=utf-8")
        #expect(MetricFormat.openMetrics.contentType == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    }

    @Test("Metrics of every kind are no longer exported once they are destroyed")
    func destroys() {
        let meter = registry.makeMeter(label: "load", dimensions: [])
        let gauge = registry.makeRecorder(label: "size", dimensions: [], aggregate: false)
        let counter = registry.makeFloatingPointCounter(label: "done", dimensions: [])
        let timer = registry.makeTimer(label: "wait", dimensions: [("a", "b")])
        #expect(registry.text(.prometheus).split(separator: "# TYPE").count == 5)
        registry.destroyMeter(meter)
        registry.destroyRecorder(gauge)
        registry.destroyFloatingPointCounter(counter)
        registry.destroyTimer(timer)
        #expect(registry.text(.prometheus) == "")
    }

    @Test(
        "Names have letters, digits and underscores",
        arguments: [
            ("", "_"), ("a", "a"), ("0", "_0"), ("9z", "_9z"), ("/0:9@AZ[`az{_", "_0_9_AZ__az__"), ("é", "__"),
        ]
    )
    func identifiers(_ name: String, _ identifier: String) {
        #expect(LabelSet.identifier(name) == identifier)
    }

    @Test("Labels are separated by commas, in their order")
    func labels() {
        #expect(LabelSet([("a", "1"), ("b", "2")]).text == #"a="1",b="2""#)
        #expect(LabelSet([]).adding("c", "3").text == #"c="3""#)
        #expect(LabelSet([("a", "1")]).adding("c", "3").text == #"a="1",c="3""#)
        #expect(LabelSet([("a", "1")]) < LabelSet([("a", "2")]) && !(LabelSet([("a", "1")]) < LabelSet([("a", "1")])))
    }

    @Test(
        "A scraper gets the format that it prefers, and OpenMetrics if it prefers none",
        arguments: [
            ("application/openmetrics-text;q=0.5,text/plain;q=0.5", MetricFormat.openMetrics),
            ("application/openmetrics-text;q=0.5,*/*;q=0.6", .prometheus),
            ("application/openmetrics-text;q=0.5,text/*;q=0.6", .prometheus),
            ("APPLICATION/OPENMETRICS-TEXT ; version=1.0.0 ; q = 0.7 , text/plain;q=0.6", .openMetrics),
            ("text/plain;q=0.9,text/plain;q=0.1,application/openmetrics-text;q=0.5", .prometheus),
            ("application/openmetrics-text;q=0.1,application/openmetrics-text;q=0.9,text/plain;q=0.5", .openMetrics),
            ("application/openmetrics-text;q=x,text/plain", .openMetrics),
        ] as [(String, MetricFormat)]
    )
    func formats(_ accept: String, _ format: MetricFormat) {
        #expect(MetricFormat.accepted(by: accept) == format)
    }
}
