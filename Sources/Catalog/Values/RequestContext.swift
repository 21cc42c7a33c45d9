/// The purpose of the work of the current task: the origin of its changes, the state that its reads need, and the recorder of its positions.
package struct RequestContext: Sendable {
    @TaskLocal package static var current = RequestContext()

    /// The origin of changes.
    package var origin: ChangeOrigin
    /// The state that reads need; nil for the current one, which only the primary has.
    package var requirement: ReadRequirement?
    /// Records the position of the last write; nil if nobody asks for it.
    package var positions: PositionRecorder?

    package init(
        origin: ChangeOrigin = .server,
        requirement: ReadRequirement? = nil,
        positions: PositionRecorder? = nil
    ) {
        self.origin = origin
        self.requirement = requirement
        self.positions = positions
    }

    /// Runs work with the context.
    package func run<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Self.$current.withValue(self, operation: body)
    }
}

/// How new the state must be that a read answers with.
package struct ReadRequirement: Sendable {
    /// The position that the state includes; nil for any state that is not too old.
    package let position: LogPosition?

    package init(position: LogPosition?) { self.position = position }
}
