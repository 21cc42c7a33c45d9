internal import LibPQ

/// The statements of the audit log.
enum AuditStatements {
    static let insertOfStore: PostgresStatement = insert(into: "store_audit", key: "store_id")
    static let insertOfUser: PostgresStatement = insert(into: "user_audit", key: "user_id")

    private static func insert(into table: SQL, key: SQL) -> PostgresStatement {
        """
        INSERT INTO \(table) (\(key), at, audit_id, action, source, actor, address, token, request_id, subject, detail)
        VALUES ($1, now(), $2::uuid, $3, $4, $5, $6, $7, $8, $9, $10::json)
        """
    }

    /// The latest entries of a store, `$1`, from `$2` until before `$3`, after the entry at `$4` with the id `$5`; at most `$9`.
    /// The entries have an action, `$6`, an actor, `$7`, and a subject, `$8`, unless these are null.
    static let ofStore: PostgresStatement = """
        SELECT \(columns("a")) \(latest(of: "store_audit", key: "store_id", "$1"))
        """

    /// The latest entries of a user, `$1`, and of the user's erasures, under the name `$10`, with the conditions of `ofStore`.
    static let ofUser: PostgresStatement = """
        SELECT \(columns("f")) FROM ((SELECT a.* \(latest(of: "user_audit", key: "user_id", "$1")))
            UNION ALL (SELECT a.* \(latest(of: "user_audit", key: "user_id", "$10")))) AS f
        ORDER BY f.at DESC, f.audit_id DESC LIMIT $9
        """

    /// All entries of a user, `$1`, the oldest first.
    static let allOfUser: PostgresStatement = """
        SELECT \(columns("a")) FROM user_audit a WHERE a.user_id = $1 ORDER BY a.at, a.audit_id
        """

    private static func columns(_ table: SQL) -> SQL {
        let names: [SQL] = [
            "audit_id::text", "at", "action", "source", "actor", "address", "token", "request_id", "subject",
            "detail::text",
        ]
        return names.map { "\(table).\($0)" as SQL }.joined()
    }

    /// A row is compared for the exact position; single comparisons of the time exclude partitions.
    private static func latest(of table: SQL, key: SQL, _ owner: SQL) -> SQL {
        """
        FROM \(table) a WHERE a.\(key) = \(owner) AND a.at >= $2 AND a.at < $3
            AND a.at <= $4 AND (a.at, a.audit_id) < ($4, $5::uuid) AND ($6::text IS NULL OR a.action = $6)
            AND ($7::text IS NULL OR a.actor = $7) AND ($8::text IS NULL OR a.subject = $8)
        ORDER BY a.at DESC, a.audit_id DESC LIMIT $9
        """
    }

    /// Creates the partitions of the month of a day, `$1`, and of the next month, if they are missing; returns their number.
    static let createPartitions: PostgresStatement = "SELECT audit_create_partitions($1)"
    /// Drops the months that ended `$1` days ago or earlier; returns their number.
    static let dropPartitions: PostgresStatement = "SELECT audit_drop_partitions($1)"
    /// Deletes the entries of a user, `$1`, and adds one under the user's hash, `$2`, if there were any, or an account, `$7`.
    static let eraseUser: PostgresStatement = "SELECT audit_erase_user($1, $2, $3::uuid, $4, $5, $6, $7)"
}
