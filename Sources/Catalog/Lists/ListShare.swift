/// What somebody may do with a list.
package enum ListRole: String, CaseIterable, Sendable, Hashable {
    case owner, editor, reader

    package var mayEdit: Bool { self != .reader }

    /// The roles that a share gives.
    package static let shared: [ListRole] = [.editor, .reader]
}

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
    package static let numberBound = 20
    package static let memberBound = 50
    /// How long one may join, in days.
    package static let days = 30

    package func write(token: String? = nil, to json: inout JSONText) {
        json.object { json in
            json.field("id", id.text)
            json.field("role", role.rawValue)
            if let token { json.field("token", token) }
            json.field("created_at", createdAt.rfc3339)
            json.field("expires_at", expiresAt.rfc3339)
            json.field("members", members)
        }
    }
}
