package import Ordering

/// A list as one of its users has it.
package struct HeldList: Sendable, Hashable {
    package var list: UserList
    package var role: ListRole
    /// Its place in the user's own order of lists.
    package var key: PathKey
    /// The user's revision when it changed last for them.
    package var revision: Int64
    /// When they left it, or it was taken from them; as deleted to them.
    package var leftAt: Timestamp?

    package init(list: UserList, role: ListRole, key: PathKey, revision: Int64, leftAt: Timestamp? = nil) {
        self.list = list
        self.role = role
        self.key = key
        self.revision = revision
        self.leftAt = leftAt
    }

    package var isDeleted: Bool { leftAt != nil || list.isDeleted }

    /// One of which only that it was left is known: its owner is gone.
    package static func gone(
        _ id: UniqueID,
        _ role: ListRole,
        _ key: PathKey,
        _ revision: Int64,
        leftAt: Timestamp
    ) -> HeldList {
        let list = UserList(
            id: id,
            owner: UserID("nobody")!,
            name: "",
            createdAt: leftAt,
            modifiedAt: leftAt,
            deletedAt: leftAt
        )
        return HeldList(list: list, role: role, key: key, revision: revision, leftAt: leftAt)
    }
}
