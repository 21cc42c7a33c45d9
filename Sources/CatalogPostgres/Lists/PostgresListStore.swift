internal import JSON
internal import Catalog
internal import LibPQ
internal import Ordering

/// Users' lists in PostgreSQL.
struct PostgresListStore: ListStore {
    let database: Database
    let encode: UserEvent.Encoder
    private var lookup: ShelfLookup { ShelfLookup(database: database) }

    func lists(of user: UserID, by sort: ListSort?, since: Int64?) async throws(CatalogError) -> ListsPage {
        try await database.mappingErrors {
            try await database.writes.snapshot(within: .edit, of: .user(user)) {
                connection in
                let own = try ListPlaces(of: user, since: since, connection)
                let lists = try own.lists(connection)
                var page = ListsPage(entries: [], revision: own.revision, isResync: own.isResync)
                for place in own.places {
                    let entry = Self.entry(place, lists[place.list])
                    if since != nil || !entry.membership.isDeleted { page.entries.append(entry) }
                }
                guard since == nil else {
                    // The order of all lists, not only of changed ones.
                    let all = try ListPlaces(of: user, connection)
                    let current = try all.current(connection)
                    page.order = all.places.filter { current.contains($0.list) }.sorted { $0.key < $1.key }.map(\.list)
                    return page
                }
                let remembered = try sort == nil ? Self.listsSettings(user, connection)[SettingKey.listsSort.text] : nil
                let wanted = sort ?? ListSort(setting: remembered)
                let names = wanted == .name ? Set(page.entries.map(\.membership.list.name)) : []
                return page.sorted(by: wanted, ListWriter.ranks(of: names, in: Store.languageOfNoStore))
            }
        }
    }

    /// - Parameter found: nil if the user left the list, or its owner was erased.
    private static func entry(
        _ place: ListRow.Place,
        _ found: (list: UserList, items: Int, checked: Int)?
    ) -> ListsPage.Entry {
        guard let found else {
            let moment = place.leftAt ?? .now()
            let departed = ListMembership.departed(place.list, place.role, place.key, place.revision, leftAt: moment)
            return .init(membership: departed, items: 0, checked: 0)
        }
        return .init(membership: place.membership(found.list), items: found.items, checked: found.checked)
    }

    private static func listsSettings(
        _ user: UserID,
        _ connection: isolated PostgresConnection
    ) throws -> [String: JSONValue] {
        try connection.query(
            ListStatements.settings,
            [.text(user.text), .text(SettingKey.listsSort.text), .text(SettingKey.listsSinkChecked.text)]
        ) { rows in
            Dictionary(
                uniqueKeysWithValues: try rows.map { row in
                    (try row.text(0), (try? JSONReader.parse(Array(try row.text(1).utf8))) ?? .null)
                }
            )
        }
    }

    func list(
        _ id: UniqueID,
        of user: UserID,
        by sort: ListItemSort?
    ) async throws(CatalogError) -> (ListMembership, ListFacts) {
        try await database.mappingErrors {
            let reader = ListWriter(user: user, encode: encode)
            return try await database.writes.snapshot(within: .edit, of: .user(user)) { connection in
                let membership = try reader.membership(id, connection)
                return (
                    membership,
                    try ListWriter.facts(membership.list.items, for: [sort ?? membership.list.sort], lookup, connection)
                )
            }
        }
    }

    // MARK: - Writing

    func createList(
        _ new: NewList,
        of user: UserID,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument {
        try await writeLists(of: user, once: call) { writer, connection in
            let sinks = try Self.listsSettings(user, connection)[SettingKey.listsSinkChecked.text]
            let list = new.list(of: user, sinksChecked: sinks, now: .now())
            // Lock the list before the account, as everywhere. A concurrent creation with the same id waits here.
            var known = try writer.membershipOrNil(new.id, connection, currentOnly: false)
            if known == nil, try connection.execute(ListStatements.insert, ListRow.parameters(list, isNew: true)) == 0 {
                known = try writer.membership(new.id, connection, currentOnly: false)
            }
            if let known {
                guard !known.isDeleted else { throw CatalogError.deletedList(new.id) }
                return (.list(known, isNew: false), [])
            }
            try writer.checkListCount(connection)
            try writer.place(list, as: .owner, by: nil, connection)
            try AuditLog.record(.list(.listCreate, new.id), of: user, connection)
            let notified = try writer.notify([user.text], new.id, .newList(list), connection)
            return (.list(try writer.membership(new.id, connection), isNew: true), Array(notified.keys))
        }
    }

    func editList(
        _ id: UniqueID,
        of user: UserID,
        _ edit: ListEdit,
        expected: Set<Int64>?,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument {
        try await writeLists(of: user, id, once: call) { writer, connection in
            let before = try writer.lockMembership(id, connection, currentOnly: false)
            let (outcome, notified) = try apply(edit, to: before, expected, writer, connection)
            return (.change(outcome), notified)
        }
    }

    /// Changes a list whose row is locked.
    private func apply(
        _ edit: ListEdit,
        to before: ListMembership,
        _ expected: Set<Int64>?,
        _ writer: ListWriter,
        _ connection: isolated PostgresConnection
    ) throws -> (ListOutcome, notified: [UserID]) {
        try before.check(edit, expected)
        if edit.restoresList, before.list.isDeleted {
            let members = try writer.members(before.list, connection)
            try ListWriter.lockAccounts(members, connection)
            try writer.checkListCount(connection)
        }
        var membership = before
        let products = try ListWriter.facts([], edit.products, for: [], lookup, connection)
        let changed = try membership.list.apply(edit, products, now: .now())
        let sorts = [before.list.sort, membership.list.sort]
        // The manual order needs no catalog data; other sorts compare all items, including deleted ones.
        let reportedIDs = changed.union(edit.added)
        let neededItems =
            sorts == [.position, .position]
            ? membership.list.items.filter { reportedIDs.contains($0.id) } : before.list.items + membership.list.items
        let facts = try ListWriter.facts(neededItems, for: sorts, lookup, connection)
        var outcome = ListOutcome(of: edit, before.list, membership, changed, facts)
        if membership.list != before.list {
            try writer.update(membership.list, replacing: before.list, lookup, connection)
        }
        guard outcome.isChange else { return (outcome, []) }
        try AuditLog.record(.list(edit, outcome), of: writer.user, connection)
        let members = try writer.members(membership.list, connection)
        let revisions = try writer.notify(members, membership.list.id, .list(outcome), connection)
        outcome.membership.revision = revisions[writer.user] ?? membership.revision
        return (outcome, Array(revisions.keys))
    }

    func removeList(_ id: UniqueID, of user: UserID, expected: Set<Int64>?) async throws(CatalogError) {
        try await writeLists(of: user) { writer, connection in
            let before = try writer.lockMembership(id, connection)
            guard before.role == .owner else {
                try before.checkVersion(expected)
                let notified = try writer.removeMembers([user.text], before.list, connection)
                try AuditLog.record(.list(.listLeave, id), of: user, connection)
                return ((), Array(notified.keys))
            }
            let edit = ListEdit.set(ListSettings(isDeleted: true))
            return ((), try apply(edit, to: before, expected, writer, connection).notified)
        }
    }

    func moveLists(
        _ moves: [OrderMove],
        of user: UserID,
        once call: IdempotentCall<ListMoveOutcome>?
    ) async throws(CatalogError) -> ListMoveOutcome {
        try await writeLists(of: user, once: call) { _, connection in
            let owner: [PostgresValue] = [.text(user.text)]
            let revision = try connection.query(UserStatements.lockAccount, owner) {
                try $0.first { try $0.int8(0) } ?? 0
            }
            let all = try ListPlaces(of: user, connection)
            let current = try all.current(connection)
            var list = PositionList(
                all.places.map { .init(id: $0.list.text, key: $0.key, isRemoved: !current.contains($0.list)) }
            )
            let old = list.ids
            let made = try list.renumber(by: moves)
            let moved = ListMoveOutcome.between(old, list.ids)
            guard !moved.isEmpty else { return (ListMoveOutcome(revision: revision, moved: []), []) }
            try connection.execute(
                ListStatements.movePlaces,
                owner + [.textArray(made.map(\.id)), .byteaArray(made.map(\.key.bytes))]
            )
            let counted = try connection.query(ListStatements.incrementRevision, owner) {
                try $0.first { try $0.int8(0) }!
            }
            let outcome = ListMoveOutcome(revision: counted, moved: moved)
            let data = String(decoding: encode(.listOrder(outcome)), as: UTF8.self)
            try connection.execute(ListStatements.recordMoveEvent, owner + [.int8(counted), .text(data)])
            try ListWriter.trim([(user.text, counted)], connection)
            try AuditLog.record(.listOrder(outcome), of: user, connection)
            return (outcome, [user])
        }
    }

    /// Runs a change to a user's lists once per call, and announces it to the affected users.
    ///
    /// - Parameter list: a list that the user must be a member of, also for a repeated call.
    func writeLists<Outcome: Sendable>(
        of user: UserID,
        _ list: UniqueID? = nil,
        once call: IdempotentCall<Outcome>?,
        _ body: @escaping @Sendable (ListWriter, isolated PostgresConnection) throws -> (Outcome, notified: [UserID])
    ) async throws(CatalogError) -> Outcome {
        try await writeLists(of: user, list) { writer, connection in
            let (outcome, notified) = try IdempotencyRecords(user: user).performOnce(call, connection) {
                try body(writer, connection)
            }
            return (outcome, notified ?? [])
        }
    }

    /// Runs a change to a user's lists without recording it.
    func writeLists<T: Sendable>(
        of user: UserID,
        _ list: UniqueID? = nil,
        _ body: @escaping @Sendable (ListWriter, isolated PostgresConnection) throws -> (T, notified: [UserID])
    ) async throws(CatalogError) -> T {
        try await database.mappingErrors {
            let writer = ListWriter(user: user, encode: encode)
            let (value, notified) = try await database.retryingErasureConflicts { [database] in
                try await database.writes.transaction(within: .edit, of: .user(user)) { connection in
                    if let list { try writer.checkMembership(list, connection) }
                    // Do not lock the account: another transaction with a list lock may be about to notify this user.
                    try writer.ensureAccount(connection)
                    return try body(writer, connection)
                }
            }
            for user in notified { database.announcer.announce(.user(user)) }
            return value
        }
    }
}
