package import Catalog
internal import LibPQ

// What becomes of lists when users go, or become others, and when time passes.
extension PostgresCatalog {
    /// Deletes a user's own lists, which those lose who joined them, and has the user leave the others. Each in a transaction
    /// of its own: lists are held before accounts are.
    func eraseLists(of user: UserID) async throws {
        for id in try await listIDs(ListStatements.ownLists, user) {
            try await changeList(id.list, of: user) { list, database in
                let others = try ListWriter.members(list, database).filter { $0 != user.text }
                let told = try ListWriter.leave(others, list.id, database)
                try database.execute(ListStatements.forgetOwner, [.text(user.text), .text(list.id.text)])
                try Self.delete(list, database)
                try database.execute(ListStatements.deletePlace, [.text(user.text), .text(list.id.text)])
                return Array(told.keys)
            }
        }
        for id in try await listIDs(ListStatements.joinedLists, user) {
            try await pool.transaction(within: .seconds(10)) {
                try $0.execute(ListStatements.deletePlace, [.text(user.text), .text(id.list.text)])
            }
        }
    }

    /// Hands a guest's lists over to an account, and has it join those that the guest had joined.
    func mergeLists(of guest: UserID, into user: UserID) async throws {
        for id in try await listIDs(ListStatements.ownLists, guest) {
            try await changeList(id.list, of: guest) { list, database in
                var handed = list
                handed.owner = user
                let writer = ListWriter(user: user)
                try writer.ensureAccount(database)
                let key: [PostgresValue] = [.text(user.text), .text(list.id.text)]
                // An id that the account has already stays with the account's list.
                if try database.query(ListStatements.owner, key, { $0.count > 0 }) { handed.id = .random() }
                try database.execute(ListStatements.deletePlace, [.text(guest.text), .text(list.id.text)])
                for statement in ListStatements.hand {
                    try database.execute(
                        statement,
                        [.text(guest.text), .text(list.id.text), .text(user.text), .text(handed.id.text)]
                    )
                }
                try Self.delete(list, database)
                try writer.place(handed, as: .owner, by: nil, database)
                return try Self.tellNew(handed.id, writer, database)
            }
        }
        for id in try await listIDs(ListStatements.joinedLists, guest) {
            guard let owner = id.owner else { continue }
            try await changeList(id.list, of: owner) { list, database in
                let writer = ListWriter(user: user)
                try writer.ensureAccount(database)
                let brought = try ListWriter(user: guest).heldOrNil(list.id, database)
                let share = try database.query(ListStatements.shareOfPlace, [.text(guest.text), .text(list.id.text)]) {
                    try $0.first { try $0.textOrNil(0) } ?? nil
                }
                try database.execute(ListStatements.deletePlace, [.text(guest.text), .text(list.id.text)])
                let own = try writer.heldOrNil(list.id, database)
                guard let brought, brought.role.isBetter(than: own?.role) else { return [] }
                try writer.place(list, as: brought.role, by: share.flatMap { UniqueID($0) }, database)
                return try Self.tellNew(list.id, writer, database)
            }
        }
    }

    /// Every list that a user has, those that were deleted too; none that they have left.
    static func allLists(of user: UserID, _ database: isolated PostgresConnection) throws -> [HeldList] {
        let ids = try database.query(ListStatements.places, [.text(user.text)]) { try $0.map { try $0.text(0) } }
        let lists = try ids.sorted().compactMap {
            try ListWriter(user: user).heldOrNil(UniqueID($0)!, database, standing: false)
        }
        return lists.filter { $0.leftAt == nil }
    }

    private func listIDs(_ statement: PostgresStatement, _ user: UserID) async throws -> [(
        list: UniqueID, owner: UserID?
    )] {
        try await pool.perform(within: .seconds(10)) { database in
            try database.query(statement, [.text(user.text)]) { rows in
                try rows.map { row in
                    (UniqueID(try row.text(0))!, UserID(try row.text(1)))
                }
            }
        }
    }

    /// Changes a list with its row held; nothing where it is gone.
    private func changeList(
        _ id: UniqueID,
        of owner: UserID,
        _ body: @escaping @Sendable (UserList, isolated PostgresConnection) throws -> [UserID]
    ) async throws {
        let told = try await pool.transaction(within: .seconds(10)) { database -> [UserID] in
            let key: [PostgresValue] = [.text(owner.text), .text(id.text)]
            guard try database.query(ListStatements.lock, key, { $0.count > 0 }) else { return [] }
            return try body(try ListWriter(user: owner).held(id, database, standing: false).list, database)
        }
        for user in told { changes.announce(.user(user)) }
    }

    private static func delete(_ list: UserList, _ database: isolated PostgresConnection) throws {
        let key: [PostgresValue] = [.text(list.owner.text), .text(list.id.text)]
        try database.execute(ListStatements.deleteItems, key)
        try database.execute(ListStatements.deleteShares, key)
        try database.execute(ListStatements.deleteList, key)
    }

    /// Forgets lists, items and places that were deleted or left too long ago to be brought back, and what was told of them;
    /// returns how many.
    package func sweepLists(after days: Int = UserList.tombstoneDays) async throws(CatalogError) -> Int {
        try await mappingErrors {
            let moment = Timestamp.now().microseconds - Int64(days) * 86_400_000_000
            let old = PostgresValue.timestamptz(moment)
            let lists = try await pool.perform(within: .seconds(10)) { database in
                try database.query(ListStatements.oldLists, [old]) {
                    try $0.map { (try UserID(stored: try $0.text(0)), UniqueID(try $0.text(1))!) }
                }
            }
            for (owner, id) in lists {
                try await changeList(id, of: owner) { list, database in
                    guard let deletedAt = list.deletedAt, deletedAt.microseconds < moment else { return [] }
                    for member in try ListWriter.members(list, database) {
                        try database.execute(ListStatements.deletePlace, [.text(member), .text(list.id.text)])
                    }
                    try Self.delete(list, database)
                    return []
                }
            }
            let users = try await pool.perform(within: .seconds(10)) { database in
                try database.query(ListStatements.oldEvents, [old]) { try $0.map { try $0.text(0) } }
            }
            for user in users {
                try await pool.transaction(within: .seconds(10)) { database in
                    try database.execute(ListStatements.lockAccount, [.text(user)])
                    try database.execute(ListStatements.forgetEvents, [.text(user), old])
                }
            }
            return try await pool.perform(within: .seconds(10)) {
                try $0.execute(ListStatements.sweepItems, [old]) + $0.execute(ListStatements.sweepPlaces, [old])
                    + $0.execute(ListStatements.sweepShares, [old])
            } + lists.count + users.count
        }
    }
}
