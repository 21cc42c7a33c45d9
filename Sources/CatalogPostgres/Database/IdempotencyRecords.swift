internal import Catalog
internal import LibPQ

/// The recorded responses to requests with an idempotency key, written in the requests' own transactions.
struct IdempotencyRecords {
    private let owner: PostgresValue
    private let statements: Statements

    /// Accesses the records of a store's calls; store 0 is for calls that concern no store.
    init(storeID: Int32) {
        owner = .int4(storeID)
        statements = .ofStores
    }

    /// Accesses the records of calls for a user's own data.
    init(user: UserID) {
        owner = .text(user.text)
        statements = .ofUsers
    }

    /// Runs a body once per call; a repeated call gets the recorded response.
    ///
    /// - Parameter call: nil runs the body unconditionally.
    /// - Throws: `keyReused`; `conflict` while the first call is in progress.
    func performOnce<Outcome: Sendable>(
        _ call: IdempotentCall<Outcome>?,
        _ connection: isolated PostgresConnection,
        _ body: () throws -> Outcome
    ) throws -> Outcome {
        try performOnce(call, connection) { (try body(), ()) }.0
    }

    /// Runs a body once per call; a repeated call gets the recorded response.
    ///
    /// - Parameter body: returns the outcome and its side effects, such as the users to notify.
    /// - Returns: the outcome; the effects are nil for a repeated call.
    /// - Throws: `keyReused`; `conflict` while the first call is in progress.
    func performOnce<Outcome: Sendable, Effect>(
        _ call: IdempotentCall<Outcome>?,
        _ connection: isolated PostgresConnection,
        _ body: () throws -> (Outcome, Effect)
    ) throws -> (Outcome, Effect?) {
        guard let call else { return try body() }
        let key: [PostgresValue] = [owner, .text(call.key)]
        // The row of a call in progress is not visible yet; wait for its lock only briefly.
        try connection.set("lock_timeout", "20ms")
        let first: RecordedResponse?
        do { first = try claimOrFind(call, key, connection) } catch let error as PostgresError
            where error.isLockTimeout
        {
            throw CatalogError.conflict("the same request is in progress; retry later to get its response")
        }
        try connection.set("lock_timeout", nil)
        if let first { return (try call.decode(first), nil) }
        var (outcome, effect) = try body()
        let kept = try connection.execute(statements.complete, key + Self.columns(call.encode(&outcome)))
        guard kept == 1 else { throw CatalogError.fault("a response was not recorded") }
        return (outcome, effect)
    }

    /// Claims the key, or returns the recorded response. Only one caller can reclaim an expired key.
    private func claimOrFind(
        _ call: IdempotentCall<some Sendable>,
        _ key: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws -> RecordedResponse? {
        for _ in 0..<4 {
            if try connection.execute(statements.claim, key + [.bytea(call.fingerprint)]) > 0 { return nil }
            // The record was deleted in between: try again.
            guard let found = try read(key, connection) else { continue }
            if found.isFresh { return try found.first.response(to: call) }
            if try connection.execute(statements.renew, key + [.bytea(call.fingerprint)]) > 0 { return nil }
        }
        throw CatalogError.conflict("the same request is in progress; retry later to get its response")
    }

    private func read(
        _ key: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws -> (first: FirstResponse, isFresh: Bool)? {
        try connection.query(statements.find, key) {
            try $0.first { row in
                let status = try row.int2(1)
                guard (200..<600).contains(status) else {
                    throw PostgresError(.decoding, "a recorded response has the status \(status)")
                }
                let response = RecordedResponse(
                    isNew: status == Self.created,
                    mediaType: try row.text(2),
                    body: try row.bytea(3)
                )
                return (FirstResponse(fingerprint: try row.bytea(0), response: response), try row.bool(4))
            }
        }
    }

    /// Returns the first response under a key, for calls that do not write; nil for a new key.
    func firstResponse(
        _ key: String,
        _ connection: isolated PostgresConnection
    ) throws -> FirstResponse? {
        try read([owner, .text(key)], connection).flatMap { $0.isFresh ? $0.first : nil }
    }

    /// Records a response, unless an unexpired one exists.
    func record(
        _ response: RecordedResponse,
        _ call: IdempotentCall<RecordedResponse>,
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            statements.recordFirst,
            [owner, .text(call.key), .bytea(call.fingerprint)] + Self.columns(response)
        )
    }

    /// Values of the column `status`. It is 0 while the first request is in progress. Version 0.1.0 wrote the same values.
    private static let (created, completed): (Int16, Int16) = (201, 200)

    private static func columns(_ response: RecordedResponse) -> [PostgresValue] {
        [.int2(response.isNew ? created : completed), .text(response.mediaType), .bytea(response.body)]
    }

    /// Deletes a batch of expired responses and returns its size. Repeat the call until the result is 0.
    static func sweep(_ connection: isolated PostgresConnection) throws -> Int {
        try connection.execute(Statements.ofStores.sweep) + connection.execute(Statements.ofUsers.sweep)
    }

    struct Statements {
        let claim: PostgresStatement
        let complete: PostgresStatement
        let find: PostgresStatement
        let recordFirst: PostgresStatement
        let renew: PostgresStatement
        let sweep: PostgresStatement

        static let ofStores = Statements(table: "idempotency_record", owner: "store_id")
        static let ofUsers = Statements(table: "user_idempotency_record", owner: "user_id")

        /// The statements with their names in logs and traces.
        static let registered: [(name: String, statements: [PostgresStatement])] = [
            ("IdempotencyRecords.claim", [ofStores.claim, ofUsers.claim]),
            ("IdempotencyRecords.complete", [ofStores.complete, ofUsers.complete]),
            ("IdempotencyRecords.find", [ofStores.find, ofUsers.find]),
            ("IdempotencyRecords.recordFirst", [ofStores.recordFirst, ofUsers.recordFirst]),
            ("IdempotencyRecords.renew", [ofStores.renew, ofUsers.renew]),
            ("IdempotencyRecords.sweep", [ofStores.sweep, ofUsers.sweep]),
        ]

        /// How long a recorded response answers repeated calls.
        private static let lifetime: SQL = "interval '24 hours'"

        private init(table: SQL, owner: SQL) {
            let lifetime = Self.lifetime
            let columns: SQL = "(\(owner), key, fingerprint, status, content_type, body, created_at)"
            claim = """
                INSERT INTO \(table) \(columns)
                VALUES ($1, $2, $3, 0, '', '', now()) ON CONFLICT (\(owner), key) DO NOTHING
                """
            complete = """
                UPDATE \(table) SET status = $3, content_type = $4, body = $5 WHERE \(owner) = $1 AND key = $2
                """
            find = """
                SELECT fingerprint, status, content_type, body, created_at > now() - \(lifetime)
                FROM \(table) WHERE \(owner) = $1 AND key = $2
                """
            // Citus accepts only immutable functions here; the difference of times with a time zone is not.
            recordFirst = """
                INSERT INTO \(table) AS r \(columns)
                VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT (\(owner), key) DO UPDATE SET
                    fingerprint = excluded.fingerprint, status = excluded.status, content_type = excluded.content_type,
                    body = excluded.body, created_at = excluded.created_at
                WHERE r.created_at AT TIME ZONE interval '0' <= excluded.created_at AT TIME ZONE interval '0' - \(lifetime)
                """
            renew = """
                UPDATE \(table) SET fingerprint = $3, created_at = now()
                WHERE \(owner) = $1 AND key = $2 AND created_at <= now() - \(lifetime)
                """
            sweep = """
                DELETE FROM \(table) WHERE created_at < now() - \(lifetime) AND (\(owner), key) IN (SELECT \(owner), key FROM \(table)
                    WHERE created_at < now() - \(lifetime) ORDER BY created_at LIMIT 1000)
                """
        }
    }
}
