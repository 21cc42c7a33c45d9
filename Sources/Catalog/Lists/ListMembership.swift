package import Ordering

/// A list together with one user's membership in it.
package struct ListMembership: Sendable, Hashable {
    package var list: UserList
    package var role: ListRole
    /// The list's ordering key among the user's lists.
    package var key: PathKey
    /// The user's revision at the last change.
    package var revision: Int64
    /// When the user left or was removed; the list then counts as deleted for them.
    package var leftAt: Timestamp?

    package init(list: UserList, role: ListRole, key: PathKey, revision: Int64, leftAt: Timestamp? = nil) {
        self.list = list
        self.role = role
        self.key = key
        self.revision = revision
        self.leftAt = leftAt
    }

    /// Whether the user no longer has the list: it was deleted, or they left it.
    package var isDeleted: Bool { leftAt != nil || list.isDeleted }

    /// Returns the membership in a list whose owner was erased; only the departure is still known.
    package static func departed(
        _ id: UniqueID,
        _ role: ListRole,
        _ key: PathKey,
        _ revision: Int64,
        leftAt: Timestamp
    ) -> ListMembership {
        let list = UserList(
            id: id,
            owner: UserID("nobody")!,
            name: "",
            createdAt: leftAt,
            modifiedAt: leftAt,
            deletedAt: leftAt
        )
        return ListMembership(list: list, role: role, key: key, revision: revision, leftAt: leftAt)
    }
}

/// A list, or the change of a list, that a request of the user returns.
package enum ListDocument: Sendable {
    /// A list, and whether the request created it.
    case list(ListMembership, isNew: Bool)
    case change(ListOutcome)
    /// The first response, verbatim: it contains prices, which may have changed before the request was repeated.
    case first(RecordedResponse)
}
