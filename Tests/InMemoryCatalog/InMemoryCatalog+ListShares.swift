package import Catalog
internal import CatalogJSON
internal import Ordering
internal import Synchronization

// Membership of lists: sharing, erasing and merging users.
extension InMemoryCatalog {
    package func share(
        _ id: UniqueID,
        of user: UserID,
        _ share: ListShare,
        digest: [UInt8],
        once call: IdempotentCall?
    ) async throws(CatalogError) -> IssuedShare {
        try once(call, user) { users, now throws(CatalogError) in
            try self.membership(id, user, users).checkOwner()
            let open = users[user]!.shares[id, default: []].count { $0.share.expiresAt > now }
            guard open < ListShare.countLimit else { throw .tooManyShares }
            users[user]!.shares[id, default: []].append(Share(share: share, digest: digest))
            self.record(.shared(share, id), of: user)
            return IssuedShare(share)
        }
    }

    package func shares(_ id: UniqueID, of user: UserID) async throws(CatalogError) -> [ListShare] {
        try transact { users, _ throws(CatalogError) in
            try self.membership(id, user, users).checkOwner()
            return users[user]!.shares[id, default: []].map { share in
                var returned = share.share
                returned.members = users.values.count {
                    $0.places[id]?.share == returned.id && $0.places[id]?.leftAt == nil
                }
                return returned
            }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        }
    }

    package func revoke(_ share: UniqueID, _ id: UniqueID, of user: UserID) async throws(CatalogError) {
        try transact { users, now throws(CatalogError) in
            try self.membership(id, user, users).checkOwner()
            guard users[user]!.shares[id, default: []].contains(where: { $0.share.id == share }) else {
                throw .notFound("share “\(share)”")
            }
            users[user]!.shares[id]!.removeAll { $0.share.id == share }
            for member in users.keys where users[member]!.places[id]?.share == share {
                self.leave(id, member, &users, now)
            }
            self.record(.revoked(share, id), of: user)
        }
    }

    package func join(
        _ digest: [UInt8],
        of user: UserID,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> ListDocument {
        try once(call, user) { users, now throws(CatalogError) in
            for owner in users.keys {
                for (id, shares) in users[owner]!.shares {
                    guard let found = shares.first(where: { $0.digest == digest }), found.share.expiresAt > now,
                        users[owner]!.lists[id]?.isDeleted == false
                    else { continue }
                    if users[user] == nil { users[user] = UserContent(now) }
                    let current = users[user]!.places[id].flatMap { $0.leftAt == nil ? $0 : nil }
                    if found.share.role.isBetter(than: current?.role) {
                        if current == nil {
                            try Self.checkListLimit(users, user)
                            let members = users.values.count { $0.places[id].map { $0.leftAt == nil } ?? false }
                            guard members <= ListShare.memberLimit else { throw .tooManyMembers }
                        }
                        let place = MembershipRecord(
                            owner: owner,
                            role: found.share.role,
                            share: found.share.id,
                            key: .first,
                            revision: 0
                        )
                        Self.place(id, place, user, &users)
                        Self.announce(id, to: user, &users)
                        self.record(.joined(found.share.id, id), of: user)
                    }
                    return try self.membership(id, user, users).document(isNew: false)
                }
            }
            throw .notFound("share")
        }
    }

    // MARK: - Erasing and merging

    func allLists(of user: UserID) -> [ListMembership] {
        users.withLock { users in
            let ids = users[user]?.places.filter { $0.value.leftAt == nil }.keys.sorted() ?? []
            return ids.compactMap { id in try? self.membership(id, user, users, currentOnly: false) }
        }
    }

    /// Deletes a user's own lists, and removes their members.
    func eraseLists(of user: UserID, _ users: inout Users) {
        for id in users[user]?.lists.keys.sorted() ?? [] {
            for member in users.keys where member != user && users[member]!.places[id]?.owner == user {
                leave(id, member, &users, clock())
                users[member]!.places[id]!.owner = member
            }
        }
    }

    /// Transfers a guest's lists and memberships to an account.
    func mergeLists(of guest: UserID, into user: UserID, _ users: inout Users) {
        guard let brought = users[guest] else { return }
        for (id, place) in brought.places.sorted(by: { $0.key < $1.key }) {
            if place.owner == guest {
                // On equal ids, the account's list keeps the id.
                let own = users[user]!.places[id] == nil ? id : UniqueID.random()
                users[user]!.lists[own] = brought.lists[id]
                users[user]!.lists[own]!.id = own
                users[user]!.lists[own]!.owner = user
                users[user]!.shares[own] = brought.shares[id]
                for member in users.keys where member != user && users[member]!.places[id]?.owner == guest {
                    users[member]!.places[own] = users[member]!.places.removeValue(forKey: id)
                    users[member]!.places[own]!.owner = user
                }
                var transferred = place
                transferred.owner = user
                Self.place(own, transferred, user, &users)
                Self.announce(own, to: user, &users)
                record(.list(.listMerge, own), of: user)
            } else {
                let own = users[user]!.places[id].flatMap { $0.leftAt == nil ? $0.role : nil }
                guard place.leftAt == nil, place.role.isBetter(than: own) else { continue }
                Self.place(id, place, user, &users)
                Self.announce(id, to: user, &users)
                record(.list(.listMerge, id), of: user)
            }
        }
    }
}
