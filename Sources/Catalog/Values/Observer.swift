/// A receiver of observations: events for logs and metrics. Each layer declares its own.
package struct Observer<Observation: Sendable>: Sendable {
    package let observe: @Sendable (Observation) -> Void

    package init(_ observe: @escaping @Sendable (Observation) -> Void) { self.observe = observe }

    /// An observer that ignores everything.
    package static var none: Observer { Observer { _ in } }
}
