internal import Catalog
internal import CatalogJSON
internal import LibPQ
internal import Ordering

/// Reads and writes lists in a transaction. Lock order: first the list's row, then the accounts of its members,
/// by user id.
struct ListWriter {
    let user: UserID
    private var caller: PostgresValue { .text(user.text) }

    /// The number of events kept per user, from which devices can resume.
    static let eventLimit = 1000

    // MARK: - Reading

    /// - Parameter currentOnly: false also returns a deleted or left list.
    /// - Throws: `notFound`.
    func membership(
        _ id: UniqueID,
        _ connection: isolated PostgresConnection,
        currentOnly: Bool = true
    ) throws -> ListMembership {
        let found = try connection.query(ListStatements.membership, [caller, .text(id.text)]) {
            try $0.first { try ListRow.membership($0) }
        }
        guard var membership = found, !currentOnly || !membership.isDeleted else {
            throw CatalogError.notFound("list “\(id)”")
        }
        membership.list.items = try connection.query(
            ListStatements.items,
            [.text(membership.list.owner.text), .text(id.text)]
        ) {
            try $0.map { try ListRow.item($0) }
        }
        return membership
    }

    /// Returns the membership; nil if the user does not have the list.
    func membershipOrNil(
        _ id: UniqueID,
        _ connection: isolated PostgresConnection,
        currentOnly: Bool = true
    ) throws -> ListMembership? {
        do { return try membership(id, connection, currentOnly: currentOnly) } catch CatalogError.notFound {
            return nil
        }
    }

    /// - Throws: `notFound` if the user is not, or no longer, a member of the list.
    func checkMembership(_ id: UniqueID, _ connection: isolated PostgresConnection) throws {
        let isMember = try connection.query(ListStatements.activeMembership, [caller, .text(id.text)]) { $0.count > 0 }
        guard isMember else { throw CatalogError.notFound("list “\(id)”") }
    }

    /// Returns the membership and locks the list's row: list and members cannot change until the transaction ends.
    func lockMembership(
        _ id: UniqueID,
        _ connection: isolated PostgresConnection,
        currentOnly: Bool = true
    ) throws -> ListMembership {
        for _ in 0..<8 {
            let owner = try connection.query(ListStatements.owner, [caller, .text(id.text)]) {
                try $0.first { try $0.text(0) }
            }
            guard let owner else { throw CatalogError.notFound("list “\(id)”") }
            let exists = try connection.query(ListStatements.lock, [.text(owner), .text(id.text)]) { $0.count > 0 }
            // The owner may have changed, or been erased, while waiting for the lock.
            let found = try membership(id, connection, currentOnly: currentOnly)
            if exists, found.list.owner.text == owner { return found }
        }
        throw CatalogError.unavailable
    }

    /// Returns the catalog data that sorts need, for the products of items and for additional products.
    static func facts(
        _ items: [ListItem],
        _ more: [ProductReference] = [],
        for sorts: [ListItemSort],
        _ connection: isolated PostgresConnection
    ) throws -> ListFacts {
        var facts = ListFacts()
        let references = Set(items.compactMap(\.product) + more)
        for (key, wanted) in Dictionary(grouping: references, by: \.store) {
            guard let read = try ShelfLookup.storeIfExists(key, connection) else { continue }
            let scope: [PostgresValue] = [.int4(read.id), .textArray(wanted.map(\.sku.text))]
            for product in try connection.query(
                PostgresProductStore.productsByKey,
                scope,
                { try $0.map { try ProductRow.read($0) } }
            ) {
                facts.products[ProductReference(key, product.sku)] = (read.store, product)
            }
            guard sorts.contains(.shelf) else { continue }
            try connection.query(ListStatements.aisles, scope) { rows in
                try rows.forEach { row in
                    facts.aisles[ProductReference(key, SKU(stored: try row.text(0)))] = try row.int(1)
                }
            }
        }
        guard sorts.contains(where: { [.name, .nameDescending].contains($0) }) else { return facts }
        // Rank both names: the product may be deleted before the next read.
        let names = Set(items.flatMap { [facts.name(of: $0), $0.text] })
        facts.ranks = try connection.query(ListStatements.ranks, [.textArray(Array(names))]) { rows in
            Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0), try $0.int(1)) })
        }
        return facts
    }

    // MARK: - Writing

    func ensureAccount(_ connection: isolated PostgresConnection) throws {
        try connection.execute(
            ListStatements.ensureAccount,
            [caller, .int8(SettingsEdit.firstRevision(.now()))]
        )
    }

    /// - Throws: `unprocessable` if the user has reached the list limit. The account lock serializes concurrent
    ///   creations.
    func checkListCount(_ connection: isolated PostgresConnection) throws {
        try connection.execute(UserStatements.lockAccount, [caller])
        let (current, all) = try listCounts(connection)
        guard current < UserList.countLimit else { throw CatalogError.tooManyLists }
        guard all < UserList.totalCountLimit else { throw CatalogError.tooManyDeletedLists }
    }

    /// Checks that the user can take over the lists of a guest.
    ///
    /// - Throws: `unprocessable` if the user would exceed a limit.
    func checkMerge(of guest: ListWriter, _ connection: isolated PostgresConnection) throws {
        let (own, brought) = (try listCounts(connection), try guest.listCounts(connection))
        guard brought.all > 0 else { return }
        // The account may already have lists that the guest joined.
        let known = try ids(ListStatements.ownLists, connection).union(ids(ListStatements.joinedLists, connection))
        let shared = try guest.ids(ListStatements.joinedLists, connection).intersection(known).count
        guard own.current + brought.current - shared <= UserList.countLimit else { throw CatalogError.tooManyLists }
        guard own.all + brought.all - shared <= UserList.totalCountLimit else { throw CatalogError.tooManyDeletedLists }
        guard try itemCount(connection) + guest.itemCount(connection) <= UserList.allItemsLimit else {
            throw CatalogError.tooManyItems
        }
    }

    /// Returns the ids that a statement finds for the user.
    private func ids(_ statement: PostgresStatement, _ connection: isolated PostgresConnection) throws -> Set<String> {
        Set(try connection.query(statement, [caller]) { try $0.map { try $0.text(0) } })
    }

    /// Returns the numbers of a user's lists, and of all including deleted and left ones.
    private func listCounts(_ connection: isolated PostgresConnection) throws -> (current: Int, all: Int) {
        try connection.query(ListStatements.listCounts, [caller]) {
            try $0.first { (try $0.int(0), try $0.int(1)) } ?? (0, 0)
        }
    }

    /// Returns the number of items of the user's own lists, at most one more than allowed.
    func itemCount(_ connection: isolated PostgresConnection) throws -> Int {
        try connection.query(ListStatements.itemCount, [caller, .int8(Int64(UserList.allItemsLimit + 1))]) {
            try $0.first { try $0.int(0) } ?? 0
        }
    }

    /// Writes a list and its changed items, and deletes items that it no longer has.
    func update(
        _ list: UserList,
        replacing before: UserList,
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.executeDeferred(ListStatements.update, ListRow.parameters(list, isNew: false))
        let purgedIDs = Set(before.items.map(\.id)).subtracting(list.items.map(\.id))
        if !purgedIDs.isEmpty {
            try connection.executeDeferred(
                ListStatements.purgeItems,
                [.text(list.owner.text), .text(list.id.text), .textArray(purgedIDs.map(\.text))]
            )
        }
        let known = Set(before.items)
        let items = list.items.filter { !known.contains($0) }
        guard !items.isEmpty else { return }
        let added = Set(items.map(\.id)).subtracting(before.items.map(\.id)).count
        if added > 0, try ListWriter(user: list.owner).itemCount(connection) + added > UserList.allItemsLimit {
            throw CatalogError.tooManyItems
        }
        try connection.executeDeferred(
            ListStatements.writeItems,
            [.text(list.owner.text), .text(list.id.text), .jsonb(ListRow.json(items))]
        )
    }

    /// Adds the user to a list, at the end of their order or at its former place.
    func place(
        _ list: UserList,
        as role: ListRole,
        by share: UniqueID?,
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.execute(UserStatements.lockAccount, [caller])
        let last = try connection.query(ListStatements.lastKey, [caller]) {
            try $0.first { try PathKey(bytes: try $0.bytea(0)) }
        }
        try connection.execute(
            ListStatements.place,
            [
                caller, .text(list.id.text), .text(list.owner.text), .text(role.rawValue), .text(share?.text),
                .bytea(PathKey.appending(1, after: last)[0].bytes),
            ]
        )
    }

    /// Returns all members of a list.
    static func members(_ list: UserList, _ connection: isolated PostgresConnection) throws -> [String] {
        try connection.query(ListStatements.members, [.text(list.owner.text), .text(list.id.text)]) {
            try $0.map { try $0.text(0) }
        }
    }

    /// Increments the revision of list members and stores the event for their devices.
    ///
    /// - Parameter isLeaving: whether they leave the list.
    /// - Returns: the notified users and their new revisions.
    @discardableResult static func notify(
        _ users: [String],
        _ list: UniqueID,
        _ data: [UInt8],
        isLeaving: Bool = false,
        _ connection: isolated PostgresConnection
    ) throws -> [UserID: Int64] {
        guard !users.isEmpty else { return [:] }
        let notified = try connection.query(
            ListStatements.recordEvent,
            [.textArray(users), .text(list.text), .text(String(decoding: data, as: UTF8.self)), .bool(isLeaving)]
        ) { try $0.map { (try $0.text(0), try $0.int8(1)) } }
        try trim(notified, connection)
        return Dictionary(uniqueKeysWithValues: try notified.map { (try UserID(stored: $0.0), $0.1) })
    }

    /// Records an event about a new list for its user.
    ///
    /// - Returns: the users to announce it to.
    func notifyNewMember(_ id: UniqueID, _ connection: isolated PostgresConnection) throws -> [UserID] {
        let data = try membership(id, connection, currentOnly: false).list.announcement
        return Array(try Self.notify([user.text], id, data, connection).keys)
    }

    /// Removes users from a list.
    @discardableResult static func removeMembers(
        _ users: [String],
        _ list: UniqueID,
        _ connection: isolated PostgresConnection
    ) throws -> [UserID: Int64] {
        try notify(users, list, LiveEvent.leftList(list, 0).data, isLeaving: true, connection)
    }

    /// Deletes a user's old events, at one in 64 changes: revisions grow with the clock.
    static func trim(_ notified: [(user: String, revision: Int64)], _ connection: isolated PostgresConnection) throws {
        for (user, revision) in notified where revision % 64 == 0 {
            try connection.execute(ListStatements.trimEvents, [.text(user), .int8(Int64(eventLimit))])
        }
    }
}
