internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import Platform
internal import Telemetry
internal import Tracing

/// The trace of a request and the recorder of its steps, which become spans when the request has ended.
struct RequestTrace: Sendable {
    /// The span of the request; nil if requests are not traced.
    let span: TraceSpan?
    /// nil if no steps are recorded.
    let recorder: StepRecorder?
    /// The start of the request, by the steady clock and in nanoseconds since 1970.
    private let start: ContinuousClock.Instant
    private let time: UInt64

    /// - Parameters:
    ///   - tracer: nil for no trace.
    ///   - recordsSteps: whether steps are also recorded for requests that are not sampled.
    init?(_ tracer: AisleTracer?, recordsSteps: Bool, _ headers: HTTPFields, _ start: ContinuousClock.Instant) {
        guard tracer != nil || recordsSteps else { return nil }
        self.start = start
        let now = DefaultTracerClock.now
        time = now.nanosecondsSinceEpoch
        span = tracer.map { tracer in
            var parent = ServiceContext.topLevel
            tracer.extract(headers, into: &parent, using: TraceFields())
            return tracer.startSpan("request", context: parent, ofKind: .server, at: now)
        }
        recorder = recordsSteps || span?.isRecording == true ? StepRecorder() : nil
    }

    /// The id of the trace, for the log; nil without a trace.
    var id: String? { span?.position.trace.text }

    /// Runs the work for the request, whose steps are recorded and whose requests to other servers continue the trace.
    func run<T>(_ body: () async throws -> T) async throws -> T {
        var context = TaskContext.current
        context.steps = recorder
        if let span { context.trace = span.position }
        return try await context.run(body)
    }

    /// Ends the span of the request, and passes on its steps.
    func end(
        _ name: String,
        _ fields: [(name: StaticString, value: SpanAttribute)],
        isError: Bool,
        at end: ContinuousClock.Instant
    ) {
        guard let span else { return }
        let (steps, dropped) = recorder?.recorded ?? ([], 0)
        // The system's clock may be set during the request.
        span.end(at: time + end.nanoseconds(since: start)) { span in
            span.name = name
            span.fields = fields
            if dropped > 0 { span.fields.append(("aisle.dropped_steps", .int64(Int64(dropped)))) }
            if isError { span.status = SpanStatus(code: .error) }
            (span.steps, span.origin) = (steps, start)
        }
    }
}

/// Reads the headers of a trace.
private struct TraceFields: Extractor {
    private static let parent = HTTPField.Name(TraceParent.header)!
    private static let state = HTTPField.Name(TraceParent.stateHeader)!

    func extract(key: String, from carrier: HTTPFields) -> String? {
        carrier[key == TraceParent.header ? Self.parent : Self.state]
    }
}

/// The id of a request, which its response and the log have in common.
enum RequestID {
    static let header = HTTPField.Name("X-Request-Id")!

    /// Returns the client's own id if it has 1 to 128 printable ASCII characters, otherwise a new one.
    static func text(of request: Request) -> String {
        guard let text = request.headers[header], (1...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return UniqueID.random().text }
        return text
    }
}
