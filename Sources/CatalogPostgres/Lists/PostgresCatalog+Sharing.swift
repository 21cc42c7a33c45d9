package import Catalog
internal import Postgres

extension PostgresCatalog {
    package func share(
        _ id: UniqueID,
        of user: UserID,
        _ share: ListShare,
        digest: [UInt8],
        once call: IdempotentCall?,
        answering answer: RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await writeLists(of: user, id, once: call) { writer, database in
            let held = try writer.hold(id, database)
            try held.checkOwner()
            let list: [PostgresValue] = [.text(held.list.owner.text), .text(id.text)]
            let count = try database.query(ListStatements.shareCount, list) { try $0.first { try $0.int(0) } ?? 0 }
            guard count < ListShare.numberBound else { throw CatalogError.tooManyShares }
            try database.execute(
                ListStatements.share,
                list + [
                    .text(share.id.text), .bytea(digest), .text(share.role.rawValue),
                    .timestamptz(share.createdAt.microseconds), .timestamptz(share.expiresAt.microseconds),
                ]
            )
            return (answer, [])
        }
    }

    package func shares(_ id: UniqueID, of user: UserID) async throws(CatalogError) -> [ListShare] {
        try await mappingErrors {
            try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(10)) { database in
                let held = try ListWriter(user: user).held(id, database)
                try held.checkOwner()
                return try database.query(
                    ListStatements.shares,
                    [.text(held.list.owner.text), .text(id.text)]
                ) { rows in
                    try rows.map { row in
                        ListShare(
                            id: UniqueID(try row.text(0))!,
                            role: ListRole(rawValue: try row.text(1))!,
                            createdAt: Timestamp(microseconds: try row.timestamptz(2)),
                            expiresAt: Timestamp(microseconds: try row.timestamptz(3)),
                            members: try row.int(4)
                        )
                    }
                }
            }
        }
    }

    package func takeBack(_ share: UniqueID, _ id: UniqueID, of user: UserID) async throws(CatalogError) {
        _ = try await writeLists(of: user, once: nil) { writer, database in
            let held = try writer.hold(id, database)
            try held.checkOwner()
            let key: [PostgresValue] = [.text(held.list.owner.text), .text(id.text), .text(share.text)]
            guard try database.execute(ListStatements.takeBack, key) > 0 else {
                throw CatalogError.notFound("share “\(share)”")
            }
            let members = try database.query(ListStatements.membersByShare, key) { try $0.map { try $0.text(0) } }
            return (RecordedAnswer(body: []), Array(try ListWriter.leave(members, id, database).keys))
        }
    }

    package func join(
        _ digest: [UInt8],
        of user: UserID,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (HeldList) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await writeLists(of: user, once: call) { writer, database in
            let (held, told) = try Self.join(digest, writer, database)
            return (render(held), told)
        }
    }

    private static func join(
        _ digest: [UInt8],
        _ writer: ListWriter,
        _ database: isolated PostgresConnection
    ) throws -> (HeldList, told: [UserID]) {
        let nothing = CatalogError.notFound("such share")
        func opened() throws -> (owner: String, list: UniqueID, share: UniqueID, role: ListRole)? {
            try database.query(ListStatements.opened, [.bytea(digest)]) {
                try $0.first { row in
                    (
                        try row.text(0), UniqueID(try row.text(1))!, UniqueID(try row.text(2))!,
                        ListRole(rawValue: try row.text(3))!
                    )
                }
            }
        }
        guard let first = try opened() else { throw nothing }
        try database.execute(ListStatements.lock, [.text(first.owner), .text(first.list.text)])
        // It may have been taken back while the list was waited for.
        guard let found = try opened(), found.owner == first.owner else { throw nothing }
        var standing = try writer.heldOrNil(found.list, database, standing: false)
        if standing?.leftAt != nil { standing = nil }
        var told: [UserID] = []
        if standing?.role.mayEdit != true, standing?.role != found.role {
            let owner = UserID(found.owner)!
            let list = try ListWriter(user: owner).held(found.list, database).list
            if standing == nil {
                try writer.checkNumber(database)
                guard try ListWriter.members(list, database).count <= ListShare.memberBound else {
                    throw CatalogError.tooManyMembers
                }
            }
            try writer.place(list, as: found.role, by: found.share, database)
            told = try Self.tellNew(found.list, writer, database)
        }
        return (try writer.held(found.list, database), told)
    }

    // MARK: - Erasing, merging, sweeping

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
                guard let brought, own == nil || own?.role == .reader, own?.role != brought.role else { return [] }
                try writer.place(list, as: brought.role, by: share.flatMap { UniqueID($0) }, database)
                return try Self.tellNew(list.id, writer, database)
            }
        }
    }

    private static func tellNew(
        _ id: UniqueID,
        _ writer: ListWriter,
        _ database: isolated PostgresConnection
    ) throws -> [UserID] {
        let held = try writer.held(id, database, standing: false)
        let facts = try ListWriter.facts([held.list], for: [held.list.sort], database)
        let data = ListOutcome(new: held, facts).event
        return Array(try ListWriter.tell([writer.user.text], id, data, database).keys)
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
                    try $0.map { (UserID(try $0.text(0))!, UniqueID(try $0.text(1))!) }
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
