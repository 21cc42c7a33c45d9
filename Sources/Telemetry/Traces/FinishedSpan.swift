package import Platform
package import Tracing

/// A span that has ended and waits to be exported.
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
    package var status: SpanStatus?
    package var events: [SpanEvent] = []
    package var links: [SpanLink] = []

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
}
