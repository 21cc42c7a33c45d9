package import LibPQ

/// The database roles of a deployment, and the SQL that creates them.
package struct DatabaseRoles: Sendable {
    /// Owns the schema and migrates it.
    package let owner: String
    /// Reads and writes rows; cannot change the schema.
    package let server: String
    /// Reads the catalog and its statistics, but no keys and no users' data.
    package let reader: String

    package init(owner: String = "aisle_owner", server: String = "aisle_server", reader: String = "aisle_reader") {
        (self.owner, self.server, self.reader) = (owner, server, reader)
    }

    /// Whether the reader must not read a table: keys, recorded responses, users' data, and tables that name users.
    private static func isPrivate(_ table: String) -> Bool {
        table == "deployment" || table == "idempotency_record" || table == "order_change" || table.hasPrefix("user_")
            || table.hasPrefix("purchase_") || table.hasPrefix("store_audit")
    }

    /// The tables of the audit log, to which servers add entries but which they do not change.
    private static let appendOnly = ["store_audit", "user_audit"]

    /// The functions that servers call with the rights of the owner.
    private static let functions = [
        "audit_create_partitions(date)", "audit_drop_partitions(integer)",
        "audit_erase_user(text, text, uuid, text, text, text, boolean)",
    ]

    /// The tables that servers analyze after they have filled them.
    private static let analyzed = [
        "product", "placement", "placement_position", "shelf", "due_products",
    ]

    /// Returns a script that creates the roles in a migrated database. It is idempotent; run it again after each
    /// migration that creates tables.
    package func script(_ pool: PostgresPool) async throws -> String {
        try await pool.perform(within: .seconds(30)) { connection in
            let (database, schema, version) = try connection.query(RoleStatements.place) {
                try $0.first { (try $0.text(0), try $0.text(1), try $0.int8(2)) }!
            }
            let tables = try connection.query(RoleStatements.tables) { try $0.map { try $0.text(0) } }
            let others = try connection.query(RoleStatements.others) { try $0.map { try $0.text(0) } }
            let isDistributed = try Distribution.isInstalled(connection)
            return script(
                database,
                schema,
                tables,
                others,
                analyzes: version >= 170_000,
                isDistributed: isDistributed
            )
        }
    }

    private func script(
        _ database: String,
        _ schema: String,
        _ tables: [String],
        _ others: [String],
        analyzes: Bool,
        isDistributed: Bool
    ) -> String {
        let (owner, server, reader) = (Self.quoted(owner), Self.quoted(server), Self.quoted(reader))
        let (database, schema) = (Self.quoted(database), Self.quoted(schema))
        func list(_ tables: [String]) -> String {
            tables.map { "\(schema).\(Self.quoted($0))" }.joined(separator: ", ")
        }
        var lines = [
            "-- The owner migrates, servers read and write, and the reader reads what is neither secret nor personal."
        ]
        // The foreign keys to reference tables forbid parallel changes of several shards in a transaction.
        if isDistributed { lines.append("SET citus.multi_shard_modify_mode TO 'sequential';") }
        for role in [owner, server, reader] {
            lines.append("DO $$ BEGIN CREATE ROLE \(role) LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;")
        }
        lines += [
            "REVOKE CREATE ON SCHEMA \(schema) FROM PUBLIC;",
            "GRANT CONNECT ON DATABASE \(database) TO \(owner), \(server), \(reader);",
            "GRANT USAGE, CREATE ON SCHEMA \(schema) TO \(owner);",
            "GRANT USAGE ON SCHEMA \(schema) TO \(server), \(reader);",
        ]
        lines += tables.map { "ALTER TABLE \(list([$0])) OWNER TO \(owner);" }
        lines += others.map { "ALTER \($0) OWNER TO \(owner);" }
        lines += [
            Self.grants(schema, server),
            "ALTER DEFAULT PRIVILEGES FOR ROLE \(owner) IN SCHEMA \(schema) GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO \(server);",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(server);",
            "ALTER DEFAULT PRIVILEGES FOR ROLE \(owner) IN SCHEMA \(schema) GRANT USAGE ON SEQUENCES TO \(server);",
            "REVOKE INSERT, UPDATE, DELETE ON \(schema).schema_migration FROM \(server);",
            "GRANT SELECT ON \(list(tables.filter { !Self.isPrivate($0) })) TO \(reader);",
            // Every read of a store confirms these.
            "GRANT SELECT (deployment_id, attribute_revision, synonym_revision) ON \(schema).deployment TO \(reader);",
        ]
        let logs = tables.filter { table in Self.appendOnly.contains { table.hasPrefix($0) } }
        if !logs.isEmpty {
            let functions = Self.functions.map { "\(schema).\($0)" }.joined(separator: ", ")
            lines += [
                "GRANT SELECT, INSERT ON \(list(logs.filter(Self.appendOnly.contains))) TO \(server);",
                "REVOKE ALL ON FUNCTION \(functions) FROM PUBLIC;",
                "GRANT EXECUTE ON FUNCTION \(functions) TO \(server);",
            ]
        }
        let cells = PurchaseCells.all.map { PurchaseCells.table($0).text }.filter { tables.contains($0) }
        if !cells.isEmpty { lines.append("GRANT TRUNCATE ON \(list(cells)) TO \(server);") }
        if analyzes { lines.append("GRANT MAINTAIN ON \(list(Self.analyzed)) TO \(server);") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the statement that lets servers change all tables but the logs. Servers reach the partitions of a log only through
    /// the whole table. The statement covers the existing partitions.
    private static func grants(_ schema: String, _ server: String) -> String {
        """
        DO $$ DECLARE
            name text;
            log boolean;
        BEGIN
            FOR name, log IN SELECT c.oid::regclass::text, c.relname ~ '^(\(appendOnly.joined(separator: "|")))' FROM pg_class c
                WHERE c.relnamespace = '\(escaped(schema))'::regnamespace AND c.relkind IN ('r', 'p')
            LOOP
                IF log THEN
                    EXECUTE 'REVOKE ALL ON ' || name || ' FROM \(escaped(server))';
                ELSE
                    EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON ' || name || ' TO \(escaped(server))';
                END IF;
            END LOOP;
        END $$;
        """
    }

    private static func quoted(_ name: String) -> String { "\"" + doubling("\"", in: name) + "\"" }

    /// Returns a text for a literal.
    private static func escaped(_ text: String) -> String { doubling("'", in: text) }

    private static func doubling(_ mark: Character, in text: String) -> String {
        text.split(separator: mark, omittingEmptySubsequences: false).joined(separator: "\(mark)\(mark)")
    }
}

/// The statements that describe a schema's objects to grant privileges on them.
enum RoleStatements {
    static let place: PostgresStatement = """
        SELECT current_database()::text, current_schema()::text, current_setting('server_version_num')::bigint
        """
    static let tables: PostgresStatement = """
        SELECT relname::text FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace ORDER BY relname
        """
    /// The schema's functions, as `ALTER` names them.
    static let others: PostgresStatement = """
        SELECT 'FUNCTION ' || p.oid::regprocedure::text FROM pg_proc p
        WHERE p.pronamespace = current_schema()::regnamespace AND NOT EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
        ORDER BY 1
        """
}
