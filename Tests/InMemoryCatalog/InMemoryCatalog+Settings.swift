package import Catalog
internal import CatalogJSON
internal import Synchronization

// The reference implementation of users' data: one dictionary per user.
extension InMemoryCatalog {
    struct UserContent: Sendable {
        var revision: Int64
        var horizon: Int64
        var settings: [SettingKey: Setting] = [:]
        var tickets: [Ticket] = []
        var responses = RecordedResponses()
        /// The user's own lists, their shares, and all memberships.
        var lists: [UniqueID: UserList] = [:]
        var shares: [UniqueID: [Share]] = [:]
        var places: [UniqueID: MembershipRecord] = [:]
        /// The list events by revision.
        var events: [ListEvent] = []

        init(_ now: Timestamp) {
            revision = SettingsEdit.firstRevision(now)
            horizon = revision
        }

        /// Whether changes since a known revision (other than 0) are unavailable: the revision was swept or belongs to
        /// an erased account.
        static func requiresResync(_ content: UserContent?, _ known: Int64) -> Bool {
            known > 0 && (content.map { known < $0.horizon || known > $0.revision } ?? true)
        }
    }

    package func setting(_ key: SettingKey, of user: UserID) async throws(CatalogError) -> Setting {
        guard let found = users.withLock({ $0[user]?.settings[key] }), !found.isDeleted else {
            throw .notFound("setting “\(key)”")
        }
        return found
    }

    package func settings(
        of user: UserID,
        since: Int64?,
        limit: Int?
    ) async throws(CatalogError) -> SettingsPage {
        let content = users.withLock { $0[user] }
        let known = since ?? 0
        let isResync = UserContent.requiresResync(content, known)
        let changed = (content.map { Array($0.settings.values) } ?? []).filter {
            (isResync || $0.revision > known) && (since != nil || !$0.isDeleted)
        }.sorted { $0.revision < $1.revision }
        let shown = limit.map { Array(changed.prefix($0)) } ?? changed
        return SettingsPage(
            settings: shown,
            revision: shown.count < changed.count ? shown.last!.revision : content?.revision ?? 0,
            isResync: isResync
        )
    }

    package func changes(of user: UserID, since: Int64, limit: Int) async throws(CatalogError) -> ChangesPage {
        let page = try await settings(of: user, since: since, limit: nil)
        let lists = users.withLock { $0[user]?.events.map(\.event).filter { $0.id > since } ?? [] }
        let all = (page.settings.map { LiveEvent(.setting, id: $0.revision, data: $0.json) } + lists).sorted {
            $0.id < $1.id
        }
        let shown = all.prefix(limit)
        return ChangesPage(
            events: Array(shown),
            revision: shown.count < all.count ? shown.last!.id : page.revision,
            isResync: page.isResync
        )
    }

    package func rememberedSorts(
        _ user: UserID,
        _ store: CatalogKey,
        _ shelf: CatalogKey
    ) async throws(CatalogError) -> RememberedSorts {
        currentRememberedSorts(user, store, shelf)
    }

    func currentRememberedSorts(_ user: UserID, _ store: CatalogKey, _ shelf: CatalogKey?) -> RememberedSorts {
        let settings = users.withLock { $0[user]?.settings } ?? [:]
        return RememberedSorts(
            shelf: shelf.flatMap { settings[.sort(of: $0, in: store)]?.rememberedSort },
            store: settings[.sort(in: store)]?.rememberedSort
        )
    }

    package func edit(
        _ edit: SettingsEdit,
        of user: UserID
    ) async throws(CatalogError) -> [SettingsEdit.Result] {
        if let shelf = edit.shelf { _ = try await self.shelf(shelf.store, shelf.shelf) }
        let results = try change(user) { content, now throws(CatalogError) in try Self.apply(edit, &content, now) }
        record(.settings(results), of: user)
        // A change without effect does not create an account.
        users.withLock {
            if $0[user]?.settings.isEmpty == true, $0[user]?.tickets.isEmpty == true, $0[user]?.places.isEmpty == true {
                $0[user] = nil
            }
        }
        return results
    }

    private static func apply(
        _ edit: SettingsEdit,
        _ content: inout UserContent,
        _ now: Timestamp
    ) throws(CatalogError) -> [SettingsEdit.Result] {
        let results = try edit.decide(content.settings, after: content.revision, now: now)
        for result in results where result.isApplied {
            content.settings[result.setting.key] = result.setting
            content.revision = result.setting.revision
        }
        guard content.settings.values.count(where: { !$0.isDeleted }) <= Setting.countLimit else {
            throw SettingsEdit.tooManySettings()
        }
        let deleted = content.settings.values.filter(\.isDeleted).sorted { $0.revision < $1.revision }
        for setting in deleted.prefix(max(0, deleted.count - Setting.tombstoneLimit)) {
            content.settings[setting.key] = nil
            content.horizon = setting.revision
        }
        return results
    }

    package func merge(
        into user: UserID,
        once call: IdempotentCall<GuestMerge>?,
        of identifyGuest: () async throws(CatalogError) -> UserID
    ) async throws(CatalogError) -> GuestMerge {
        let responses = users.withLock { $0[user]?.responses }
        if let known = try responses?.known(call) { return known }
        let guest = try await identifyGuest()
        let isGuestKnown = users.withLock { $0[guest] != nil }
        let brought = users.withLock { $0[guest]?.settings.values.filter { !$0.isDeleted } } ?? []
        try transact { users, _ throws(CatalogError) in try Self.checkMerge(of: guest, into: user, users) }
        let (outcome, isFirst) = try change(user) { content, now throws(CatalogError) in
            if let outcome: GuestMerge = try content.responses.known(call) { return (outcome, false) }
            let results = try Self.apply(GuestMerge.edit(brought), &content, now)
            let outcome = GuestMerge(results, revision: content.revision)
            content.responses.record(outcome, call)
            return (outcome, true)
        }
        if isFirst {
            users.withLock {
                mergeLists(of: guest, into: user, &$0)
                $0[guest] = nil
            }
            if isGuestKnown {
                record(.merged(outcome), of: user)
                eraseLog(of: guest, .userMerge)
            }
        }
        return outcome
    }

    package func export(_ user: UserID, customer: String) async throws(CatalogError) -> UserExport {
        let content = users.withLock { $0[user] }
        let audit = userLogs.withLock { $0.entries[user] ?? [] }
        if content != nil { record(.exported, of: user) }
        var changes: [UserExport.OrderChange] = []
        let stores = self.content.withLock { Array($0.values) }
        var bought: [UserExport.Purchase] = []
        for store in stores {
            let own = store.purchases.values.filter { $0.customer == customer }
            for (place, events) in Dictionary(grouping: own, by: { "\($0.sku)/\($0.at.day)" }) where !place.isEmpty {
                let quantity = events.reduce(ExactDecimal.zero) { $0.adding($1.quantity)! }
                bought.append(
                    .init(store: store.store.key, sku: events[0].sku, day: events[0].at.day, quantity: quantity)
                )
            }
            for shelf in store.shelves.values {
                for (change, _) in shelf.history where change.subject == user.text {
                    changes.append(
                        .init(
                            store: store.store.key,
                            shelf: shelf.shelf.key,
                            kind: change.kind.rawValue,
                            changedAt: change.at
                        )
                    )
                }
            }
        }
        return UserExport(
            user: user,
            revision: content?.revision ?? 0,
            settings: (content.map { Array($0.settings.values) } ?? []).sorted { $0.key < $1.key },
            orderChanges: changes.sorted { $0.changedAt < $1.changedAt },
            purchases: bought.sorted { ($0.store.text, $0.day, $0.sku.text) < ($1.store.text, $1.day, $1.sku.text) },
            lists: allLists(of: user),
            audit: audit
        )
    }

    package func erase(_ user: UserID, customer: String) async throws(CatalogError) {
        users.withLock {
            eraseLists(of: user, &$0)
            $0[user] = nil
        }
        eraseLog(of: user, .userErase)
        content.withLock { stores in
            for store in stores.keys {
                for (id, purchase) in stores[store]!.purchases where purchase.customer == customer {
                    stores[store]!.purchases[id]!.customer = nil
                }
                for shelf in stores[store]!.shelves.keys {
                    for index in stores[store]!.shelves[shelf]!.history.indices
                    where stores[store]!.shelves[shelf]!.history[index].change.subject == user.text {
                        stores[store]!.shelves[shelf]!.history[index].change.subject = nil
                    }
                }
            }
        }
    }

    package func revisions(of users: [UserID]) async throws(CatalogError) -> [UserID: Int64] {
        self.users.withLock { content in
            Dictionary(users.map { ($0, content[$0]?.revision ?? 0) }) { first, _ in first }
        }
    }

    package func saveTicket(
        _ ticket: Ticket,
        id: UniqueID,
        once call: IdempotentCall<IssuedTicket>?
    ) async throws(CatalogError) -> IssuedTicket {
        try change(ticket.user) { content, _ throws(CatalogError) in
            if let issued: IssuedTicket = try content.responses.known(call) { return issued }
            content.tickets = content.tickets.suffix(Ticket.countLimit - 1) + [ticket]
            let issued = IssuedTicket(.derived(id), expiresAt: ticket.expiresAt)
            content.responses.record(issued, call)
            return issued
        }
    }

    package func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket? {
        let now = clock()
        return users.withLock { users in
            for user in users.keys {
                guard let index = users[user]!.tickets.firstIndex(where: { $0.digest == digest }) else { continue }
                let ticket = users[user]!.tickets.remove(at: index)
                return ticket.expiresAt > now ? ticket : nil
            }
            return nil
        }
    }

    /// Runs a change atomically; a user's first change creates the account.
    private func change<T: Sendable>(
        _ user: UserID,
        _ body: (inout UserContent, Timestamp) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        try transact { users, now throws(CatalogError) in
            var content = users[user] ?? UserContent(now)
            let value = try body(&content, now)
            users[user] = content
            return value
        }
    }
}
