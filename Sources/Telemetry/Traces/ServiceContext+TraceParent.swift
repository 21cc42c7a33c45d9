package import Platform
package import ServiceContextModule
package import WebClient

private enum TraceParentKey: ServiceContextKey {
    typealias Value = TraceParent
    static let nameOverride: String? = "traceparent"
}

extension ServiceContext {
    /// The position in a trace that new spans continue; nil outside a trace.
    package var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }
}

extension HTTPFetch {
    /// Returns the request with the headers that continue the current trace, if there is one.
    package func continuingTrace() -> HTTPFetch {
        guard let position = TaskContext.current.trace ?? ServiceContext.current?.traceParent else { return self }
        var copy = self
        copy.headers.append((TraceParent.header, position.text))
        if let state = position.state { copy.headers.append((TraceParent.stateHeader, state)) }
        return copy
    }
}
