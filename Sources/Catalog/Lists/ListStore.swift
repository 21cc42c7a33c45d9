/// Users' lists, their items and their members.
package protocol ListStore: Sendable {
    /// Returns a user's lists, sorted.
    ///
    /// - Parameters:
    ///   - sort: nil for the user's setting (`lists.sort`).
    ///   - since: the revision after which lists changed, deleted ones included; nil for all current lists.
    func lists(of user: UserID, by sort: ListSort?, since: Int64?) async throws(CatalogError) -> ListsPage
    /// Returns one of a user's lists and the catalog data of its products.
    ///
    /// - Parameter sort: the sort in which items will be shown; nil for the list's own.
    /// - Throws: `notFound`, also for a list of another user.
    func list(
        _ id: UniqueID,
        of user: UserID,
        by sort: ListItemSort?
    ) async throws(CatalogError) -> (ListMembership, ListFacts)
    /// Creates a list, or returns the existing list with the same id.
    ///
    /// - Parameter new: if its `autoSort` is nil, the user's setting (`lists.sink_checked`) applies.
    /// - Throws: `unprocessable` if the user has too many lists; `conflict` if the id belongs to a deleted list.
    func createList(
        _ new: NewList,
        of user: UserID,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument
    /// Changes a list.
    ///
    /// - Parameter expected: the accepted versions of the list; nil for any.
    /// - Throws: `notFound`; `forbidden` for a reader; `staleList`; as `UserList.apply`.
    func editList(
        _ id: UniqueID,
        of user: UserID,
        _ edit: ListEdit,
        expected: Set<Int64>?,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument
    /// Leaves a joined list, or deletes an own list.
    func removeList(_ id: UniqueID, of user: UserID, expected: Set<Int64>?) async throws(CatalogError)
    /// Moves lists in the user's own order.
    func moveLists(
        _ moves: [OrderMove],
        of user: UserID,
        once call: IdempotentCall<ListMoveOutcome>?
    ) async throws(CatalogError) -> ListMoveOutcome
    /// Creates a share of a list.
    ///
    /// - Throws: `notFound`; `forbidden` for anyone but the owner; `unprocessable` for too many shares.
    func share(
        _ id: UniqueID,
        of user: UserID,
        _ share: ListShare,
        digest: [UInt8],
        once call: IdempotentCall<ListShare>?
    ) async throws(CatalogError) -> ListShare
    func shares(_ id: UniqueID, of user: UserID) async throws(CatalogError) -> [ListShare]
    /// Revokes a share and removes the members who joined through it.
    func revoke(_ share: UniqueID, _ id: UniqueID, of user: UserID) async throws(CatalogError)
    /// Joins the list of a share token; an existing member keeps the broader role.
    ///
    /// - Throws: `notFound` for an invalid, revoked or expired token.
    func join(
        _ digest: [UInt8],
        of user: UserID,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument
}
