/// An invitation to a list; anyone with its token can join.
package struct ListShare: Sendable, Hashable {
    package let id: UniqueID
    package let role: ListRole
    package let createdAt: Timestamp
    /// When the share stops admitting new members; existing members stay.
    package let expiresAt: Timestamp
    /// The number of members who joined through this share.
    package var members: Int

    package init(id: UniqueID, role: ListRole, createdAt: Timestamp, expiresAt: Timestamp, members: Int = 0) {
        self.id = id
        self.role = role
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.members = members
    }

    /// The maximum number of open shares, and of members, per list.
    package static let countLimit = 20
    package static let memberLimit = 50
    /// How long a share is valid, in days.
    package static let lifetimeDays = 30
}

/// A user's permissions on a list.
package enum ListRole: String, CaseIterable, Sendable, Hashable {
    case owner, editor, reader

    package var mayEdit: Bool { self != .reader }

    /// The roles that a share can grant.
    package static let shared: [ListRole] = [.editor, .reader]
}
