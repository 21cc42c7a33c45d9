internal import Catalog
internal import LibPQ

// What becomes of lists when users go, or become others, and when time passes.
extension PostgresListStore {
    /// Deletes a user's own lists, which those lose who joined them, and has the user leave the others. Each in a transaction
    /// of its own: lists are held before accounts are.
    func eraseLists(of user: UserID) async throws {
        for id in try await listIDs(ListStatements.ownLists, user) {
            try await changeList(id.list, of: user) { list, connection in
                let others = try ListWriter.members(list, connection).filter { $0 != user.text }
                let told = try ListWriter.leave(others, list.id, connection)
                try connection.execute(ListStatements.forgetOwner, [.text(user.text), .text(list.id.text)])
                try Self.delete(list, connection)
                try connection.execute(ListStatements.deletePlace, [.text(user.text), .text(list.id.text)])
                return Array(told.keys)
            }
        }
        for id in try await listIDs(ListStatements.joinedLists, user) {
            try await database.writes.transaction(within: .seconds(10)) {
                try $0.execute(ListStatements.deletePlace, [.text(user.text), .text(id.list.text)])
            }
        }
    }

    /// Hands a guest's lists over to an account, and has it join those that the guest had joined.
    func mergeLists(of guest: UserID, into user: UserID) async throws {
        for id in try await listIDs(ListStatements.ownLists, guest) {
            try await changeList(id.list, of: guest) { list, connection in
                var handed = list
                handed.owner = user
                let writer = ListWriter(user: user)
                try writer.ensureAccount(connection)
                let key: [PostgresValue] = [.text(user.text), .text(list.id.text)]
                // An id that the account has already stays with the account's list.
                if try connection.query(ListStatements.owner, key, { $0.count > 0 }) { handed.id = .random() }
                try connection.execute(ListStatements.deletePlace, [.text(guest.text), .text(list.id.text)])
                for statement in ListStatements.hand {
                    try connection.execute(
                        statement,
                        [.text(guest.text), .text(list.id.text), .text(user.text), .text(handed.id.text)]
                    )
                }
                try Self.delete(list, connection)
                try writer.place(handed, as: .owner, by: nil, connection)
                return try Self.tellNew(handed.id, writer, connection)
            }
        }
        for id in try await listIDs(ListStatements.joinedLists, guest) {
            guard let owner = id.owner else { continue }
            try await changeList(id.list, of: owner) { list, connection in
                let writer = ListWriter(user: user)
                try writer.ensureAccount(connection)
                let brought = try ListWriter(user: guest).heldOrNil(list.id, connection)
                let share = try connection.query(ListStatements.shareOfPlace, [.text(guest.text), .text(list.id.text)])
                {
                    try $0.first { try $0.textOrNil(0) } ?? nil
                }
                try connection.execute(ListStatements.deletePlace, [.text(guest.text), .text(list.id.text)])
                let own = try writer.heldOrNil(list.id, connection)
                guard let brought, brought.role.isBetter(than: own?.role) else { return [] }
                try writer.place(list, as: brought.role, by: share.flatMap { UniqueID($0) }, connection)
                return try Self.tellNew(list.id, writer, connection)
            }
        }
    }

    /// Every list that a user has, those that were deleted too; none that they have left.
    static func allLists(of user: UserID, _ connection: isolated PostgresConnection) throws -> [HeldList] {
        let ids = try connection.query(ListStatements.places, [.text(user.text)]) { try $0.map { try $0.text(0) } }
        let lists = try ids.sorted().compactMap {
            try ListWriter(user: user).heldOrNil(UniqueID($0)!, connection, standing: false)
        }
        return lists.filter { $0.leftAt == nil }
    }

    private func listIDs(_ statement: PostgresStatement, _ user: UserID) async throws -> [(
        list: UniqueID, owner: UserID?
    )] {
        try await database.writes.perform(within: .seconds(10)) { connection in
            try connection.query(statement, [.text(user.text)]) { rows in
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
        let told = try await database.writes.transaction(within: .seconds(10)) { connection -> [UserID] in
            let key: [PostgresValue] = [.text(owner.text), .text(id.text)]
            guard try connection.query(ListStatements.lock, key, { $0.count > 0 }) else { return [] }
            return try body(try ListWriter(user: owner).held(id, connection, standing: false).list, connection)
        }
        for user in told { database.announcer.announce(.user(user)) }
    }

    private static func delete(_ list: UserList, _ connection: isolated PostgresConnection) throws {
        let key: [PostgresValue] = [.text(list.owner.text), .text(list.id.text)]
        try connection.execute(ListStatements.deleteItems, key)
        try connection.execute(ListStatements.deleteShares, key)
        try connection.execute(ListStatements.deleteList, key)
    }

    /// Forgets lists, items and places that were deleted or left too long ago to be brought back, and what was told of them;
    /// returns how many.
    func sweep(after days: Int = UserList.tombstoneDays) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            let moment = Timestamp.now().microseconds - Int64(days) * 86_400_000_000
            let old = PostgresValue.timestamptz(moment)
            let lists = try await database.writes.perform(within: .seconds(10)) { connection in
                try connection.query(ListStatements.oldLists, [old]) {
                    try $0.map { (try UserID(stored: try $0.text(0)), UniqueID(try $0.text(1))!) }
                }
            }
            for (owner, id) in lists {
                try await changeList(id, of: owner) { list, connection in
                    guard let deletedAt = list.deletedAt, deletedAt.microseconds < moment else { return [] }
                    for member in try ListWriter.members(list, connection) {
                        try connection.execute(ListStatements.deletePlace, [.text(member), .text(list.id.text)])
                    }
                    try Self.delete(list, connection)
                    return []
                }
            }
            let users = try await database.writes.perform(within: .seconds(10)) { connection in
                try connection.query(ListStatements.oldEvents, [old]) { try $0.map { try $0.text(0) } }
            }
            for user in users {
                try await database.writes.transaction(within: .seconds(10)) { connection in
                    try connection.execute(ListStatements.lockAccount, [.text(user)])
                    try connection.execute(ListStatements.forgetEvents, [.text(user), old])
                }
            }
            return try await database.writes.perform(within: .seconds(10)) {
                try $0.execute(ListStatements.sweepItems, [old]) + $0.execute(ListStatements.sweepPlaces, [old])
                    + $0.execute(ListStatements.sweepShares, [old])
            } + lists.count + users.count
        }
    }
}
