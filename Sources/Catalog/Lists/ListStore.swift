/// Users' lists, their items and their members.
package protocol ListStore: Sendable {
    /// A user's lists in the order of a sort.
    ///
    /// - Parameters:
    ///   - sort: nil for the user's own (`lists.sort`).
    ///   - since: only those that changed for them behind a revision, deleted ones too; nil for all that stand.
    func lists(of user: UserID, by sort: ListSort?, since: Int64?) async throws(CatalogError) -> ListsPage
    /// One of a user's lists, and what the catalog knows of its products.
    ///
    /// - Parameter sort: by which its items will be shown; nil for the list's own.
    /// - Throws: `notFound`, where it is another's too.
    func list(
        _ id: UniqueID,
        of user: UserID,
        by sort: ListItemSort?
    ) async throws(CatalogError) -> (HeldList, ListFacts)
    /// Makes a list; one that is there already under its id is answered as it is.
    ///
    /// - Parameter new: `autoSort` nil for the user's own setting (`lists.sink_checked`).
    /// - Throws: `unprocessable` for one too many; `conflict` where the id is that of another list of theirs that is gone.
    func createList(
        _ new: NewList,
        of user: UserID,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> ListDocument
    /// Changes a list.
    ///
    /// - Parameter expected: the versions of which it must have one, where it matters.
    /// - Throws: `notFound`; `forbidden` for who may only read it; `staleList`; as `UserList.apply`.
    func editList(
        _ id: UniqueID,
        of user: UserID,
        _ edit: ListEdit,
        expected: Set<Int64>?,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> ListDocument
    /// Leaves a list that one has joined; deletes one's own.
    func removeList(_ id: UniqueID, of user: UserID, expected: Set<Int64>?) async throws(CatalogError)
    /// Moves lists in the user's own order.
    func moveLists(
        _ moves: [OrderMove],
        of user: UserID,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> ListsMoved
    /// Creates a share of a list.
    ///
    /// - Throws: `notFound`; `forbidden` for who is not its owner; `unprocessable` for one too many.
    func share(
        _ id: UniqueID,
        of user: UserID,
        _ share: ListShare,
        digest: [UInt8],
        once call: IdempotentCall?
    ) async throws(CatalogError) -> IssuedShare
    func shares(_ id: UniqueID, of user: UserID) async throws(CatalogError) -> [ListShare]
    /// Revokes a share and removes the members who joined by it.
    func revoke(_ share: UniqueID, _ id: UniqueID, of user: UserID) async throws(CatalogError)
    /// Joins the list that a token belongs to; a member keeps the better of both roles.
    ///
    /// - Throws: `notFound` for a token that is none, was taken back or is too old.
    func join(
        _ digest: [UInt8],
        of user: UserID,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> ListDocument
}
