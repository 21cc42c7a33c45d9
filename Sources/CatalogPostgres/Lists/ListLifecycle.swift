internal import Catalog
internal import LibPQ

/// The transfer, erasure and expiry of lists. Each list is changed in its own transaction, because list locks precede
/// account locks.
struct ListLifecycle {
    let database: Database
    let encode: UserEvent.Encoder

    /// Deletes a user's own lists, also for their members, and removes the user from joined lists.
    func eraseLists(of user: UserID) async throws {
        let writer = ListWriter(user: user, encode: encode)
        for id in try await listIDs(ListStatements.ownLists, user) {
            try await changeList(id.list, of: writer) { list, connection in
                let others = try writer.members(list, connection).filter { $0 != user.text }
                let notified = try writer.removeMembers(others, list, connection)
                for former in try writer.members(list, withFormer: true, connection) {
                    try ListWriter.clearOwner(of: list, for: former, connection)
                }
                try Self.delete(list, connection)
                try connection.execute(ListStatements.deletePlace, [.text(user.text), .text(list.id.text)])
                return Array(notified.keys)
            }
        }
        for id in try await listIDs(ListStatements.joinedLists, user) {
            try await database.writes.transaction(within: .edit, of: .user(user)) {
                try writer.deletePlace(in: id.list, $0)
            }
        }
    }

    /// Transfers a guest's lists to an account, and makes the account a member of the guest's joined lists.
    ///
    /// - Throws: `unprocessable`, before anything changes, if the account would exceed a limit.
    func mergeLists(of guest: UserID, into user: UserID) async throws {
        let writer = ListWriter(user: user, encode: encode)
        let guestWriter = writer.of(guest)
        try await database.writes.perform(within: .edit, of: .user(user)) { try writer.checkMerge(of: guestWriter, $0) }
        for id in try await listIDs(ListStatements.ownLists, guest) {
            try await changeList(id.list, of: guestWriter) { list, connection in
                var transferred = list
                transferred.owner = user
                try writer.ensureAccount(connection)
                // If the account has another list with this id, the guest's list gets a new id.
                let owner = try writer.owner(of: list.id, connection)
                if owner != nil, owner != guest.text { transferred.id = .random() }
                try connection.execute(ListStatements.deletePlace, [.text(guest.text), .text(list.id.text)])
                let notified = try guestWriter.transfer(list, to: transferred, connection)
                try Self.delete(list, connection)
                try writer.place(transferred, as: .owner, by: nil, connection)
                try AuditLog.record(.list(.listMerge, transferred.id), of: user, connection)
                return try notified + writer.notifyNewMember(transferred.id, connection)
            }
        }
        for id in try await listIDs(ListStatements.joinedLists, guest) {
            guard let owner = id.owner else { continue }
            try await changeList(id.list, of: writer.of(owner)) { list, connection in
                try writer.ensureAccount(connection)
                let guestMembership = try guestWriter.membershipOrNil(list.id, connection, currentOnly: false)
                let share = try connection.query(ListStatements.shareOfPlace, [.text(guest.text), .text(list.id.text)])
                {
                    try $0.first { try $0.textOrNil(0) } ?? nil
                }
                try guestWriter.deletePlace(in: id.list, connection)
                let own = try writer.activeMembership(list.id, connection)
                // The account keeps another list with this id.
                guard own == nil || own?.list.owner == owner else { return [] }
                guard let guestMembership, guestMembership.leftAt == nil, guestMembership.role.isBetter(than: own?.role)
                else { return [] }
                try writer.place(list, as: guestMembership.role, by: share.flatMap { UniqueID($0) }, connection)
                try AuditLog.record(.list(.listMerge, list.id), of: user, connection)
                return try writer.notifyNewMember(list.id, connection)
            }
        }
    }

    /// Returns all lists of a user, including deleted ones but not left ones.
    static func allLists(of reader: ListWriter, _ connection: isolated PostgresConnection) throws -> [ListMembership] {
        let ids = try ListPlaces(of: reader.user, connection).places.map(\.list).sorted { $0.text < $1.text }
        let lists = try ids.compactMap {
            try reader.membershipOrNil($0, connection, currentOnly: false)
        }
        return lists.filter { $0.leftAt == nil }
    }

    private func listIDs(_ statement: PostgresStatement, _ user: UserID) async throws -> [(
        list: UniqueID, owner: UserID?
    )] {
        try await database.writes.perform(within: .edit, of: .user(user)) { connection in
            try connection.query(statement, [.text(user.text)]) { rows in
                try rows.map { row in
                    (UniqueID(try row.text(0))!, UserID(try row.text(1)))
                }
            }
        }
    }

    /// Changes a list with its row locked; does nothing if the list no longer exists.
    ///
    /// - Parameter lane: nil for the lane of writes.
    private func changeList(
        _ id: UniqueID,
        of owner: ListWriter,
        in lane: Lane? = nil,
        _ body: @escaping @Sendable (UserList, isolated PostgresConnection) throws -> [UserID]
    ) async throws {
        let notified = try await (lane ?? database.writes).transaction(within: .edit) { connection -> [UserID] in
            let key: [PostgresValue] = [.text(owner.user.text), .text(id.text)]
            guard try connection.query(ListStatements.lock, key, { $0.count > 0 }) else { return [] }
            return try body(try owner.membership(id, connection, currentOnly: false).list, connection)
        }
        for user in notified { database.announcer.announce(.user(user)) }
    }

    private static func delete(_ list: UserList, _ connection: isolated PostgresConnection) throws {
        let key: [PostgresValue] = [.text(list.owner.text), .text(list.id.text)]
        try connection.execute(ListStatements.deleteItems, key)
        try connection.execute(ListStatements.deleteShares, key)
        try connection.execute(ListStatements.deleteMembers, key)
        try connection.execute(ListStatements.deleteList, key)
    }

    /// Purges lists, items and memberships that can no longer be restored, and their events;
    /// returns their number.
    func sweep(after days: Int = UserList.tombstoneDays) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            let moment = Timestamp.now().adding(days: -days).microseconds
            let old = PostgresValue.timestamptz(moment)
            let lists = try await database.batch.perform(within: .edit) { connection in
                try connection.query(ListStatements.expiredLists, [old]) {
                    try $0.map { (try UserID(stored: try $0.text(0)), UniqueID(try $0.text(1))!) }
                }
            }
            for (owner, id) in lists {
                let writer = ListWriter(user: owner, encode: encode)
                try await changeList(id, of: writer, in: database.batch) { list, connection in
                    guard let deletedAt = list.deletedAt, deletedAt.microseconds < moment else { return [] }
                    for member in try writer.members(list, connection) {
                        try connection.execute(ListStatements.expirePlace, [.text(member), .text(list.id.text)])
                    }
                    for former in try writer.members(list, withFormer: true, connection) {
                        try ListWriter.clearOwner(of: list, for: former, connection)
                    }
                    try Self.delete(list, connection)
                    return []
                }
            }
            let users = try await database.batch.perform(within: .edit) { connection in
                try [ListStatements.expiredEvents, ListStatements.expiredPlaces].reduce(into: Set<String>()) {
                    $0.formUnion(try connection.query($1, [old]) { try $0.map { try $0.text(0) } })
                }
            }
            for user in users {
                try await database.batch.transaction(within: .edit) { connection in
                    try connection.execute(UserStatements.lockAccount, [.text(user)])
                    try connection.execute(ListStatements.deleteExpiredEvents, [.text(user), old])
                    try connection.execute(ListStatements.deleteExpiredPlaces, [.text(user), old])
                }
            }
            return try await database.batch.perform(within: .edit) {
                try $0.execute(ListStatements.sweepItems, [old]) + $0.execute(ListStatements.sweepMembers, [old])
                    + $0.execute(ListStatements.sweepShares, [old])
            } + lists.count + users.count
        }
    }
}
