internal import Catalog
internal import LibPQ

extension PostgresListStore {
    func share(
        _ id: UniqueID,
        of user: UserID,
        _ share: ListShare,
        digest: [UInt8],
        once call: IdempotentCall<ListShare>?
    ) async throws(CatalogError) -> ListShare {
        try await writeLists(of: user, id, once: call) { writer, connection in
            let membership = try writer.lockMembership(id, connection)
            try membership.checkOwner()
            let list: [PostgresValue] = [.text(membership.list.owner.text), .text(id.text)]
            let count = try connection.query(ListStatements.shareCount, list) { try $0.first { try $0.int(0) } ?? 0 }
            guard count < ListShare.countLimit else { throw CatalogError.tooManyShares }
            try connection.execute(
                ListStatements.share,
                list + [
                    .text(share.id.text), .bytea(digest), .text(share.role.rawValue),
                    .timestamptz(share.createdAt.microseconds), .timestamptz(share.expiresAt.microseconds),
                ]
            )
            try UserTokens.add(digest, of: membership.list.owner, expiresAt: share.expiresAt, connection)
            try AuditLog.record(.shared(share, id), of: user, connection)
            return (share, [])
        }
    }

    func shares(_ id: UniqueID, of user: UserID) async throws(CatalogError) -> [ListShare] {
        try await database.mappingErrors {
            let reader = ListWriter(user: user, encode: encode)
            return try await database.writes.snapshot(within: .edit, of: .user(user)) { connection in
                let membership = try reader.membership(id, connection)
                try membership.checkOwner()
                let list: [PostgresValue] = [.text(membership.list.owner.text), .text(id.text)]
                let members = try connection.query(ListStatements.memberCounts, list) { rows in
                    Dictionary(uniqueKeysWithValues: try rows.map { (try $0.text(0), try $0.int(1)) })
                }
                return try connection.query(ListStatements.shares, list) { rows in
                    try rows.map { row in
                        ListShare(
                            id: UniqueID(try row.text(0))!,
                            role: ListRole(rawValue: try row.text(1))!,
                            createdAt: Timestamp(microseconds: try row.timestamptz(2)),
                            expiresAt: Timestamp(microseconds: try row.timestamptz(3)),
                            members: members[try row.text(0)] ?? 0
                        )
                    }
                }
            }
        }
    }

    func revoke(_ share: UniqueID, _ id: UniqueID, of user: UserID) async throws(CatalogError) {
        try await writeLists(of: user) { writer, connection in
            let membership = try writer.lockMembership(id, connection)
            try membership.checkOwner()
            let key: [PostgresValue] = [.text(membership.list.owner.text), .text(id.text), .text(share.text)]
            guard try connection.execute(ListStatements.revoke, key) > 0 else {
                throw CatalogError.notFound("share “\(share)”")
            }
            let members = try writer.members(membership.list, by: share, connection)
            try AuditLog.record(.revoked(share, id), of: user, connection)
            return ((), Array(try writer.removeMembers(members, membership.list, connection).keys))
        }
    }

    func join(
        _ digest: [UInt8],
        of user: UserID,
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument {
        try await writeLists(of: user, once: call) { writer, connection in
            let (membership, notified) = try Self.join(digest, writer, connection)
            return (.list(membership, isNew: false), notified)
        }
    }

    private static func join(
        _ digest: [UInt8],
        _ writer: ListWriter,
        _ connection: isolated PostgresConnection
    ) throws -> (ListMembership, notified: [UserID]) {
        let notFound = CatalogError.notFound("share")
        func findShare() throws -> (owner: String, list: UniqueID, share: UniqueID, role: ListRole)? {
            guard let owner = try UserTokens.owner(of: digest, connection) else { return nil }
            return try connection.query(ListStatements.shareByDigest, [.text(owner), .bytea(digest)]) {
                try $0.first { row in
                    (
                        try row.text(0), UniqueID(try row.text(1))!, UniqueID(try row.text(2))!,
                        ListRole(rawValue: try row.text(3))!
                    )
                }
            }
        }
        guard let first = try findShare() else { throw notFound }
        try connection.execute(ListStatements.lock, [.text(first.owner), .text(first.list.text)])
        // The share may have been revoked while waiting for the lock.
        guard let found = try findShare(), found.owner == first.owner else { throw notFound }
        let current = try writer.activeMembership(found.list, connection)
        guard current == nil || current?.list.owner.text == found.owner else {
            throw CatalogError.ambiguousList(found.list)
        }
        var notified: [UserID] = []
        if found.role.isBetter(than: current?.role) {
            let owner = try UserID(stored: found.owner)
            let list = try writer.of(owner).membership(found.list, connection).list
            if current == nil {
                try writer.checkListCount(connection)
                guard try writer.members(list, connection).count <= ListShare.memberLimit else {
                    throw CatalogError.tooManyMembers
                }
            }
            try writer.place(list, as: found.role, by: found.share, connection)
            try AuditLog.record(.joined(found.share, found.list), of: writer.user, connection)
            notified = try writer.notifyNewMember(found.list, connection)
        }
        return (try writer.membership(found.list, connection), notified)
    }
}
