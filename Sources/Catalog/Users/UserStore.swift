/// Operations on a user's whole data: merging, export, erasure, and tickets for event streams.
package protocol UserStore: Sendable {
    /// Moves a guest's settings and lists to an account, where later changes win and ties go to the account, and erases
    /// the guest.
    ///
    /// - Parameter guest: returns the guest. A repeated call does not need it: the guest's token may have expired since the first one.
    /// - Throws: the errors of `guest`; `keyReused`.
    func merge(
        into user: UserID,
        once call: IdempotentCall<GuestMerge>?,
        of guest: () async throws(CatalogError) -> UserID
    ) async throws(CatalogError) -> GuestMerge
    /// Returns all data stored about a user, read in one snapshot.
    ///
    /// - Parameter customer: the name under which the user's purchases were reported.
    func export(_ user: UserID, customer: String) async throws(CatalogError) -> UserExport
    /// Erases all data stored about a user, and anonymizes the purchases.
    ///
    /// - Parameter customer: the name under which the user's purchases were reported.
    func erase(_ user: UserID, customer: String) async throws(CatalogError)
    /// Stores a ticket until it is redeemed or expires.
    ///
    /// - Parameter id: the ticket's id in the recorded response, from which a repeat derives the text.
    func saveTicket(_ ticket: Ticket, id: UniqueID, once call: IdempotentCall<IssuedTicket>?) async throws(CatalogError)
        -> IssuedTicket
    /// Consumes and returns the unexpired ticket with a digest; nil if there is none.
    func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket?
}

/// The outcome of merging a guest into an account.
package struct GuestMerge: Sendable, Hashable {
    /// The number of guest settings that were applied.
    package var merged: Int
    /// The number of settings where the account's value was kept.
    package var kept: Int
    /// The account's last revision.
    package var revision: Int64

    package init(merged: Int, kept: Int, revision: Int64) {
        self.merged = merged
        self.kept = kept
        self.revision = revision
    }
}

extension GuestMerge {
    /// Returns the edit that merges a guest's settings into an account.
    package static func edit(_ settings: [Setting]) -> SettingsEdit {
        SettingsEdit(
            settings.sorted { $0.revision < $1.revision }.map { .init($0.key, $0.value, modifiedAt: $0.modifiedAt) }
        )
    }

    package init(_ results: [SettingsEdit.Result], revision: Int64) {
        let merged = results.count(where: \.isApplied)
        self.init(merged: merged, kept: results.count - merged, revision: revision)
    }
}
