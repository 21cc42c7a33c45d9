internal import Platform
package import Tracing

/// A tracer for W3C trace contexts, which passes ended spans of sampled traces to a receiver.
package final class AisleTracer: Tracer {
    package typealias Span = TraceSpan

    private let sampler: TraceSampler
    private let ids: TraceIDGenerator
    private let receive: @Sendable (FinishedSpan) -> Void

    /// - Parameter receive: called with each ended span; must be quick.
    package init(
        _ sampler: TraceSampler,
        ids: TraceIDGenerator = TraceIDGenerator(),
        receive: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.sampler = sampler
        self.ids = ids
        self.receive = receive
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> TraceSpan {
        let context = context()
        let parent = context.traceParent
        let trace = parent?.trace ?? ids.trace()
        let isSampled = sampler.isSampled(trace, parent: parent)
        let position = TraceParent(
            trace: trace,
            span: ids.span(),
            isSampled: isSampled,
            isRandom: parent?.isRandom ?? true,
            state: parent?.state
        )
        let start = isSampled ? instant().nanosecondsSinceEpoch : 0
        let span = FinishedSpan(
            position: position,
            parent: parent?.span,
            name: operationName,
            kind: kind,
            start: start,
            end: start
        )
        return TraceSpan(span, context, isSampled ? receive : nil)
    }

    /// Does nothing: spans are exported within a second, and at shutdown.
    package func forceFlush() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: TraceParent.header, from: carrier) else { return }
        let state = extractor.extract(key: TraceParent.stateHeader, from: carrier)
        context.traceParent = TraceParent(text, state: state) ?? context.traceParent
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let position = context.traceParent else { return }
        injector.inject(position.text, forKey: TraceParent.header, into: &carrier)
        if let state = position.state { injector.inject(state, forKey: TraceParent.stateHeader, into: &carrier) }
    }
}
