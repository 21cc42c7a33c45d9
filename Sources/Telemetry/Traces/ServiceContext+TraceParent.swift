package import Platform
package import ServiceContextModule

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
