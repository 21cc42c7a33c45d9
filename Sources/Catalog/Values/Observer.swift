/// A receiver of observations.
package struct Observer: Sendable {
    package let observe: @Sendable (Observation) -> Void

    package init(_ observe: @escaping @Sendable (Observation) -> Void) { self.observe = observe }

    /// An observer that ignores everything.
    package static let none = Observer { _ in }
}
