internal import Catalog
internal import LibPQ

/// The first answers to requests with a key, written by the transactions that they are about.
struct IdempotencyRecords {
    private let owner: PostgresValue
    private let statements: Statements

    /// Of the calls about a store; 0 for those about none.
    init(storeID: Int32) {
        owner = .int4(storeID)
        statements = .ofStores
    }

    /// Of the calls about a user's own.
    init(user: UserID) {
        owner = .text(user.text)
        statements = .ofUsers
    }

    /// Runs a body once for a call: a repeated one gets the first answer.
    ///
    /// - Parameter call: nil runs the body as it is.
    /// - Throws: `keyReused`; `conflict` while the first is under way.
    func once(
        _ call: IdempotentCall?,
        _ database: isolated PostgresConnection,
        _ body: () throws -> RecordedAnswer
    ) throws -> RecordedAnswer {
        guard let call else { return try body() }
        let key: [PostgresValue] = [owner, .text(call.key)]
        // The row of a call that is under way cannot be seen, only waited for; not long.
        try database.set("lock_timeout", "20ms")
        let first: RecordedAnswer?
        do { first = try claimOrFind(call, key, database) } catch let error as PostgresError
            where error.sqlState == .lockNotAvailable
        {
            throw CatalogError.conflict("the same request is under way; repeat it for its answer")
        }
        try database.set("lock_timeout", nil)
        if let first { return first }
        let answer = try body()
        let kept = try database.execute(
            statements.complete,
            key + [.int2(Int16(answer.status)), .text(answer.contentType), .bytea(answer.body)]
        )
        guard kept == 1 else { throw CatalogError.fault("an answer was not kept") }
        return answer
    }

    /// Claims the key, or finds the first answer; one that is too old is claimed anew, by one alone.
    private func claimOrFind(
        _ call: IdempotentCall,
        _ key: [PostgresValue],
        _ database: isolated PostgresConnection
    ) throws -> RecordedAnswer? {
        for _ in 0..<4 {
            if try database.execute(statements.claim, key + [.bytea(call.fingerprint)]) > 0 { return nil }
            // Swept in between: once more.
            guard let found = try read(key, database) else { continue }
            if found.isFresh { return try found.first.answer(to: call) }
            if try database.execute(statements.renew, key + [.bytea(call.fingerprint)]) > 0 { return nil }
        }
        throw CatalogError.conflict("the same request is under way; repeat it for its answer")
    }

    private func read(
        _ key: [PostgresValue],
        _ database: isolated PostgresConnection
    ) throws -> (first: FirstAnswer, isFresh: Bool)? {
        try database.query(statements.find, key) {
            try $0.first { row in
                let status = Int(try row.int2(1))
                guard (200..<600).contains(status) else {
                    throw PostgresError(.decoding, "a recorded response has the status \(status)")
                }
                let answer = RecordedAnswer(
                    status: status,
                    contentType: try row.text(2),
                    body: try row.bytea(3)
                )
                return (FirstAnswer(fingerprint: try row.bytea(0), answer: answer), try row.bool(4))
            }
        }
    }

    /// The first answer under a key of a call that writes nothing by itself; nil for a new one.
    func recall(
        _ key: String,
        _ database: isolated PostgresConnection
    ) throws -> FirstAnswer? {
        try read([owner, .text(key)], database).flatMap { $0.isFresh ? $0.first : nil }
    }

    /// Keeps such an answer, where there is none yet that is fresh.
    func keep(
        _ answer: RecordedAnswer,
        _ call: IdempotentCall,
        _ database: isolated PostgresConnection
    ) throws {
        try database.execute(
            statements.keepFirst,
            [
                owner, .text(call.key), .bytea(call.fingerprint), .int2(Int16(answer.status)),
                .text(answer.contentType), .bytea(answer.body),
            ]
        )
    }

    /// Deletes answers that are too old, some at a time; returns how many.
    static func sweep(_ database: isolated PostgresConnection) throws -> Int {
        try database.execute(Statements.ofStores.sweep) + database.execute(Statements.ofUsers.sweep)
    }

    private struct Statements {
        let claim: PostgresStatement
        let complete: PostgresStatement
        let find: PostgresStatement
        let keepFirst: PostgresStatement
        let renew: PostgresStatement
        let sweep: PostgresStatement

        static let ofStores = Statements(table: "idempotency_record", owner: "store_id")
        static let ofUsers = Statements(table: "user_idempotency_record", owner: "user_id")

        private init(table: StaticString, owner: StaticString) {
            let columns = "(\(owner), key, fingerprint, status, content_type, body, created_at)"
            claim = PostgresStatement(
                assembled: """
                    INSERT INTO \(table) \(columns)
                    VALUES ($1, $2, $3, 0, '', '', now()) ON CONFLICT (\(owner), key) DO NOTHING
                    """
            )
            complete = PostgresStatement(
                assembled: """
                    UPDATE \(table) SET status = $3, content_type = $4, body = $5 WHERE \(owner) = $1 AND key = $2
                    """
            )
            find = PostgresStatement(
                assembled: """
                    SELECT fingerprint, status, content_type, body, created_at > now() - interval '24 hours'
                    FROM \(table) WHERE \(owner) = $1 AND key = $2
                    """
            )
            keepFirst = PostgresStatement(
                assembled: """
                    INSERT INTO \(table) AS r \(columns)
                    VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT (\(owner), key) DO UPDATE SET
                        fingerprint = excluded.fingerprint, status = excluded.status, content_type = excluded.content_type,
                        body = excluded.body, created_at = now()
                    WHERE r.created_at <= now() - interval '24 hours'
                    """
            )
            renew = PostgresStatement(
                assembled: """
                    UPDATE \(table) SET fingerprint = $3, created_at = now()
                    WHERE \(owner) = $1 AND key = $2 AND created_at <= now() - interval '24 hours'
                    """
            )
            sweep = PostgresStatement(
                assembled: """
                    DELETE FROM \(table) WHERE (\(owner), key) IN (SELECT \(owner), key FROM \(table)
                        WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT 1000
                        FOR UPDATE SKIP LOCKED)
                    """
            )
        }
    }
}
