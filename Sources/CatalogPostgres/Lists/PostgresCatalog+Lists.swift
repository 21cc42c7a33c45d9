internal import CatalogJSON
package import Catalog
internal import Ordering
internal import LibPQ

extension PostgresCatalog {
    package func lists(of user: UserID, by sort: ListSort?, since: Int64?) async throws(CatalogError) -> ListsPage {
        try await mappingErrors {
            try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(10)) { database in
                var page = ListsPage(entries: [], revision: 0, isResync: since ?? 0 > 0)
                var ranks: [String: Int] = [:]
                try database.query(ListStatements.lists, [.text(user.text), .int8(since)]) { rows in
                    try rows.forEach { row in
                        page.revision = try row.int8(0)
                        page.isResync = try row.bool(1)
                        guard !row.isNull(2) else { return }
                        let entry = try Self.entry(row)
                        guard since != nil || !entry.held.isDeleted else { return }
                        page.entries.append(entry)
                        ranks[entry.held.list.name] = try row.int(3 + ListRow.listWidth + ListRow.placeWidth + 2)
                    }
                }
                guard since == nil else {
                    // The order of all, whatever changed.
                    let places = try database.query(ListStatements.places, [.text(user.text)]) {
                        try $0.map { (id: try $0.text(0), key: try $0.bytea(1), isGone: try $0.bool(2)) }
                    }
                    let own = places.filter { !$0.isGone }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                    page.order = own.compactMap { UniqueID($0.id) }
                    return page
                }
                let own = try sort == nil ? Self.listsSettings(user, database)[SettingKey.listsSort.text] : nil
                return page.sorted(by: sort ?? ListSort(setting: own), ranks)
            }
        }
    }

    private static func entry(_ row: borrowing PostgresRow) throws -> ListsPage.Entry {
        let place = 3 + ListRow.listWidth
        let counts = place + ListRow.placeWidth
        if row.isNull(3) {
            // It was left, or its owner is gone.
            guard let id = UniqueID(try row.text(2)), let role = ListRole(rawValue: try row.text(place)) else {
                throw PostgresError(.decoding, "a stored list cannot be read")
            }
            let key = try PathKey(bytes: try row.bytea(place + 1))
            let moment = try ListRow.moment(row, place + 3) ?? .now()
            let gone = HeldList.gone(id, role, key, try row.int8(place + 2), leftAt: moment)
            return .init(held: gone, items: 0, checked: 0)
        }
        return .init(
            held: try ListRow.held(row, try ListRow.list(row, from: 3), from: place),
            items: try row.int(counts),
            checked: try row.int(counts + 1)
        )
    }

    private static func listsSettings(
        _ user: UserID,
        _ database: isolated PostgresConnection
    ) throws -> [String: JSONValue] {
        try database.query(
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

    package func list(
        _ id: UniqueID,
        of user: UserID,
        by sort: ListItemSort?
    ) async throws(CatalogError) -> (HeldList, ListFacts) {
        try await mappingErrors {
            try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(10)) { database in
                let held = try ListWriter(user: user).held(id, database)
                return (held, try ListWriter.facts(held.list.items, for: [sort ?? held.list.sort], database))
            }
        }
    }

    // MARK: - Writing

    package func createList(
        _ new: NewList,
        of user: UserID,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (HeldList, _ isNew: Bool) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await writeLists(of: user, once: call) { writer, database in
            let sinks = try Self.listsSettings(user, database)[SettingKey.listsSinkChecked.text]
            let list = new.list(of: user, sinksChecked: sinks, now: .now())
            // The list before the account, as everywhere; who makes the same at once waits here.
            var known = try writer.heldOrNil(new.id, database, standing: false)
            if known == nil, try database.execute(ListStatements.insert, ListRow.parameters(list, isNew: true)) == 0 {
                known = try writer.held(new.id, database, standing: false)
            }
            if let known {
                guard !known.isDeleted else { throw CatalogError.goneList(new.id) }
                return (render(known, false), [])
            }
            try writer.checkNumber(database)
            try writer.place(list, as: .owner, by: nil, database)
            let told = try ListWriter.tell([user.text], new.id, list.announcement, database)
            return (render(try writer.held(new.id, database), true), Array(told.keys))
        }
    }

    package func editList(
        _ id: UniqueID,
        of user: UserID,
        _ edit: ListEdit,
        expected: Set<Int64>?,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (ListOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await writeLists(of: user, id, once: call) { writer, database in
            let before = try writer.hold(id, database, standing: false)
            let (outcome, told) = try Self.apply(edit, to: before, expected, writer, database)
            return (render(outcome), told)
        }
    }

    /// Changes a list whose row is held.
    private static func apply(
        _ edit: ListEdit,
        to before: HeldList,
        _ expected: Set<Int64>?,
        _ writer: ListWriter,
        _ database: isolated PostgresConnection
    ) throws -> (ListOutcome, told: [UserID]) {
        try before.check(edit, expected)
        if edit.bringsBack, before.list.isDeleted {
            let members = try ListWriter.members(before.list, database)
            try database.execute(ListStatements.lockAccounts, [.textArray(members)])
            try writer.checkNumber(database)
        }
        var held = before
        let products = try ListWriter.facts([], edit.products, for: [], database)
        let changed = try held.list.apply(edit, products, now: .now())
        let sorts = [before.list.sort, held.list.sort]
        // The manual order asks for nothing; another compares all, also those that went.
        let told = changed.union(edit.added)
        let asked =
            sorts == [.position, .position]
            ? held.list.items.filter { told.contains($0.id) } : before.list.items + held.list.items
        let facts = try ListWriter.facts(asked, for: sorts, database)
        var outcome = ListOutcome(of: edit, before.list, held, changed, facts)
        if held.list != before.list { try writer.write(held.list, insteadOf: before.list, database) }
        guard outcome.isChange else { return (outcome, []) }
        let members = try ListWriter.members(held.list, database)
        let revisions = try ListWriter.tell(members, held.list.id, outcome.event, database)
        outcome.held.revision = revisions[writer.user] ?? held.revision
        return (outcome, Array(revisions.keys))
    }

    package func removeList(_ id: UniqueID, of user: UserID, expected: Set<Int64>?) async throws(CatalogError) {
        _ = try await writeLists(of: user, once: nil) { writer, database in
            let before = try writer.hold(id, database)
            guard before.role == .owner else {
                try before.checkVersion(expected)
                let told = try ListWriter.leave([user.text], id, database)
                return (RecordedAnswer(body: []), Array(told.keys))
            }
            let edit = ListEdit.set(ListSettings(isDeleted: true))
            return (RecordedAnswer(body: []), try Self.apply(edit, to: before, expected, writer, database).told)
        }
    }

    package func moveLists(
        _ moves: [OrderMove],
        of user: UserID,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (ListsMoved) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await writeLists(of: user, once: call) { _, database in
            let owner: [PostgresValue] = [.text(user.text)]
            let revision = try database.query(ListStatements.lockAccount, owner) {
                try $0.first { try $0.int8(0) } ?? 0
            }
            var list = PositionList(
                try database.query(ListStatements.places, owner) {
                    try $0.map { row in
                        .init(
                            id: try row.text(0),
                            key: try PathKey(bytes: try row.bytea(1)),
                            isRemoved: try row.bool(2)
                        )
                    }
                }
            )
            let old = list.ids
            let made = try list.renumber(by: moves)
            let moved = ListsMoved.between(old, list.ids)
            guard !moved.isEmpty else { return (render(ListsMoved(revision: revision, moved: [])), []) }
            try database.execute(
                ListStatements.movePlaces,
                owner + [.textArray(made.map(\.id)), .byteaArray(made.map(\.key.bytes))]
            )
            let counted = try database.query(ListStatements.countMoved, owner) { try $0.first { try $0.int8(0) }! }
            let outcome = ListsMoved(revision: counted, moved: moved)
            let data = String(decoding: outcome.json, as: UTF8.self)
            try database.execute(ListStatements.tellMoved, owner + [.int8(counted), .text(data)])
            try ListWriter.trim([(user.text, counted)], database)
            return (render(outcome), [user])
        }
    }

    /// Runs a change of a user's lists once for a call, and has those who are told of it looked at.
    ///
    /// - Parameter list: one that the user must have, also where the call is a repeated one.
    func writeLists(
        of user: UserID,
        _ list: UniqueID? = nil,
        once call: IdempotentCall?,
        _ body: @escaping @Sendable (ListWriter, isolated PostgresConnection) throws -> (RecordedAnswer, told: [UserID])
    ) async throws(CatalogError) -> RecordedAnswer {
        try await mappingErrors {
            let (answer, told) = try await besideErasure { [pool] in
                try await pool.transaction(within: .seconds(10)) { database in
                    let writer = ListWriter(user: user)
                    if let list { try writer.checkPlace(list, database) }
                    // Not held: whoever holds a list may be about to tell this user.
                    try writer.ensureAccount(database)
                    var told: [UserID] = []
                    let answer = try IdempotencyRecords(user: user).once(call, database) {
                        let (answer, users) = try body(writer, database)
                        told = users
                        return answer
                    }
                    return (answer, told)
                }
            }
            for user in told { changes.announce(.user(user)) }
            return answer
        }
    }
}
