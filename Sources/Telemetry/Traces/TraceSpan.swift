package import Platform
internal import Synchronization
package import Tracing

/// A span of `AisleTracer`. One that is not sampled records nothing, but its context continues the trace.
package final class TraceSpan: Span {
    private struct State {
        var span: FinishedSpan
        var isEnded = false
    }

    package let position: TraceParent
    private let base: ServiceContext
    /// Takes the ended span; nil if the span is not sampled.
    private let receive: (@Sendable (FinishedSpan) -> Void)?
    private let state: Mutex<State>

    init(_ span: FinishedSpan, _ base: ServiceContext, _ receive: (@Sendable (FinishedSpan) -> Void)?) {
        position = span.position
        self.base = base
        self.receive = receive
        state = Mutex(State(span: span))
    }

    package var context: ServiceContext {
        var context = base
        context.traceParent = position
        return context
    }

    package var isRecording: Bool { receive != nil && state.withLock { !$0.isEnded } }

    package var operationName: String {
        get { state.withLock { $0.span.name } }
        set { change { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.span.attributes } }
        set { change { $0.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

    package func addEvent(_ event: SpanEvent) { change { $0.events.append(event) } }

    package func addLink(_ link: SpanLink) { change { $0.links.append(link) } }

    /// Records the type of an error, without its text, which may quote data.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard receive != nil else { return }
        end(at: instant().nanosecondsSinceEpoch) { _ in }
    }

    /// Changes the span for the last time, and ends it, unless it is not recorded, or has ended.
    ///
    /// - Parameter end: the time in nanoseconds since 1970.
    package func end(at end: UInt64, _ change: (inout FinishedSpan) -> Void) {
        guard let receive else { return }
        let ended: FinishedSpan? = state.withLock { state in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            change(&state.span)
            // The system's clock may be set back.
            state.span.end = max(end, state.span.start)
            return state.span
        }
        if let ended { receive(ended) }
    }

    /// Changes the span unless it is not recorded, or has ended.
    private func change(_ body: (inout FinishedSpan) -> Void) {
        guard receive != nil else { return }
        state.withLock { if !$0.isEnded { body(&$0.span) } }
    }
}
