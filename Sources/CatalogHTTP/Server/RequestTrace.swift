internal import HTTPTypes
internal import Platform
internal import Tracing

/// The trace of a request and the recorder of its steps, which become spans when the request ends.
struct RequestTrace: Sendable {
    /// The span of the request, and the tracer for the spans of its steps.
    struct Tracing: Sendable {
        let tracer: any Tracer
        let span: any Span
        let context: ServiceContext
        /// The response header that continues the trace; nil if the tracer has none.
        let header: String?
        /// The start of the span, in nanoseconds since 1970.
        let start: UInt64
    }

    let tracing: Tracing?
    /// nil if no steps are recorded.
    let recorder: StepRecorder?
    let start: ContinuousClock.Instant

    /// - Parameters:
    ///   - tracer: nil for no trace.
    ///   - recordsSteps: whether steps are also recorded for requests that are not sampled.
    init?(_ tracer: (any Tracer)?, recordsSteps: Bool, _ headers: HTTPFields, _ start: ContinuousClock.Instant) {
        guard tracer != nil || recordsSteps else { return nil }
        self.start = start
        tracing = tracer.map { Self.begin($0, headers) }
        recorder = recordsSteps || tracing?.span.isRecording == true ? StepRecorder() : nil
    }

    private static func begin(_ tracer: any Tracer, _ headers: HTTPFields) -> Tracing {
        var parent = ServiceContext.topLevel
        tracer.extract(headers, into: &parent, using: TraceFields())
        let now = DefaultTracerClock.now
        let span = tracer.startSpan("request", context: parent, ofKind: .server, at: now)
        let context = span.context
        var fields = HTTPFields()
        tracer.inject(context, into: &fields, using: TraceFields())
        return Tracing(
            tracer: tracer,
            span: span,
            context: context,
            header: fields[TraceFields.parent],
            start: now.nanosecondsSinceEpoch
        )
    }

    /// The id of the trace, for the log; nil without a trace.
    var id: String? { tracing?.header.map { String($0.dropFirst(3).prefix(32)) } }

    /// Runs the work for the request, whose steps are recorded and whose requests to other servers continue the trace.
    func run<T>(_ body: () async throws -> T) async throws -> T {
        guard let context = tracing?.context else {
            return try await StepRecorder.$current.withValue(recorder, operation: body)
        }
        return try await StepRecorder.$current.withValue(recorder) {
            try await ServiceContext.$current.withValue(context, operation: body)
        }
    }

    /// Ends the span of the request, and makes those of its steps.
    func end(_ name: String, _ attributes: SpanAttributes, isError: Bool, at end: ContinuousClock.Instant) {
        guard let tracing, tracing.span.isRecording else { return }
        let (steps, dropped) = recorder?.recorded ?? ([], 0)
        for step in steps { record(step, tracing) }
        tracing.span.operationName = name
        var attributes = attributes
        if dropped > 0 { attributes["aisle.dropped_steps"] = dropped }
        tracing.span.attributes = attributes
        if isError { tracing.span.setStatus(SpanStatus(code: .error)) }
        tracing.span.end(at: time(end, tracing))
    }

    private func record(_ step: StepRecorder.Step, _ tracing: Tracing) {
        let span = tracing.tracer.startSpan(
            step.title,
            context: tracing.context,
            ofKind: step.isStatement ? .client : .internal,
            at: time(step.start, tracing)
        )
        var attributes = step.attributes
        if let failure = step.failure {
            attributes["error.type"] = failure
            span.setStatus(SpanStatus(code: .error))
        }
        span.attributes = attributes
        span.end(at: time(step.end, tracing))
    }

    /// Returns a time of the steady clock, relative to the start of the request. The system's clock may be set meanwhile.
    private func time(_ instant: ContinuousClock.Instant, _ tracing: Tracing) -> DefaultTracerClock.Timestamp {
        let (seconds, fraction) = (instant - start).components
        let elapsed = max(0, seconds * 1_000_000_000 + fraction / 1_000_000_000)
        return .init(nanosecondsSinceEpoch: tracing.start + UInt64(elapsed))
    }
}

/// Reads and writes the headers of a trace.
private struct TraceFields: Extractor, Injector {
    static let parent = HTTPField.Name(TraceParent.header)!
    private static let state = HTTPField.Name(TraceParent.stateHeader)!

    func extract(key: String, from carrier: HTTPFields) -> String? { Self.name(key).flatMap { carrier[$0] } }

    func inject(_ value: String, forKey key: String, into carrier: inout HTTPFields) {
        if let name = Self.name(key) { carrier[name] = value }
    }

    private static func name(_ key: String) -> HTTPField.Name? {
        switch key {
        case TraceParent.header: parent
        case TraceParent.stateHeader: state
        default: HTTPField.Name(key)
        }
    }
}

extension StepRecorder.Step {
    fileprivate var isStatement: Bool { kind == .statement || kind == .preparation }

    /// The name of the step's span.
    fileprivate var title: String {
        switch kind {
        case .statement: name
        case .preparation: "prepare \(name)"
        case .wait: "wait \(name)"
        case .rendering: "render \(name)"
        }
    }

    /// The attributes of the step's span. Source: OpenTelemetry semantic conventions for database calls.
    fileprivate var attributes: SpanAttributes {
        switch kind {
        case .statement, .preparation: ["db.system.name": "postgresql", "db.query.summary": .string(name)]
        case .wait: ["aisle.lane": .string(name)]
        case .rendering: [:]
        }
    }
}
