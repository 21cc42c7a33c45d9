/// How new the state must be that a read answers with.
package struct ReadRequirement: Sendable {
    /// The requirement of the current task; nil for the current state, which only the primary has.
    @TaskLocal package static var current: ReadRequirement?

    /// The position that the state includes; nil for any state that is not too old.
    package let position: LogPosition?

    package init(position: LogPosition?) { self.position = position }
}
