/// How new the state must be that a read answers with.
package struct ReadRequirement: Sendable {
    /// The position that the state includes; nil for any state that is not too old.
    package let position: LogPosition?

    package init(position: LogPosition?) { self.position = position }
}
