import Platform
import Synchronization
import Testing
import Tracing

@testable import Telemetry

@Suite(.timeLimit(.minutes(15))) struct AisleTracerTests {
    private final class Receiver: Sendable {
        let spans = Mutex<[FinishedSpan]>([])
        var names: [String] { spans.withLock { $0.map(\.name) } }
    }

    private struct Headers: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private struct TestError: Error {}

    private static func tracer(_ sampler: TraceSampler = TraceSampler(.always)) -> (AisleTracer, Receiver) {
        let receiver = Receiver()
        return (AisleTracer(sampler) { span in receiver.spans.withLock { $0.append(span) } }, receiver)
    }

    private static func time(_ nanoseconds: UInt64) -> DefaultTracerClock.Timestamp {
        .init(nanosecondsSinceEpoch: nanoseconds)
    }

    @Test("A trace continues from the headers of one request to those of the next")
    func continuesTraces() throws {
        let (tracer, receiver) = Self.tracer()
        var context = ServiceContext.topLevel
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        tracer.extract(["traceparent": parent, "tracestate": "v=1"], into: &context, using: Headers())
        let outer = tracer.startSpan("outer", context: context, ofKind: .server, at: Self.time(10))
        let inner = tracer.startSpan("inner", context: outer.context, ofKind: .client, at: Self.time(20))
        var headers: [String: String] = [:]
        tracer.inject(inner.context, into: &headers, using: Headers())
        inner.end(at: Self.time(30))
        outer.end(at: Self.time(40))
        let spans = receiver.spans.withLock { $0 }
        try #require(spans.map(\.name) == ["inner", "outer"])
        #expect(spans.map(\.parent?.text) == [spans[1].position.span.text, "b7ad6b7169203331"])
        #expect(Set(spans.map(\.position.trace.text)) == ["0af7651916cd43dd8448eb211c80319c"])
        #expect(headers == ["traceparent": spans[0].position.text, "tracestate": "v=1"])
        #expect(spans.map { [$0.start, $0.end] } == [[20, 30], [10, 40]])
    }

    @Test("An invalid header begins a new trace")
    func ignoresInvalidHeaders() {
        let (tracer, receiver) = Self.tracer()
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": "00-0-0-01"], into: &context, using: Headers())
        tracer.startSpan("a", context: context).end()
        #expect(receiver.spans.withLock { $0.map(\.parent) } == [nil])
    }

    @Test("A span that is not sampled is not recorded, and neither are its children; their headers say so")
    func respectsSampling() {
        let (tracer, receiver) = Self.tracer(TraceSampler(.never))
        let outer = tracer.startSpan("outer")
        let inner = tracer.startSpan("inner", context: outer.context)
        outer.attributes["a"] = 1
        #expect(!outer.isRecording)
        #expect(outer.attributes.isEmpty)
        #expect(inner.position.trace == outer.position.trace)
        #expect(inner.position.text.hasSuffix("-02"))
        inner.end()
        outer.end()
        #expect(receiver.names.isEmpty)
    }

    @Test("A span ends once, and does not change afterwards")
    func endsOnce() {
        let (tracer, receiver) = Self.tracer()
        let span = tracer.startSpan("first", at: Self.time(50))
        span.operationName = "second"
        span.attributes["a"] = 1
        span.recordError(TestError())
        span.setStatus(SpanStatus(code: .error))
        // The clock was set back.
        span.end(at: Self.time(20))
        span.operationName = "third"
        span.end()
        let spans = receiver.spans.withLock { $0 }
        #expect(spans.map(\.name) == ["second"])
        #expect(spans.map(\.end) == [50])
        #expect(spans[0].status?.code == .error)
        #expect(spans[0].events.first?.attributes.get("exception.type") == "TestError")
        #expect(!span.isRecording)
    }

    @Test("Nested spans of the tracing interface are parent and child")
    func nestsSpans() {
        let (tracer, receiver) = Self.tracer()
        tracer.withSpan("outer") { outer in
            tracer.withSpan("inner") { inner in
                #expect(inner.position.trace == outer.position.trace)
            }
        }
        #expect(receiver.names == ["inner", "outer"])
        #expect(receiver.spans.withLock { $0[0].parent == $0[1].position.span && $0[1].parent == nil })
    }
}
