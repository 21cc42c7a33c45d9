package import Catalog
internal import CatalogJSON
internal import Ordering
internal import Synchronization

// The reference implementation of users' lists.
extension InMemoryCatalog {
    /// A user's membership in a list.
    struct MembershipRecord: Sendable {
        var owner: UserID
        var role: ListRole
        var share: UniqueID?
        var key: PathKey
        var revision: Int64
        var leftAt: Timestamp?
    }

    /// An event of a list; nil for the order of the lists.
    struct ListEvent: Sendable {
        var list: UniqueID?
        var event: LiveEvent
    }

    struct Share: Sendable {
        var share: ListShare
        var digest: [UInt8]
    }

    typealias Users = [UserID: UserContent]

    package func lists(of user: UserID, by sort: ListSort?, since: Int64?) async throws(CatalogError) -> ListsPage {
        try transact { users, _ throws(CatalogError) in
            let content = users[user]
            let known = since ?? 0
            let isResync = UserContent.requiresResync(content, known)
            var page = ListsPage(entries: [], revision: content?.revision ?? 0, isResync: isResync)
            for id in (content?.places ?? [:]).keys {
                let membership = self.membershipOrStub(id, user, users)
                guard since == nil ? !membership.isDeleted : isResync || membership.revision > known else { continue }
                let current = membership.list.currentItems
                page.entries.append(
                    .init(membership: membership, items: current.count, checked: current.count(where: \.isChecked))
                )
            }
            guard since == nil else {
                page.entries.sort { $0.membership.revision < $1.membership.revision }
                let current = (content?.places ?? [:]).filter { !self.membershipOrStub($0.key, user, users).isDeleted }
                page.order = current.sorted { $0.value.key < $1.value.key }.map(\.key)
                return page
            }
            return page.sorted(
                by: sort ?? ListSort(setting: content?.settings[.listsSort]?.value),
                self.ranks(page.entries.map(\.membership.list.name), in: Store.languageOfNoStore)
            )
        }
    }

    package func list(
        _ id: UniqueID,
        of user: UserID,
        by sort: ListItemSort?
    ) async throws(CatalogError) -> (ListMembership, ListFacts) {
        try transact { users, _ throws(CatalogError) in
            let held = try self.membership(id, user, users)
            return (held, self.facts([held.list]))
        }
    }

    package func createList(
        _ new: NewList,
        of user: UserID,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument {
        try once(call, user) { users, now throws(CatalogError) in
            if users[user]!.places[new.id] != nil {
                let held = try self.membership(new.id, user, users, currentOnly: false)
                guard !held.isDeleted else { throw .deletedList(new.id) }
                return .list(held, isNew: false)
            }
            try Self.checkListLimit(users, user)
            let sinks = users[user]!.settings[.listsSinkChecked]?.value
            users[user]!.lists[new.id] = new.list(of: user, sinksChecked: sinks, now: now)
            Self.place(new.id, MembershipRecord(owner: user, role: .owner, key: .first, revision: 0), user, &users)
            Self.announce(new.id, to: user, &users)
            self.record(.list(.listCreate, new.id), of: user)
            return .list(try self.membership(new.id, user, users), isNew: true)
        }
    }

    package func editList(
        _ id: UniqueID,
        of user: UserID,
        _ edit: ListEdit,
        expected: Set<Int64>?,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument {
        try transact { users, _ throws(CatalogError) in try Self.checkMembership(id, user, users) }
        return try once(call, user) { users, now throws(CatalogError) in
            .change(try self.apply(edit, id, user, expected, &users, now))
        }
    }

    private func apply(
        _ edit: ListEdit,
        _ id: UniqueID,
        _ user: UserID,
        _ expected: Set<Int64>?,
        _ users: inout Users,
        _ now: Timestamp
    ) throws(CatalogError) -> ListOutcome {
        let before = try membership(id, user, users, currentOnly: false)
        try before.check(edit, expected)
        if edit.restoresList, before.list.isDeleted { try Self.checkListLimit(users, user) }
        var list = before.list
        let changed = try list.apply(edit, facts([list], edit.products), now: now)
        let added = Set(list.items.map(\.id)).subtracting(before.list.items.map(\.id)).count
        guard added == 0 || Self.itemCount(users, list.owner) + added <= UserList.allItemsLimit else {
            throw .tooManyItems
        }
        users[list.owner]!.lists[id] = list
        let facts = facts([before.list, list], edit.products)
        var outcome = ListOutcome(
            of: edit,
            before.list,
            try membership(id, user, users, currentOnly: false),
            changed,
            facts
        )
        if outcome.isChange { Self.announceChange(id, of: list.owner, .list(outcome), &users) }
        record(.list(edit, outcome), of: user)
        outcome.membership = try membership(id, user, users, currentOnly: false)
        return outcome
    }

    package func removeList(_ id: UniqueID, of user: UserID, expected: Set<Int64>?) async throws(CatalogError) {
        try transact { users, now throws(CatalogError) in
            let before = try self.membership(id, user, users)
            try before.checkVersion(expected)
            if before.role == .owner {
                _ = try self.apply(.set(ListSettings(isDeleted: true)), id, user, expected, &users, now)
            } else {
                self.leave(id, user, &users, now)
                self.record(.list(.listLeave, id), of: user)
            }
        }
    }

    package func moveLists(
        _ moves: [OrderMove],
        of user: UserID,
        once call: IdempotentCall<ListMoveOutcome>?
    ) async throws(CatalogError) -> ListMoveOutcome {
        try once(call, user) { users, _ throws(CatalogError) in
            let rows = users[user]!.places.map { id, place in
                PositionList.Row(
                    id: id.text,
                    key: place.key,
                    isRemoved: self.membershipOrStub(id, user, users).isDeleted
                )
            }
            var list = PositionList(rows)
            let old = list.ids
            let made = try list.renumber(by: moves)
            for (id, key) in made { users[user]!.places[UniqueID(id)!]!.key = key }
            let moved = ListMoveOutcome.between(old, list.ids)
            guard !moved.isEmpty else { return ListMoveOutcome(revision: users[user]!.revision, moved: []) }
            users[user]!.revision += 1
            let outcome = ListMoveOutcome(revision: users[user]!.revision, moved: moved)
            let event = LiveEvent(.list, id: outcome.revision, data: UserEvent.listOrder(outcome).json)
            users[user]!.events.append(ListEvent(list: nil, event: event))
            self.record(.listOrder(outcome), of: user)
            return outcome
        }
    }

    // MARK: - Parts

    /// - Parameter currentOnly: false also returns deleted and left lists.
    func membership(
        _ id: UniqueID,
        _ user: UserID,
        _ users: Users,
        currentOnly: Bool = true
    ) throws(CatalogError) -> ListMembership {
        guard let place = users[user]?.places[id], let list = users[place.owner]?.lists[id] else {
            throw .notFound("list “\(id)”")
        }
        let result = ListMembership(
            list: list,
            role: place.role,
            key: place.key,
            revision: place.revision,
            leftAt: place.leftAt
        )
        guard !currentOnly || !result.isDeleted else { throw .notFound("list “\(id)”") }
        return result
    }

    /// - Throws: `notFound` if the user is not a member of the list, even for a repeated call.
    private static func checkMembership(_ id: UniqueID, _ user: UserID, _ users: Users) throws(CatalogError) {
        guard let place = users[user]?.places[id], place.leftAt == nil else { throw .notFound("list “\(id)”") }
    }

    /// The same, also for a list whose owner was erased.
    private func membershipOrStub(_ id: UniqueID, _ user: UserID, _ users: Users) -> ListMembership {
        if let held = try? membership(id, user, users, currentOnly: false) { return held }
        let place = users[user]!.places[id]!
        return .departed(id, place.role, place.key, place.revision, leftAt: place.leftAt ?? clock())
    }

    /// The number of items of a user's own lists.
    static func itemCount(_ users: Users, _ user: UserID) -> Int {
        users[user]?.lists.values.reduce(0) { $0 + $1.items.count } ?? 0
    }

    /// A list's id and owner.
    private struct ListKey: Hashable {
        let owner: UserID
        let list: UniqueID
    }

    /// A user's lists, and all including deleted and left ones.
    private static func listKeys(_ users: Users, _ user: UserID) -> (current: Set<ListKey>, all: Set<ListKey>) {
        let places = users[user]?.places ?? [:]
        let current = places.filter { id, place in
            place.leftAt == nil && users[place.owner]?.lists[id]?.isDeleted == false
        }
        return (
            Set(current.map { ListKey(owner: $0.value.owner, list: $0.key) }),
            Set(places.map { ListKey(owner: $0.value.owner, list: $0.key) })
        )
    }

    /// - Throws: `unprocessable` if a user would exceed a limit with the lists of a guest.
    static func checkMerge(of guest: UserID, into user: UserID, _ users: Users) throws(CatalogError) {
        let (own, brought) = (listKeys(users, user), listKeys(users, guest))
        guard !brought.all.isEmpty else { return }
        guard own.current.union(brought.current).count <= UserList.countLimit else { throw .tooManyLists }
        guard own.all.union(brought.all).count <= UserList.totalCountLimit else { throw .tooManyDeletedLists }
        guard itemCount(users, user) + itemCount(users, guest) <= UserList.allItemsLimit else { throw .tooManyItems }
    }

    static func checkListLimit(_ users: Users, _ user: UserID) throws(CatalogError) {
        let (current, all) = listKeys(users, user)
        guard current.count < UserList.countLimit else { throw .tooManyLists }
        guard all.count < UserList.totalCountLimit else { throw .tooManyDeletedLists }
    }

    /// Places a list after all other lists of a user, or at its old position.
    static func place(_ id: UniqueID, _ place: MembershipRecord, _ user: UserID, _ users: inout Users) {
        var place = place
        place.key =
            users[user]!.places[id]?.key
            ?? PathKey.appending(1, after: users[user]!.places.values.map(\.key).max())[0]
        users[user]!.places[id] = place
    }

    func leave(_ id: UniqueID, _ user: UserID, _ users: inout Users, _ now: Timestamp) {
        guard let place = users[user]?.places[id], place.leftAt == nil else { return }
        users[user]!.places[id]!.leftAt = now
        users[user]!.revision += 1
        users[user]!.places[id]!.revision = users[user]!.revision
        // Remove its earlier events.
        users[user]!.events.removeAll { $0.list == id }
        let event = LiveEvent(.list, id: users[user]!.revision, data: UserEvent.leftList(id).json)
        users[user]!.events.append(ListEvent(list: id, event: event))
    }

    /// Announces a new list to a user.
    static func announce(_ id: UniqueID, to user: UserID, _ users: inout Users) {
        guard let list = users[users[user]!.places[id]!.owner]?.lists[id] else { return }
        announceChange(id, of: list.owner, .newList(list), to: user, &users)
    }

    /// Whether a user has a list of an owner, and has not left it.
    static func isMember(_ user: UserID, of id: UniqueID, _ owner: UserID, _ users: Users) -> Bool {
        users[user]?.places[id].map { $0.leftAt == nil && $0.owner == owner } ?? false
    }

    /// Announces a change to all members of a list, or to one of them.
    private static func announceChange(
        _ id: UniqueID,
        of owner: UserID,
        _ change: UserEvent,
        to only: UserID? = nil,
        _ users: inout Users
    ) {
        for user in users.keys where isMember(user, of: id, owner, users) {
            guard only == nil || only == user else { continue }
            users[user]!.revision += 1
            users[user]!.places[id]!.revision = users[user]!.revision
            let event = LiveEvent(.list, id: users[user]!.revision, data: change.json)
            users[user]!.events.append(ListEvent(list: id, event: event))
        }
    }

    private func facts(_ lists: [UserList], _ more: [ProductReference] = []) -> ListFacts {
        let catalog = content.withLock { $0 }
        var facts = ListFacts()
        let items = lists.flatMap(\.items)
        for product in items.compactMap(\.product) + more {
            guard let store = catalog[product.store], let found = store.products[product.sku] else { continue }
            facts.products[product] = (store.store, found)
        }
        for store in Set(facts.products.keys.map(\.store)) {
            var passed = 0
            for shelf in catalog[store]!.shelfOrder.compactMap({ catalog[store]!.shelves[$0] }) where !shelf.isRemoved {
                for sku in shelf.placed.sorted(by: { shelf.positions[$0]! < shelf.positions[$1]! }) {
                    let reference = ProductReference(store, sku)
                    passed += 1
                    if facts.products[reference] != nil, facts.aisles[reference] == nil {
                        facts.aisles[reference] = passed
                    }
                }
            }
        }
        facts.ranks = ranks(items.flatMap { [facts.name(of: $0), $0.text] }, in: facts.language)
        return facts
    }

    private func ranks(_ names: [String], in language: String) -> [String: Int] {
        let collate = collate(language)
        // Ties of the collation are broken by bytes.
        let sorted = Set(names).sorted { a, b in
            let order = collate(a, b)
            return order == 0 ? a.utf8.lexicographicallyPrecedes(b.utf8) : order < 0
        }
        return Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
    }

    /// Runs a change of all users atomically.
    func transact<T: Sendable>(
        _ body: (inout Users, Timestamp) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        let now = clock()
        let result: Result<T, CatalogError> = users.withLock { users in
            var copy = users
            do throws(CatalogError) {
                let value = try body(&copy, now)
                users = copy
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// The same, once per idempotent call.
    func once<Outcome: Sendable>(
        _ call: IdempotentCall<Outcome>?,
        _ user: UserID,
        _ body: (inout Users, Timestamp) throws(CatalogError) -> Outcome
    ) throws(CatalogError) -> Outcome {
        try transact { users, now throws(CatalogError) in
            if users[user] == nil { users[user] = UserContent(now) }
            if let outcome: Outcome = try users[user]!.responses.known(call) { return outcome }
            let outcome = try body(&users, now)
            users[user]!.responses.record(outcome, call)
            return outcome
        }
    }
}
