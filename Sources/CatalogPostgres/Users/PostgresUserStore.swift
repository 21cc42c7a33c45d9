internal import Catalog
internal import LibPQ

/// Users' data in PostgreSQL, for operations on a whole user.
struct PostgresUserStore: UserStore {
    let database: Database
    let lists: ListLifecycle
    let purchases: PostgresPurchaseStore

    func merge(
        into user: UserID,
        once call: IdempotentCall<GuestMerge>?,
        of identifyGuest: () async throws(CatalogError) -> UserID
    ) async throws(CatalogError) -> GuestMerge {
        try await database.mappingErrors {
            // A repeated merge must not move lists that the guest created since.
            if let call, let first = try await firstResponse(to: call, of: user) { return try call.decode(first) }
            let guest = try await identifyGuest()
            let hash = CustomerHashes.hash(of: guest, try await purchases.customers.key())
            let (outcome, _) = try await database.retryingErasureConflicts {
                // Merge lists before settings: an interrupted merge is repeated and completes the rest.
                try await lists.mergeLists(of: guest, into: user)
                return try await database.transaction(within: .shelf, of: nil, thenOf: .user(guest)) {
                    connection -> (GuestMerge, Bool) in
                    try UserAccount(user: user).reserveRevisions(0, connection)
                    var hadGuest = false
                    let outcome = try IdempotencyRecords(user: user).performOnce(call, connection) {
                        // A merge target is never a guest, so the holder of a guest's lock waits for no other lock.
                        let brought = try Self.eraseGuest(guest, connection)
                        hadGuest = brought != nil
                        let edit = GuestMerge.edit(brought ?? [])
                        // Revisions are reserved before it is known whether anything changes; gaps are harmless.
                        let results = try SettingsWriter(user: user).apply(edit, isAudited: false, connection)
                        let revision = try connection.query(Self.userRevision, [.text(user.text)]) {
                            try $0.first { try $0.int8(0) }!
                        }
                        let outcome = GuestMerge(results, revision: revision)
                        if hadGuest { try AuditLog.record(.merged(outcome), of: user, connection) }
                        return outcome
                    }
                    return (outcome, hadGuest)
                } asTableOwner: { merged, isSeparate, connection in
                    if merged.1 || isSeparate {
                        try AuditLog.erase(guest, .userMerge, as: hash, hadAccount: merged.1, connection)
                    }
                }
            }
            database.announcer.announce(.user(user))
            database.announcer.announce(.user(guest))
            return outcome
        }
    }

    private func firstResponse(
        to call: IdempotentCall<GuestMerge>,
        of user: UserID
    ) async throws -> RecordedResponse? {
        try await database.writes.perform(within: .lookup, of: .user(user)) {
            try IdempotencyRecords(user: user).firstResponse(call.key, $0)?.response(to: call)
        }
    }

    /// Returns a guest's settings and erases the guest; nil if the guest does not exist.
    private static func eraseGuest(_ guest: UserID, _ connection: isolated PostgresConnection) throws -> [Setting]? {
        let account = UserAccount(user: guest)
        guard try account.lockExclusively(connection) else { return nil }
        let settings = try allSettings(guest, connection).filter { !$0.isDeleted }
        try account.erase(connection)
        return settings
    }

    private static func allSettings(_ user: UserID, _ connection: isolated PostgresConnection) throws -> [Setting] {
        try connection.query(settingsByKey, [.text(user.text)]) { try $0.map { try SettingRow.read($0) } }
    }

    func export(_ user: UserID, customer: String) async throws(CatalogError) -> UserExport {
        try await database.mappingErrors {
            let hash = CustomerHashes.hash(customer, try await purchases.customers.key())
            let reader = ListWriter(user: user, encode: lists.encode)
            let (export, isKnown) = try await database.longReads.snapshot(within: .shelf) {
                connection in
                let revision = try connection.query(Self.userRevision, [.text(user.text)]) {
                    try $0.first { try $0.int8(0) }
                }
                let export = UserExport(
                    user: user,
                    revision: revision ?? 0,
                    settings: try Self.allSettings(user, connection),
                    orderChanges: try connection.query(Self.orderChanges, [.text(user.text)]) {
                        try $0.map { row in
                            UserExport.OrderChange(
                                store: CatalogKey(try row.text(0))!,
                                shelf: CatalogKey(try row.text(1))!,
                                kind: try row.text(2),
                                changedAt: Timestamp(microseconds: try row.timestamptz(3))
                            )
                        }
                    },
                    purchases: try PostgresPurchaseStore.purchases(of: hash, connection),
                    lists: try ListLifecycle.allLists(of: reader, connection),
                    audit: try PostgresAuditStore.all(of: user, connection)
                )
                return (export, revision != nil)
            }
            if isKnown { try await recordExport(of: user) }
            return export
        }
    }

    /// Records an export in the audit log, unless the user was erased meanwhile: nothing mentions an erased user.
    ///
    /// A read-only database cannot record it; the export works all the same.
    private func recordExport(of user: UserID) async throws {
        do {
            try await database.writes.transaction(within: .lookup, of: .user(user)) { connection in
                guard try connection.query(UserStatements.lockAccount, [.text(user.text)], { $0.count > 0 }) else {
                    return
                }
                try AuditLog.record(.exported, of: user, connection)
            }
        } catch let error as PostgresError where error.sqlState == .readOnlyTransaction {}
    }

    func erase(_ user: UserID, customer: String) async throws(CatalogError) {
        try await database.mappingErrors {
            let hash = CustomerHashes.hash(of: user, try await purchases.customers.key())
            _ = try await database.retryingErasureConflicts {
                try await lists.eraseLists(of: user)
                return try await database.transaction(within: .bulk, of: .user(user), thenOf: .user(user)) {
                    connection in
                    let account = UserAccount(user: user)
                    let hadAccount = try account.lockExclusively(connection)
                    try account.erase(connection)
                    return hadAccount
                } asTableOwner: { hadAccount, _, connection in
                    try AuditLog.erase(user, .userErase, as: hash, hadAccount: hadAccount, connection)
                }
            }
            // Use a separate transaction: these rows belong to many stores, whose writers do not lock accounts.
            try await database.writes.transaction(within: .bulk) {
                try $0.execute(UserStatements.clearSubject, [.text(user.text)])
            }
            try await purchases.requestErasure(customer: customer)
            database.announcer.announce(.user(user))
        }
    }

    func saveTicket(
        _ ticket: Ticket,
        id: UniqueID,
        once call: IdempotentCall<IssuedTicket>?
    ) async throws(CatalogError) -> IssuedTicket {
        try await database.mappingErrors {
            return try await database.retryingErasureConflicts { [database] in
                try await database.writes.transaction(within: .lookup) { connection in
                    try UserAccount(user: ticket.user).reserveRevisions(0, connection)
                    return try IdempotencyRecords(user: ticket.user).performOnce(call, connection) {
                        let user = PostgresValue.text(ticket.user.text)
                        try connection.execute(Self.deleteOldestTickets, [user, .int8(Int64(Ticket.countLimit - 1))])
                        try connection.execute(
                            Self.insertTicket,
                            [
                                user, .bytea(ticket.digest), .timestamptz(ticket.expiresAt.microseconds),
                                .timestamptz(ticket.tokenExpiresAt.microseconds),
                            ]
                        )
                        try UserTokens.add(ticket.digest, of: ticket.user, expiresAt: ticket.expiresAt, connection)
                        return IssuedTicket(id: id, expiresAt: ticket.expiresAt)
                    }
                }
            }
        }
    }

    func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket? {
        try await database.mappingErrors {
            let ticket = try await database.writes.perform(within: .lookup) { connection in
                guard let user = try UserTokens.owner(of: digest, connection) else { return nil as Ticket? }
                // Deleting the row claims the ticket: no one else can find it.
                return try connection.query(Self.consumeTicket, [.text(user), .bytea(digest)]) {
                    try $0.first { row in
                        guard let user = UserID(try row.text(0)) else {
                            throw PostgresError(.decoding, "invalid stored ticket")
                        }
                        return Ticket(
                            user: user,
                            digest: digest,
                            expiresAt: Timestamp(microseconds: try row.timestamptz(1)),
                            tokenExpiresAt: Timestamp(microseconds: try row.timestamptz(2))
                        )
                    }
                }
            }
            return ticket.flatMap { $0.expiresAt > .now() ? $0 : nil }
        }
    }

    /// Purges users' old tombstones and tickets; returns the number of affected users and rows.
    ///
    /// - Parameter days: how long tombstones are kept, in days.
    func sweep(after days: Int = Setting.tombstoneDays) async throws(CatalogError) -> Int {
        try await database.mappingErrors {
            let old = Timestamp.now().adding(days: -days).microseconds
            let users = try await database.batch.perform(within: .edit) { connection in
                try connection.query(Self.usersWithOldTombstones, [.timestamptz(old)]) { try $0.map { try $0.text(0) } }
            }
            for user in users {
                try await database.batch.transaction(within: .edit) { connection in
                    try connection.execute(
                        UserStatements.lockAccount,
                        [.text(user)]
                    )
                    try connection.execute(Self.purgeTombstones, [.text(user), .timestamptz(old)])
                }
            }
            return try await database.batch.transaction(within: .edit) {
                try $0.execute(Self.sweepTickets) + $0.execute(UserStatements.sweepTokens)
            } + users.count
        }
    }

    // MARK: - Statements

    static let userRevision: PostgresStatement = "SELECT revision FROM user_account WHERE user_id = $1"

    static let settingsByKey: PostgresStatement =
        "SELECT \(SettingRow.columns) FROM user_setting s WHERE s.user_id = $1 ORDER BY s.key"

    static let orderChanges: PostgresStatement = """
        SELECT s.key, h.key, c.kind, c.changed_at FROM order_change c
        JOIN shelf h ON h.store_id = c.store_id AND h.shelf_id = c.shelf_id JOIN store s ON s.store_id = c.store_id
        WHERE c.subject = $1 ORDER BY c.changed_at
        """

    static let deleteOldestTickets: PostgresStatement = """
        DELETE FROM user_ticket WHERE user_id = $1 AND digest IN (SELECT digest FROM user_ticket
            WHERE user_id = $1 ORDER BY expires_at DESC OFFSET $2)
        """

    static let insertTicket: PostgresStatement = """
        INSERT INTO user_ticket (user_id, digest, expires_at, token_expires_at) VALUES ($1, $2, $3, $4)
        """

    static let consumeTicket: PostgresStatement = """
        DELETE FROM user_ticket WHERE user_id = $1 AND digest = $2 RETURNING user_id, expires_at, token_expires_at
        """

    static let usersWithOldTombstones: PostgresStatement = """
        SELECT DISTINCT user_id FROM (
            SELECT user_id FROM user_setting WHERE deleted_at < $1 ORDER BY deleted_at LIMIT 1000) AS old
        """

    static let purgeTombstones: PostgresStatement = """
        WITH gone AS (DELETE FROM user_setting WHERE user_id = $1 AND deleted_at < $2 RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
        """

    static let sweepTickets: PostgresStatement = """
        DELETE FROM user_ticket WHERE expires_at < now() AND (user_id, digest) IN (SELECT user_id, digest FROM user_ticket
            WHERE expires_at < now() ORDER BY expires_at LIMIT 1000)
        """
}
