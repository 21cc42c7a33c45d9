/// The outcome of moving lists in a user's order.
package struct ListMoveOutcome: Sendable, Hashable {
    package var revision: Int64
    package var moved: [OrderEditOutcome.Moved]

    package init(revision: Int64, moved: [OrderEditOutcome.Moved]) {
        self.revision = revision
        self.moved = moved
    }
}
