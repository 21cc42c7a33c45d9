import Foundation
import Logging
import Platform
import Synchronization
import Testing
import Tracing

@testable import Telemetry
@testable import WebClient

/// The bounds and the exact values of the parts of traces.
@Suite("Parts of traces", .timeLimit(.minutes(15))) struct TracePartTests {
    /// Numbers in a given order.
    private struct Numbers: RandomNumberGenerator {
        var rest: [UInt64]
        mutating func next() -> UInt64 { rest.removeFirst() }
    }

    /// The output function of SplitMix64.
    private static func mix(_ number: UInt64) -> UInt64 {
        let a = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        let b = (a ^ (a >> 27)) &* 0x94D0_49BB_1331_11EB
        return b ^ (b >> 31)
    }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    @Test("Ids are a counter in the steps of SplitMix64, mixed with a seed for each kind")
    func ids() {
        var numbers = Numbers(rest: [11, 22, 33, 44])
        let ids = TraceIDGenerator(using: &numbers)
        let first = ids.trace()
        #expect(first.high == Self.mix(44 ^ 11))
        #expect(first.low == Self.mix(44 + 22))
        let second = 44 &+ Self.step
        #expect(ids.span().value == Self.mix(second ^ 33))
        let third = second &+ Self.step
        #expect(ids.trace() == TraceID(high: Self.mix(third ^ 11), low: Self.mix(third &+ 22)))
        let parent = SpanID(7)!
        #expect(TraceIDGenerator.child(0, of: parent).value == Self.mix(7 &+ Self.step))
        #expect(TraceIDGenerator.child(2, of: parent).value == Self.mix(7 &+ 3 &* Self.step))
        // Zeros are not ids.
        #expect(TraceIDGenerator.child(0, of: SpanID(0 &- Self.step)!) == SpanID(1)!)
        var zeros = Numbers(rest: Array(repeating: 0, count: 8))
        let (traces, spans) = (TraceIDGenerator(using: &zeros), TraceIDGenerator(using: &zeros))
        #expect(traces.trace() == TraceID(high: 1, low: 1)!)
        #expect(spans.span() == SpanID(1)!)
    }

    @Test(
        "A ratio chooses the ids whose number without the last bit is below it",
        arguments: [
            (0.25, 1 << 62, false), (0.25, 1 << 61, true), (0.5, 1 << 63, false), (0.5, 1 << 62, true), (0, 0, false),
            (1, UInt64.max, true), (0.999, UInt64.max, false),
        ] as [(Double, UInt64, Bool)]
    )
    func ratios(_ ratio: Double, _ low: UInt64, _ isSampled: Bool) {
        #expect(TraceSampler(.ratio(ratio)).isSampled(TraceID(high: 1, low: low)!, parent: nil) == isSampled)
    }

    @Test(
        "The parts of a duration become nanoseconds, and a negative one is none",
        arguments: [
            (.seconds(1.5), 1_500_000_000), (.nanoseconds(1), 1), (.seconds(3), 3_000_000_000), (.seconds(-1), 0),
        ]
            as [(Duration, UInt64)]
    )
    func nanoseconds(_ duration: Duration, _ nanoseconds: UInt64) {
        let origin = ContinuousClock.now
        #expect((origin + duration).nanoseconds(since: origin) == nanoseconds)
    }

    @Test(
        "Statuses from 200 to 299 are a success",
        arguments: [(199, false), (200, true), (299, true), (300, false), (428, false), (430, false)]
    )
    func statuses(_ status: Int, _ isAccepted: Bool) {
        let result = ExportResult(HTTPFetchResponse(head: HTTPFetchHead(status: status, headers: []), body: []))
        #expect(result == (isAccepted ? .accepted() : .refused(reason: "status \(status)")))
    }

    @Test("Failures of the connection are temporary; a long answer is one, and other failures are final")
    func failures() {
        func result(_ kind: HTTPFetchError.Kind) -> ExportResult {
            ExportResult(HTTPFetchError(kind: kind, description: "d"))
        }
        for kind in [HTTPFetchError.Kind.connection, .timeout] {
            #expect(result(kind) == .retryable(reason: "d", after: nil))
        }
        #expect(result(.bodyTooLarge) == .accepted())
        for kind in [HTTPFetchError.Kind.invalidRequest, .cancelled] { #expect(result(kind) == .refused(reason: "d")) }
        func delay(_ text: String) -> ExportResult {
            let head = HTTPFetchHead(status: 429, headers: [("Other", "1"), ("Retry-After", text)])
            return ExportResult(HTTPFetchResponse(head: head, body: []))
        }
        for (text, seconds) in [("59", 59), ("60", 60), ("61", 60)] {
            #expect(delay(text) == .retryable(reason: "status 429", after: .seconds(seconds)))
        }
        #expect(ExportResult.attemptLimit == 5)
    }

    // MARK: - Spans

    private final class Receiver: Sendable {
        let spans = Mutex<[FinishedSpan]>([])
        func tracer(_ sampler: TraceSampler = TraceSampler(.always)) -> AisleTracer {
            AisleTracer(sampler) { span in self.spans.withLock { $0.append(span) } }
        }
    }

    private struct Headers: Extractor {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
    }

    private static func time(_ nanoseconds: UInt64) -> DefaultTracerClock.Timestamp {
        .init(nanosecondsSinceEpoch: nanoseconds)
    }

    @Test("A span keeps its kind, events, links and last change, and what follows its end is lost")
    func spans() throws {
        let receiver = Receiver()
        var context = ServiceContext.topLevel
        let parent = TraceParent(trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, isSampled: true, isRandom: false)
        context.traceParent = parent
        let span = receiver.tracer().startSpan("a", context: context, ofKind: .producer, at: Self.time(5))
        #expect(span.isRecording && span.operationName == "a" && span.attributes.isEmpty)
        #expect(!span.position.isRandom && span.position.isSampled && span.position.trace == parent.trace)
        #expect(span.context.traceParent == span.position)
        span.addLink(SpanLink(context: context, attributes: [:]))
        span.addEvent(SpanEvent(name: "e"))
        span.recordError(CancellationError(), attributes: ["k": 1], at: Self.time(6))
        span.end(at: 7) { $0.name = "b" }
        span.end(at: 8) { $0.name = "c" }
        span.addEvent(SpanEvent(name: "late"))
        span.addLink(SpanLink(context: context, attributes: [:]))
        span.setStatus(SpanStatus(code: .error))
        span.attributes["late"] = 1
        span.recordError(CancellationError())
        let spans = receiver.spans.withLock { $0 }
        try #require(spans.count == 1)
        #expect(spans[0].name == "b" && spans[0].kind == .producer && spans[0].parent == SpanID(3)!)
        #expect(spans[0].start == 5 && spans[0].end == 7 && spans[0].status == nil)
        #expect(spans[0].links.count == 1 && spans[0].events.map(\.name) == ["e", "exception"])
        #expect(spans[0].events[1].nanosecondsSinceEpoch == 6)
        #expect(spans[0].events[1].attributes.get("exception.type") == "CancellationError")
        #expect(spans[0].events[1].attributes.get("k") == 1)
        #expect(spans[0].count == 1)
    }

    @Test("A new trace is random; a span that is not sampled takes no time, error or last change")
    func unsampledSpans() {
        let receiver = Receiver()
        #expect(receiver.tracer().startSpan("a", context: .topLevel).position.isRandom)
        let tracer = receiver.tracer(TraceSampler(.never))
        func fail() -> DefaultTracerClock.Timestamp {
            Issue.record("the clock was read")
            return Self.time(0)
        }
        let span = tracer.startSpan("a", context: .topLevel, at: fail())
        span.recordError(CancellationError(), attributes: [:], at: fail())
        span.end(at: 5) { _ in Issue.record("the span was changed") }
        span.end(at: fail())
        #expect(receiver.spans.withLock { $0.isEmpty })
    }

    @Test("An invalid header leaves the trace of the context, and a request outside a trace has no headers")
    func headers() {
        let tracer = Receiver().tracer()
        var context = ServiceContext.topLevel
        let parent = TraceParent(trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, isSampled: true, state: "a=b")
        context.traceParent = parent
        tracer.extract(["traceparent": "no"], into: &context, using: Headers())
        #expect(context.traceParent == parent)
        tracer.extract([:], into: &context, using: Headers())
        #expect(context.traceParent == parent)
        let fetch = HTTPFetch("GET", "http://a", headers: [("x", "y")])
        #expect(fetch.continuingTrace().headers.map { $0.name } == ["x"])
        let continued = TaskContext(trace: parent).run { fetch.continuingTrace() }
        let expected = ["x: y", "traceparent: \(parent.text)", "tracestate: a=b"]
        #expect(continued.headers.map { "\($0.name): \($0.value)" } == expected)
        let other = ServiceContext.withValue(context) { fetch.continuingTrace() }
        #expect(other.headers.map { "\($0.name): \($0.value)" } == expected)
        let plain = TraceParent(trace: parent.trace, span: parent.span, isSampled: true)
        #expect(TaskContext(trace: plain).run { fetch.continuingTrace() }.headers.count == 2)
    }

    // MARK: - JSON

    @Test("Spans of every kind, and values of every type, have their numbers and names")
    func encoding() {
        let encoder = SpanEncoder(resource: [("a", "1"), ("b", "2")], version: "1")
        func text(_ spans: [FinishedSpan]) -> String { String(decoding: encoder.encode(spans), as: UTF8.self) }
        #expect(
            text([]).hasPrefix(
                #"{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":"1"}},{"key":"b","value":{"stringValue":"2"}}]}"#
            )
        )
        for (kind, number) in [
            (SpanKind.internal, 1), (.server, 2), (.client, 3), (.producer, 4), (.consumer, 5),
        ] as [(SpanKind, Int)] {
            var span = FinishedSpan.test()
            span.kind = kind
            #expect(text([span]).contains(#""kind":\#(number),"#))
        }
        let values: [(SpanAttribute, String)] = [
            (.double(-.infinity), #"{"doubleValue":"-Infinity"}"#), (.bool(false), #"{"boolValue":false}"#),
            (.int64(10), #"{"intValue":"10"}"#), (.int64(.max), #"{"intValue":"9223372036854775807"}"#),
            (.int32Array([-1]), #"{"arrayValue":{"values":[{"intValue":"-1"}]}}"#),
            (.doubleArray([1, 2]), #"{"arrayValue":{"values":[{"doubleValue":1.0},{"doubleValue":2.0}]}}"#),
            (.boolArray([true]), #"{"arrayValue":{"values":[{"boolValue":true}]}}"#),
            (.stringArray(["a", "b"]), #"{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}"#),
            (.stringConvertible(UInt8(7)), #"{"stringValue":"7"}"#),
            (.stringConvertibleArray([UInt8(7)]), #"{"arrayValue":{"values":[{"stringValue":"7"}]}}"#),
        ]
        for (value, expected) in values {
            var span = FinishedSpan.test()
            span.attributes.set("k", value: value)
            #expect(text([span]).contains(#""attributes":[{"key":"k","value":"# + expected + "}]"))
        }
        var span = FinishedSpan.test()
        span.fields = [("f", .string("1")), ("g", .string("2"))]
        span.attributes = ["k": "3"]
        span.events = [
            SpanEvent(name: "e", at: Self.time(12), attributes: ["k": 1]), SpanEvent(name: "g", at: Self.time(0)),
        ]
        #expect(
            text([span]).hasSuffix(
                #""attributes":[{"key":"f","value":{"stringValue":"1"}},{"key":"g","value":{"stringValue":"2"}},"#
                    + #"{"key":"k","value":{"stringValue":"3"}}],"events":[{"timeUnixNano":"12","name":"e","#
                    + #""attributes":[{"key":"k","value":{"intValue":"1"}}]},{"timeUnixNano":"0","name":"g"}]}]}]}]}"#
            )
        )
    }

    @Test("Names of any length and any characters are written as they are")
    func names() throws {
        let encoder = SpanEncoder(resource: [], version: "1")
        let characters = String(String.UnicodeScalarView((0..<0x80).map { Unicode.Scalar(UInt8($0)) })) + "é🍎"
        for name in [characters, String(repeating: "é\"", count: 50_000), "", String(repeating: "x", count: 3000)] {
            let bytes = encoder.encode([.test(name: name), .test(3, name: "last")])
            let json = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            let resource = (json?["resourceSpans"] as? [[String: Any]])?.first
            let scope = (resource?["scopeSpans"] as? [[String: Any]])?.first
            let names = (scope?["spans"] as? [[String: Any]])?.compactMap { $0["name"] as? String }
            #expect(names == [name, "last"])
        }
    }

    // MARK: - Options

    @Test(
        "Timeouts, endpoints and ratios may have these values",
        arguments: [
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "600000"),
            ("OTEL_TRACES_SAMPLER_ARG", "0"), ("OTEL_TRACES_SAMPLER_ARG", "1"), ("OTEL_TRACES_EXPORTER", "otlp"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"), ("OTEL_EXPORTER_OTLP_HEADERS", " , "),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=!~"),
        ]
    )
    func validVariables(_ name: String, _ value: String) throws {
        #expect(try TraceOptions(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", name: value], version: "1") != nil)
    }

    @Test(
        "An error of a variable says the rule, and the value unless it may be secret",
        arguments: [
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "600001", "a number of milliseconds between 1 and 600000 (got “600001”)"),
            ("OTEL_SDK_DISABLED", "yes", "true or false (got “yes”)"),
            ("OTEL_TRACES_EXPORTER", "x", "otlp or none (got “x”)"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/json (got “grpc”)"),
            ("OTEL_TRACES_SAMPLER_ARG", "-0.1", "a number from 0 to 1 (got “-0.1”)"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http:///a", "a URL that begins with http:// or https://"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://?a", "a URL that begins with http:// or https://"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://é", "a URL that begins with http:// or https://"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a\u{7F}", "a URL that begins with http:// or https://"),
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT", "http://a/#b",
                "a URL without a query, because /v1/traces is appended; use OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
            ),
            (
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://u:p@a",
                "a URL without a user and password; use OTEL_EXPORTER_OTLP_HEADERS"
            ),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%4", "a list of name=value, separated by commas and percent-encoded"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%-1", "a list of name=value, separated by commas and percent-encoded"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%1F", "a list of name=value, separated by commas and percent-encoded"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%7F", "a list of name=value, separated by commas and percent-encoded"),
        ]
    )
    func invalidVariables(_ name: String, _ value: String, _ rule: String) {
        let error = #expect(throws: TraceOptionsError.self) { try TraceOptions([name: value], version: "1") }
        #expect(error?.description == "\(name) must be \(rule)")
    }

    @Test("The variables for traces take precedence, and values are read without spaces around them")
    func precedence() throws {
        let given = [
            "OTEL_EXPORTER_OTLP_ENDPOINT": " HTTPS://c/otlp// ", "OTEL_EXPORTER_OTLP_TIMEOUT": "1",
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": " 2 ", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=%20+%7e%41,b=",
            "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_RESOURCE_ATTRIBUTES": "a=1,service.version=2,a=3",
        ]
        let options = try #require(try TraceOptions(given, version: "1"))
        #expect(options.endpoint == "HTTPS://c/otlp/v1/traces")
        #expect(options.timeout == .milliseconds(2))
        #expect(options.headers.map { "\($0.name)=\($0.value)" } == ["a= +~A", "b="])
        #expect(options.sampler == TraceSampler(.ratio(1)))
        #expect(
            options.resource.map { "\($0.name)=\($0.value)" } == ["service.name=aisle", "service.version=2", "a=3"]
        )
        #expect(try TraceOptions(given.merging(["OTEL_TRACES_EXPORTER": "none"]) { $1 }, version: "1") == nil)
        let own = given.merging(["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://own/@"]) { $1 }
        #expect(try TraceOptions(own, version: "1")?.endpoint == "http://own/@")
        let plain = TraceOptions(endpoint: "e")
        #expect(plain.resource.map { "\($0.name)=\($0.value)" } == ["service.name=aisle"])
        #expect(plain.timeout == .seconds(10) && plain.sampler == TraceSampler(.always) && plain.headers.isEmpty)
    }

    // MARK: - Exports

    /// A log that keeps its messages.
    private final class Messages: Sendable {
        let all = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let messages: Messages
        var metadata: Logger.Metadata = [:]
        var metadataProvider: Logger.MetadataProvider?
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            messages.all.withLock { $0.append("\(event.level): \(event.message)") }
        }
    }

    @Test("Lost spans are reported once a minute, with their numbers, and requests are limited")
    func warnings() async {
        let messages = Messages()
        var options = TraceOptions(endpoint: "http://c")
        options.timeout = .seconds(7)
        let sent = Sent()
        let exporter = SpanExporter(
            options,
            version: "1",
            logger: Logger(label: "test") { _ in Handler(messages: messages) },
            send: { fetch throws(HTTPFetchError) in
                sent.all.withLock { $0.append(fetch) }
                throw HTTPFetchError(kind: .invalidRequest, description: "bad")
            },
            sleep: { _ in try await Task.sleep(for: .seconds(3600)) }
        )
        for id in 1...(SpanExporter.queueLimit + 3) { exporter.receive(.test(UInt64(id))) }
        exporter.stop()
        await exporter.run()
        #expect(exporter.counts == .init(dropped: 3, failed: SpanExporter.queueLimit))
        #expect(
            messages.all.withLock { $0 } == [
                "warning: cannot send spans to the trace collector: bad; lost so far: 512 not sent, 3 beyond the queue's limit"
            ]
        )
        let all = sent.all.withLock { $0 }
        #expect(all.count == 4)
        #expect(all.allSatisfy { $0.timeout == .seconds(7) && $0.bodyLimit == 64 << 10 && $0.url == "http://c" })
        #expect(SpanExporter.queueLimit == 2048 && SpanExporter.batchSize == 512)
    }

    private final class Sent: Sendable {
        let all = Mutex<[HTTPFetch]>([])
    }
}
