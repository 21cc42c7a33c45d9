/// Everything of a user's own that is handled as a whole: merging, export, erasure, and tickets for event streams.
package protocol UserStore: Sendable {
    /// Moves a guest's settings and lists to an account, where later changes win and ties go to the account, and erases
    /// the guest.
    func merge(
        _ guest: UserID,
        into user: UserID,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> GuestMerge
    /// Returns everything that is stored of a user, of one moment.
    func export(_ user: UserID) async throws(CatalogError) -> UserExport
    /// Erases everything that is stored of a user.
    func erase(_ user: UserID) async throws(CatalogError)
    /// Keeps a ticket until it is redeemed or expires.
    ///
    /// - Parameter id: names the ticket in the recorded response, from which its text is derived for a repeat.
    func keep(_ ticket: Ticket, id: UniqueID, once call: IdempotentCall?) async throws(CatalogError) -> IssuedTicket
    /// Returns the unexpired ticket with that digest, once; nil otherwise.
    func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket?
}
