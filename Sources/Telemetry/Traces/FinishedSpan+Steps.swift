internal import Platform
internal import Tracing

extension FinishedSpan {
    /// The spans of the steps, in their order.
    package var children: [FinishedSpan] {
        guard let origin else { return [] }
        return steps.enumerated().map { index, step in
            var child = FinishedSpan(
                position: TraceParent(
                    trace: position.trace,
                    span: TraceIDGenerator.child(index, of: position.span),
                    isSampled: true,
                    isRandom: position.isRandom,
                    state: position.state
                ),
                parent: position.span,
                name: step.title,
                kind: step.isStatement ? .client : .internal,
                start: start + step.start.nanoseconds(since: origin),
                end: start + step.end.nanoseconds(since: origin)
            )
            child.fields = step.fields
            if let failure = step.failure {
                child.fields.append(("error.type", .string(failure)))
                child.status = SpanStatus(code: .error)
            }
            return child
        }
    }
}

extension ContinuousClock.Instant {
    /// Returns the time since an earlier instant, in nanoseconds; 0 for a later one.
    package func nanoseconds(since earlier: ContinuousClock.Instant) -> UInt64 {
        let (seconds, fraction) = (self - earlier).components
        return UInt64(max(0, seconds * 1_000_000_000 + fraction / 1_000_000_000))
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
    fileprivate var fields: [(name: StaticString, value: SpanAttribute)] {
        switch kind {
        case .statement, .preparation: [("db.system.name", "postgresql"), ("db.query.summary", .string(name))]
        case .wait: [("aisle.lane", .string(name))]
        case .rendering: []
        }
    }
}
