/// Who is told.
package struct Observer: Sendable {
    package let see: @Sendable (Observation) -> Void

    package init(_ see: @escaping @Sendable (Observation) -> Void) { self.see = see }

    /// Looks away.
    package static let none = Observer { _ in }
}
