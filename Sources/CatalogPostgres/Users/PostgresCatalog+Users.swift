package import Catalog
internal import LibPQ

extension PostgresCatalog {
    package func merge(
        _ guest: UserID,
        into user: UserID,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (GuestMerge) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await mappingErrors {
            let answer = try await besideErasure { [self] in
                // Before the settings: a merge that is lost in between is repeated, and finds what is left.
                try await mergeLists(of: guest, into: user)
                return try await pool.transaction(within: .seconds(30)) { database in
                    let writer = SettingsWriter(user: user)
                    try writer.ensureAccount(database)
                    return try IdempotencyRecords(user: user).once(call, database) {
                        // Nobody is merged into a guest: who holds a guest's lock waits for no other, and none wait in a circle.
                        let brought = try Self.takeOut(guest, database)
                        let edit = GuestMerge.edit(brought)
                        let results: [SettingsEdit.Result]
                        do { results = try writer.apply(edit, database) } catch let unchanged
                            as SettingsWriter.Unchanged
                        {
                            // The changes were counted before they were none: gaps between revisions mean nothing.
                            results = unchanged.results
                        }
                        let revision = try database.query(Self.userRevision, [.text(user.text)]) {
                            try $0.first { try $0.int8(0) }!
                        }
                        return render(GuestMerge(results, revision: revision))
                    }
                }
            }
            changes.announce(.user(user))
            changes.announce(.user(guest))
            return answer
        }
    }

    /// Runs a change of what is a user's own again, where the user was erased, or made anew, in the middle of it.
    func besideErasure<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        for _ in 0..<16 {
            do { return try await body() } catch let error as PostgresError
                where error.sqlState == .foreignKeyViolation
            { continue }
        }
        throw CatalogError.unavailable
    }

    /// A guest's settings, after which there is no such guest.
    private static func takeOut(_ guest: UserID, _ database: isolated PostgresConnection) throws -> [Setting] {
        let writer = SettingsWriter(user: guest)
        try writer.lock(database)
        let settings = try allSettings(guest, database).filter { !$0.isDeleted }
        try writer.erase(database)
        return settings
    }

    private static func allSettings(_ user: UserID, _ database: isolated PostgresConnection) throws -> [Setting] {
        try database.query(settingsByKey, [.text(user.text)]) { try $0.map { try SettingRow.read($0) } }
    }

    package func recall(_ key: String, of user: UserID) async throws(CatalogError) -> FirstAnswer? {
        try await mappingErrors {
            try await pool.perform(within: .seconds(5)) { try IdempotencyRecords(user: user).recall(key, $0) }
        }
    }

    package func export(_ user: UserID) async throws(CatalogError) -> UserExport {
        try await mappingErrors {
            let hash = Self.customerHash(user.text, try await customerKey())
            return try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(30)) {
                database in
                let revision = try database.query(Self.userRevision, [.text(user.text)]) {
                    try $0.first { try $0.int8(0) }
                }
                return UserExport(
                    user: user,
                    revision: revision ?? 0,
                    settings: try Self.allSettings(user, database),
                    orderChanges: try database.query(Self.orderChanges, [.text(user.text)]) {
                        try $0.map { row in
                            UserExport.OrderChange(
                                store: CatalogKey(try row.text(0))!,
                                shelf: CatalogKey(try row.text(1))!,
                                kind: try row.text(2),
                                changedAt: Timestamp(microseconds: try row.timestamptz(3))
                            )
                        }
                    },
                    purchases: try Self.purchases(of: hash, database),
                    lists: try Self.allLists(of: user, database)
                )
            }
        }
    }

    package func erase(_ user: UserID) async throws(CatalogError) {
        try await mappingErrors {
            try await besideErasure { [self] in
                try await eraseLists(of: user)
                try await pool.transaction(within: .seconds(60)) { database in
                    let writer = SettingsWriter(user: user)
                    try writer.lock(database)
                    try writer.erase(database)
                }
            }
            // Apart, as these rows are of any number of stores, and their writers wait for nobody's account.
            try await pool.transaction(within: .seconds(60)) {
                try $0.execute("UPDATE order_change SET subject = NULL WHERE subject = $1", [.text(user.text)])
            }
            _ = try await forget(customer: user.text)
            changes.announce(.user(user))
        }
    }

    package func keep(
        _ ticket: Ticket,
        once call: IdempotentCall?,
        answering answer: RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer {
        try await mappingErrors {
            try await besideErasure { [pool] in
                try await pool.transaction(within: .seconds(5)) { database in
                    try SettingsWriter(user: ticket.user).ensureAccount(database)
                    return try IdempotencyRecords(user: ticket.user).once(call, database) {
                        let user = PostgresValue.text(ticket.user.text)
                        try database.execute(Self.dropOldTickets, [user, .int8(Int64(Ticket.numberBound - 1))])
                        try database.execute(
                            Self.keepTicket,
                            [
                                user, .bytea(ticket.digest), .timestamptz(ticket.expiresAt.microseconds),
                                .timestamptz(ticket.tokenExpiresAt.microseconds),
                            ]
                        )
                        return answer
                    }
                }
            }
        }
    }

    package func redeem(_ digest: [UInt8]) async throws(CatalogError) -> Ticket? {
        try await mappingErrors {
            let ticket = try await pool.perform(within: .seconds(5)) { database in
                // Who deletes it has it: nobody else finds it any more.
                try database.query(Self.takeTicket, [.bytea(digest)]) {
                    try $0.first { row in
                        guard let user = UserID(try row.text(0)) else {
                            throw PostgresError(.decoding, "a stored ticket cannot be read")
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

    /// Forgets what is too old of users' own: deletions and tickets. Returns how many users or rows that were.
    ///
    /// - Parameter days: how long deletions are remembered.
    package func sweepUsers(after days: Int = Setting.tombstoneDays) async throws(CatalogError) -> Int {
        try await mappingErrors {
            let old = Timestamp.now().microseconds - Int64(days) * 86_400_000_000
            let users = try await pool.perform(within: .seconds(10)) { database in
                try database.query(Self.usersWithOldTombstones, [.timestamptz(old)]) { try $0.map { try $0.text(0) } }
            }
            for user in users {
                try await pool.transaction(within: .seconds(10)) { database in
                    try database.execute(
                        "SELECT 1 FROM user_account WHERE user_id = $1 FOR NO KEY UPDATE",
                        [.text(user)]
                    )
                    try database.execute(Self.forgetTombstones, [.text(user), .timestamptz(old)])
                }
            }
            return try await pool.perform(within: .seconds(10)) { try $0.execute(Self.sweepTickets) } + users.count
        }
    }

    private static let userRevision: PostgresStatement = "SELECT revision FROM user_account WHERE user_id = $1"
    private static let settingsByKey = PostgresStatement(
        assembled: "SELECT \(SettingRow.columns) FROM user_setting s WHERE s.user_id = $1 ORDER BY s.key"
    )
    private static let orderChanges: PostgresStatement = """
        SELECT s.key, h.key, c.kind, c.changed_at FROM order_change c
        JOIN shelf h ON h.store_id = c.store_id AND h.shelf_id = c.shelf_id JOIN store s ON s.store_id = c.store_id
        WHERE c.subject = $1 ORDER BY c.changed_at
        """
    private static let dropOldTickets: PostgresStatement = """
        DELETE FROM user_ticket WHERE user_id = $1 AND digest IN (SELECT digest FROM user_ticket
            WHERE user_id = $1 ORDER BY expires_at DESC OFFSET $2)
        """
    private static let keepTicket: PostgresStatement = """
        INSERT INTO user_ticket (user_id, digest, expires_at, token_expires_at) VALUES ($1, $2, $3, $4)
        """
    private static let takeTicket: PostgresStatement = """
        DELETE FROM user_ticket WHERE digest = $1 RETURNING user_id, expires_at, token_expires_at
        """
    private static let usersWithOldTombstones: PostgresStatement = """
        SELECT DISTINCT user_id FROM (
            SELECT user_id FROM user_setting WHERE deleted_at < $1 ORDER BY deleted_at LIMIT 1000) AS old
        """
    private static let forgetTombstones: PostgresStatement = """
        WITH gone AS (DELETE FROM user_setting WHERE user_id = $1 AND deleted_at < $2 RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
        """
    private static let sweepTickets: PostgresStatement = """
        DELETE FROM user_ticket WHERE (user_id, digest) IN (SELECT user_id, digest FROM user_ticket
            WHERE expires_at < now() ORDER BY expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED)
        """
}
