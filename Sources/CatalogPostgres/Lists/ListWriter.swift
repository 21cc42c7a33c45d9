internal import Catalog
internal import Collation
internal import LibPQ
internal import Ordering

/// Reads and writes lists in a transaction. Lock order: first the list's row, then the accounts of its members,
/// by user id.
struct ListWriter {
    let user: UserID
    let encode: UserEvent.Encoder
    private var caller: PostgresValue { .text(user.text) }

    /// The number of events kept per user, from which devices can resume.
    static let eventLimit = 1000

    /// Returns a writer for another user.
    func of(_ user: UserID) -> ListWriter { ListWriter(user: user, encode: encode) }

    // MARK: - Reading

    /// - Parameter currentOnly: false also returns a deleted or left list.
    /// - Throws: `notFound`.
    func membership(
        _ id: UniqueID,
        _ connection: isolated PostgresConnection,
        currentOnly: Bool = true
    ) throws -> ListMembership {
        let place = try connection.query(ListStatements.placeOfList, [caller, .text(id.text)]) {
            try $0.first { try ListRow.Place($0) }
        }
        guard let place else { throw CatalogError.notFound("list “\(id)”") }
        let key: [PostgresValue] = [.text(place.owner), .text(id.text)]
        // Without a list, the owner was erased.
        var list: UserList?
        var items: [ListItem] = []
        try connection.queryBatch([PostgresQuery(ListStatements.list, key), PostgresQuery(ListStatements.items, key)]) {
            index,
            rows in
            if index == 0 {
                list = try rows.first { try ListRow.list($0) }
            } else {
                items = try rows.map { try ListRow.item($0) }
            }
        }
        list?.items = items
        guard let membership = list.map(place.membership), !currentOnly || !membership.isDeleted else {
            throw CatalogError.notFound("list “\(id)”")
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

    /// Returns the membership of a user who has not left the list, which may be deleted; otherwise nil.
    func activeMembership(
        _ id: UniqueID,
        _ connection: isolated PostgresConnection
    ) throws -> ListMembership? {
        let found = try membershipOrNil(id, connection, currentOnly: false)
        return found?.leftAt == nil ? found : nil
    }

    /// Returns the owner of a list that the user has or has left; nil for an unknown list.
    func owner(of id: UniqueID, _ connection: isolated PostgresConnection) throws -> String? {
        try connection.query(ListStatements.owner, [caller, .text(id.text)]) { try $0.first { try $0.text(0) } }
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
        try attempting(8) {
            guard let owner = try owner(of: id, connection) else { throw CatalogError.notFound("list “\(id)”") }
            let exists = try connection.query(ListStatements.lock, [.text(owner), .text(id.text)]) { $0.count > 0 }
            // The owner may have changed, or been erased, while waiting for the lock.
            let found = try membership(id, connection, currentOnly: currentOnly)
            return exists && found.list.owner.text == owner ? found : nil
        }
    }

    /// Returns the catalog data that sorts need, for the products of items and for additional products.
    static func facts(
        _ items: [ListItem],
        _ more: [ProductReference] = [],
        for sorts: [ListItemSort],
        _ lookup: ShelfLookup,
        _ connection: isolated PostgresConnection
    ) throws -> ListFacts {
        var facts = ListFacts()
        let references = Set(items.compactMap(\.product) + more)
        for (key, wanted) in Dictionary(grouping: references, by: \.store) {
            guard let read = try lookup.storeIfExists(key, connection) else { continue }
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
        facts.ranks = ranks(of: names, in: facts.language)
        return facts
    }

    /// Returns the ranks of texts in a language; different texts with equal keys are ordered by their bytes.
    ///
    /// - Complexity: O(*n* log *n*) for *n* texts.
    static func ranks(of texts: Set<String>, in language: String) -> [String: Int] {
        let collator = LanguageCollator.of(language)
        let sorted = texts.map { (key: collator.key($0), text: $0) }.sorted { a, b in
            a.key == b.key
                ? a.text.utf8.lexicographicallyPrecedes(b.text.utf8) : a.key.lexicographicallyPrecedes(b.key)
        }
        return Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1.text, $0) })
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
        let (current, all) = try listKeys(connection)
        guard current.count < UserList.countLimit else { throw CatalogError.tooManyLists }
        guard all.count < UserList.totalCountLimit else { throw CatalogError.tooManyDeletedLists }
    }

    /// Checks that the user can take over the lists of a guest.
    ///
    /// - Throws: `unprocessable` if the user would exceed a limit.
    func checkMerge(of guest: ListWriter, _ connection: isolated PostgresConnection) throws {
        let (own, brought) = (try listKeys(connection), try guest.listKeys(connection))
        guard !brought.all.isEmpty else { return }
        // Lists that both have count once.
        guard own.current.union(brought.current).count <= UserList.countLimit else { throw CatalogError.tooManyLists }
        guard own.all.union(brought.all).count <= UserList.totalCountLimit else {
            throw CatalogError.tooManyDeletedLists
        }
        guard try itemCount(connection) + guest.itemCount(connection) <= UserList.allItemsLimit else {
            throw CatalogError.tooManyItems
        }
    }

    /// The id of a list and its owner. Two owners may have lists with the same id.
    private struct ListKey: Hashable {
        let owner: String
        let list: UniqueID
    }

    /// Returns a user's lists, and all including deleted and left ones.
    private func listKeys(
        _ connection: isolated PostgresConnection
    ) throws -> (current: Set<ListKey>, all: Set<ListKey>) {
        let places = try ListPlaces(of: user, connection)
        let current = try places.current(connection)
        let all = places.places.map { ListKey(owner: $0.owner, list: $0.list) }
        return (Set(all.filter { current.contains($0.list) }), Set(all))
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
        _ lookup: ShelfLookup,
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
        if added > 0, try of(list.owner).itemCount(connection) + added > UserList.allItemsLimit {
            throw CatalogError.tooManyItems
        }
        try connection.executeDeferred(
            ListStatements.writeItems,
            [
                .text(list.owner.text), .text(list.id.text),
                .jsonb(
                    ListRow.json(items, try lookup.ids(of: Set(items.compactMap { $0.product?.store }), connection))
                ),
            ]
        )
    }

    /// Locks accounts in the given order.
    static func lockAccounts(_ users: [String], _ connection: isolated PostgresConnection) throws {
        guard !users.isEmpty else { return }
        let queries = users.map { PostgresQuery(UserStatements.lockAccount, [.text($0)]) }
        try connection.queryBatch(queries) { _, _ in }
    }

    /// Adds the user to a list, at the end of their order or at its former place.
    func place(
        _ list: UserList,
        as role: ListRole,
        by share: UniqueID?,
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.execute(UserStatements.lockAccount, [caller])
        // The user may have left another owner's list with the same id.
        if let former = try owner(of: list.id, connection), former != list.owner.text {
            try connection.executeDeferred(ListStatements.deleteMember, [.text(former), .text(list.id.text), caller])
        }
        try connection.execute(
            ListStatements.place,
            [
                caller, .text(list.id.text), .text(list.owner.text), .text(role.rawValue), .text(share?.text),
                .bytea(try endKey(connection).bytes),
            ]
        )
        try connection.executeDeferred(
            ListStatements.addMember,
            [.text(list.owner.text), .text(list.id.text), caller, .text(share?.text)]
        )
    }

    /// Returns an ordering key after all lists of the user.
    private func endKey(_ connection: isolated PostgresConnection) throws -> PathKey {
        let last = try connection.query(ListStatements.lastKey, [caller]) {
            try $0.first { try PathKey(bytes: try $0.bytea(0)) }
        }
        return PathKey.appending(1, after: last)[0]
    }

    /// Returns all members of a list, in the order in which accounts are locked.
    ///
    /// - Parameter withFormer: whether to include those who left.
    func members(
        _ list: UserList,
        withFormer: Bool = false,
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        try connection.query(
            ListStatements.members,
            [.text(list.owner.text), .text(list.id.text), .bool(withFormer)]
        ) { try $0.map { try $0.text(0) } }
    }

    /// Returns the members of a list who joined through a share.
    func members(
        _ list: UserList,
        by share: UniqueID,
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        try connection.query(
            ListStatements.membersByShare,
            [.text(list.owner.text), .text(list.id.text), .text(share.text)]
        ) { try $0.map { try $0.text(0) } }
    }

    /// Increments the revision of list members and stores the event for their devices. Their accounts are locked in the given order,
    /// which must be that of `members`.
    ///
    /// - Parameter event: if they left the list, its earlier events are deleted.
    /// - Returns: the notified users and their new revisions.
    @discardableResult func notify(
        _ users: [String],
        _ list: UniqueID,
        _ event: UserEvent,
        _ connection: isolated PostgresConnection
    ) throws -> [UserID: Int64] {
        guard !users.isEmpty else { return [:] }
        var notified: [(user: String, revision: Int64)] = []
        let queries = users.map { PostgresQuery(ListStatements.incrementRevision, [.text($0)]) }
        try connection.queryBatch(queries) { index, rows in
            let revision = try rows.first { try $0.int8(0) }
            if let revision { notified.append((users[index], revision)) }
        }
        let text = PostgresValue.text(String(decoding: encode(event), as: UTF8.self))
        let isLeaving = if case .leftList = event { true } else { false }
        for (user, revision) in notified {
            let key: [PostgresValue] = [.text(user), .text(list.text)]
            if isLeaving { try connection.executeDeferred(ListStatements.deleteEventsOfList, key) }
            let place = isLeaving ? ListStatements.leave : ListStatements.setRevision
            try connection.executeDeferred(place, key + [.int8(revision)])
            try connection.executeDeferred(ListStatements.recordEvent, key + [.int8(revision), text])
        }
        try Self.trim(notified, connection)
        return Dictionary(uniqueKeysWithValues: try notified.map { (try UserID(stored: $0.0), $0.1) })
    }

    /// Records an event about a new list for its user.
    ///
    /// - Returns: the users to announce it to.
    func notifyNewMember(_ id: UniqueID, _ connection: isolated PostgresConnection) throws -> [UserID] {
        let list = try membership(id, connection, currentOnly: false).list
        return Array(try notify([user.text], id, .newList(list), connection).keys)
    }

    /// Removes users from a list.
    @discardableResult func removeMembers(
        _ users: [String],
        _ list: UserList,
        _ connection: isolated PostgresConnection
    ) throws -> [UserID: Int64] {
        let notified = try notify(users, list.id, .leftList(list.id), connection)
        for user in users {
            try connection.executeDeferred(
                ListStatements.removeMember,
                [.text(list.owner.text), .text(list.id.text), .text(user)]
            )
        }
        return notified
    }

    /// Copies a list to its new owner, together with its shares and members. The user is the old owner.
    ///
    /// If the id of the list changes, the members leave the list with the old id. They get the list with the new id at the same
    /// place of their order.
    ///
    /// - Returns: the notified members. The new owner is not notified.
    func transfer(
        _ list: UserList,
        to transferred: UserList,
        _ connection: isolated PostgresConnection
    ) throws -> [UserID] {
        let (old, new) = (PostgresValue.text(list.owner.text), PostgresValue.text(transferred.owner.text))
        let (id, newID) = (PostgresValue.text(list.id.text), PostgresValue.text(transferred.id.text))
        for statement in ListStatements.transferOwnership { try connection.execute(statement, [old, id, new, newID]) }
        let owners = [list.owner.text, transferred.owner.text]
        let current = try members(list, connection).filter { !owners.contains($0) }
        let all = try members(list, withFormer: true, connection).filter { !owners.contains($0) }
        let hasNewID = transferred.id != list.id
        if hasNewID {
            let accounts = (current + [transferred.owner.text]).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            try Self.lockAccounts(accounts, connection)
        }
        var moved: [String] = []
        for member in all {
            // Former members remember the list by the old id, so the id does not change for them.
            let isKept = !hasNewID || current.contains(member)
            let place: [PostgresValue] = [.text(member), id, new, newID, old]
            if isKept, try connection.execute(ListStatements.transferPlace, place) > 0 {
                moved.append(member)
                continue
            }
            // They left, or were erased meanwhile.
            try connection.execute(ListStatements.deleteMember, [new, newID, .text(member)])
            try Self.clearOwner(of: list, for: member, connection)
        }
        try transferTokens(of: list, to: transferred.owner, connection)
        return hasNewID ? try announce(transferred, replacing: list, to: moved, connection) : []
    }

    /// Transfers the tokens of a list's shares to its new owner.
    private func transferTokens(
        of list: UserList,
        to owner: UserID,
        _ connection: isolated PostgresConnection
    ) throws {
        let key: [PostgresValue] = [.text(list.owner.text), .text(list.id.text)]
        for digest in try connection.query(ListStatements.shareDigests, key, { try $0.map { try $0.bytea(0) } }) {
            try connection.executeDeferred(UserStatements.transferToken, [.bytea(digest), .text(owner.text)])
        }
    }

    /// Notifies members that they left the list with the old id and have the list with the new id. Their places already have the new id.
    ///
    /// - Returns: the notified members.
    private func announce(
        _ list: UserList,
        replacing old: UserList,
        to members: [String],
        _ connection: isolated PostgresConnection
    ) throws -> [UserID] {
        for member in members {
            let end = try of(UserID(stored: member)).endKey(connection)
            let values: [PostgresValue] = [.text(member), .text(old.id.text), .bytea(end.bytes)]
            try connection.execute(ListStatements.placeDeparture, values)
        }
        try notify(members, old.id, .leftList(old.id), connection)
        return Array(try notify(members, list.id, .newList(list), connection).keys)
    }

    /// Removes the owner's id from a member's place in a list that no longer exists.
    static func clearOwner(
        of list: UserList,
        for member: String,
        _ connection: isolated PostgresConnection
    ) throws {
        let key: [PostgresValue] = [.text(member), .text(list.id.text), .text(list.owner.text)]
        try connection.executeDeferred(ListStatements.clearOwner, key)
    }

    /// Deletes the user's place in a list of any owner.
    func deletePlace(in list: UniqueID, _ connection: isolated PostgresConnection) throws {
        let owner = try connection.query(ListStatements.deletePlace, [caller, .text(list.text)]) {
            try $0.first { try $0.text(0) }
        }
        guard let owner else { return }
        try connection.executeDeferred(ListStatements.deleteMember, [.text(owner), .text(list.text), caller])
    }

    /// Deletes a user's old events, at one in 64 changes: revisions grow with the clock.
    static func trim(_ notified: [(user: String, revision: Int64)], _ connection: isolated PostgresConnection) throws {
        for (user, revision) in notified where revision % 64 == 0 {
            try connection.execute(ListStatements.trimEvents, [.text(user), .int8(Int64(eventLimit))])
        }
    }
}
