/// A way into a list for others: who has its token joins.
package struct ListShare: Sendable, Hashable {
    package let id: UniqueID
    package let role: ListRole
    package let createdAt: Timestamp
    /// Nobody joins any more after that; who has joined stays.
    package let expiresAt: Timestamp
    /// How many have joined by it.
    package var members: Int

    package init(id: UniqueID, role: ListRole, createdAt: Timestamp, expiresAt: Timestamp, members: Int = 0) {
        self.id = id
        self.role = role
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.members = members
    }

    /// The most shares of a list that are open, and the most who join one list.
    package static let countLimit = 20
    package static let memberLimit = 50
    /// How long one may join, in days.
    package static let days = 30
}
