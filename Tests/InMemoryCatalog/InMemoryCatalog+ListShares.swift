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
        once call: IdempotentCall<ListShare>?
    ) async throws(CatalogError) -> ListShare {
        try once(call, user) { users, now throws(CatalogError) in
            try self.membership(id, user, users).checkOwner()
            let open = users[user]!.shares[id, default: []].count { $0.share.expiresAt > now }
            guard open < ListShare.countLimit else { throw .tooManyShares }
            users[user]!.shares[id, default: []].append(Share(share: share, digest: digest))
            self.record(.shared(share, id), of: user)
            return share
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
        once call: IdempotentCall<ListDocument>?
    ) async throws(CatalogError) -> ListDocument {
        try once(call, user) { users, now throws(CatalogError) in
            for owner in users.keys {
                for (id, shares) in users[owner]!.shares {
                    guard let found = shares.first(where: { $0.digest == digest }), found.share.expiresAt > now,
                        users[owner]!.lists[id]?.isDeleted == false
                    else { continue }
                    if users[user] == nil { users[user] = UserContent(now) }
                    let current = users[user]!.places[id].flatMap { $0.leftAt == nil ? $0 : nil }
                    guard current == nil || current?.owner == owner else { throw .ambiguousList(id) }
                    if found.share.role.isBetter(than: current?.role) {
                        if current == nil {
                            try Self.checkListLimit(users, user)
                            let members = users.keys.count { Self.isMember($0, of: id, owner, users) }
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
                    return .list(try self.membership(id, user, users), isNew: false)
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
        let ordered = brought.places.sorted { $0.value.key < $1.value.key }
        for (id, _) in ordered where brought.lists[id] != nil { takeOver(id, of: guest, as: user, &users) }
        for (id, place) in ordered where brought.lists[id] == nil && place.owner != guest {
            let own = users[user]!.places[id].flatMap { $0.leftAt == nil ? $0 : nil }
            // The account keeps another list with this id.
            guard own == nil || own?.owner == place.owner else { continue }
            guard place.leftAt == nil, place.role.isBetter(than: own?.role) else { continue }
            Self.place(id, place, user, &users)
            Self.announce(id, to: user, &users)
            record(.list(.listMerge, id), of: user)
        }
    }

    /// Transfers a list to an account. It gets a new id if the account has another list with its id.
    private func takeOver(_ id: UniqueID, of guest: UserID, as user: UserID, _ users: inout Users) {
        let isTaken = users[user]!.places[id].map { $0.owner != guest } ?? false
        let own = isTaken ? UniqueID.random() : id
        var list = users[guest]!.lists[id]!
        (list.id, list.owner) = (own, user)
        users[user]!.lists[own] = list
        users[user]!.shares[own] = users[guest]!.shares[id]
        for member in users.keys where ![user, guest].contains(member) && users[member]!.places[id]?.owner == guest {
            if isTaken { replace(id, with: own, for: member, &users) } else { users[member]!.places[id]!.owner = user }
        }
        Self.place(own, MembershipRecord(owner: user, role: .owner, key: .first, revision: 0), user, &users)
        Self.announce(own, to: user, &users)
        record(.list(.listMerge, own), of: user)
    }

    /// Replaces a member's list, whose owner is about to be erased, with the same list under a new id.
    private func replace(_ id: UniqueID, with new: UniqueID, for member: UserID, _ users: inout Users) {
        let place = users[member]!.places[id]!
        leave(id, member, &users, clock())
        users[member]!.places[id]!.owner = member
        guard place.leftAt == nil, let list = users.values.compactMap({ $0.lists[new] }).first else { return }
        users[member]!.places[id]!.key = PathKey.appending(1, after: users[member]!.places.values.map(\.key).max())[0]
        users[member]!.places[new] = place
        users[member]!.places[new]!.owner = list.owner
        Self.announce(new, to: member, &users)
    }
}
