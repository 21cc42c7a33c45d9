internal import CatalogJSON
package import Catalog
internal import LibPQ

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
        if found.role.isBetter(than: standing?.role) {
            let owner = try UserID(stored: found.owner)
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

    /// Tells a user of a list that they have from now on.
    static func tellNew(
        _ id: UniqueID,
        _ writer: ListWriter,
        _ database: isolated PostgresConnection
    ) throws -> [UserID] {
        let data = try writer.held(id, database, standing: false).list.announcement
        return Array(try ListWriter.tell([writer.user.text], id, data, database).keys)
    }
}
