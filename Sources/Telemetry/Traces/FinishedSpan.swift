package import Platform
package import Tracing

/// A span that has ended and waits to be exported, with the steps that become its children.
package struct FinishedSpan: Sendable {
    package var position: TraceParent
    /// The parent's id; nil for the first span of a trace.
    package var parent: SpanID?
    package var name: String
    package var kind: SpanKind
    /// The times, in nanoseconds since 1970.
    package var start: UInt64
    package var end: UInt64
    package var attributes = SpanAttributes()
    /// Further attributes. An array takes less time than a dictionary, and requests are frequent.
    package var fields: [(name: StaticString, value: SpanAttribute)] = []
    package var status: SpanStatus?
    package var events: [SpanEvent] = []
    package var links: [SpanLink] = []
    /// The recorded steps, whose times are relative to the start of the span.
    package var steps: [StepRecorder.Step] = []
    /// The time of the steady clock at the start of the span; only for a span with steps.
    package var origin: ContinuousClock.Instant?

    package init(
        position: TraceParent,
        parent: SpanID?,
        name: String,
        kind: SpanKind,
        start: UInt64,
        end: UInt64
    ) {
        self.position = position
        self.parent = parent
        self.name = name
        self.kind = kind
        self.start = start
        self.end = end
    }

    /// The number of spans, including those of the steps.
    package var count: Int { 1 + steps.count }
}
