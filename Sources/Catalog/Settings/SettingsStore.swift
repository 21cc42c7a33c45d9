/// Where users' own is kept: settings, and what signs a device in to its events.
package protocol SettingsStore: ListStore {
    /// - Throws: `notFound` for one that is not there, or was deleted.
    func setting(_ key: SettingKey, of user: UserID) async throws(CatalogError) -> Setting
    /// What changed since a revision, by revision.
    ///
    /// A revision that the user never had, or from before deletions were forgotten, is answered with everything.
    ///
    /// - Parameters:
    ///   - since: 0 for all that is remembered; nil for what there is, without deleted ones.
    ///   - limit: only the first so many; the page's revision is then that of the last one.
    func settings(of user: UserID, since: Int64?, limit: Int?) async throws(CatalogError) -> SettingsPage
    /// What changed of a user's own behind a revision, settings and lists, as their devices are told.
    ///
    /// - Parameter limit: only the first so many; the page's revision is then that of the last one.
    func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage
    /// What is remembered for a shelf.
    func rememberedViews(
        _ user: UserID,
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> RememberedViews
    /// Changes settings, all or none; results in the order of the writes.
    ///
    /// - Throws: `staleSetting`; `unprocessable` where there would be too many.
    func edit(_ edit: SettingsEdit, of user: UserID) async throws(CatalogError) -> [SettingsEdit.Result]
    /// Moves a guest's settings to an account, where later ones win and ties go to the account, and erases the guest.
    func merge(
        _ guest: UserID,
        into user: UserID,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (GuestMerge) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer
    /// The first answer under a key of a call about a user's own; nil for a new one.
    func recall(_ key: String, of user: UserID) async throws(CatalogError) -> FirstAnswer?
    /// Everything that is stored of a user, of one moment.
    func export(_ user: UserID) async throws(CatalogError) -> UserExport
    /// Erases all of that.
    func erase(_ user: UserID) async throws(CatalogError)
    /// The last revision of each of the users; none for who has nothing.
    func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64]
    /// Keeps a ticket until it is redeemed or has expired.
    ///
    /// - Parameter answer: what is answered, and recorded together with the ticket.
    func keep(
        _ ticket: Ticket,
        once call: IdempotentCall?,
        answering answer: RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer
    /// The ticket with that digest, for the first who asks within its time; nil otherwise.
    func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket?
}
