import CatalogPostgres
import LibPQ
import Testing
import TestSupport

/// The rights of the roles that `aisle db roles` creates. Tests with `withCatalog` run in the server's role.
@Suite(.timeLimit(.minutes(5))) struct DatabaseRolesTests {
    /// The SQLSTATE of a statement in a role; nil if it succeeds.
    private static func state(
        of script: String,
        as role: String?,
        in database: TestDatabase
    ) async throws -> SQLState? {
        let connection = try await PostgresConnection.connect(database.configuration)
        let state = try await connection.perform { connection -> SQLState? in
            try connection.begin()
            try connection.run(script: "SET LOCAL ROLE \(role ?? "NONE")")
            defer { connection.rollback() }
            do { try connection.run(script: script) } catch let error as PostgresError { return error.sqlState }
            return nil
        }
        await connection.close()
        return state
    }

    private static let denied = SQLState("42501")

    @Test("Servers change rows but not the schema, and readers see nothing secret or personal")
    func rolesHaveTheirRights() async throws {
        let database = try await TestDatabase.migrated()
        let roles = DatabaseRoles()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        // The script can be repeated.
        let script = try await roles.script(pool)
        try await pool.perform { try $0.run(script: script) }
        pool.shutDown()
        let allowed = [
            (roles.server, "DELETE FROM product; DELETE FROM user_setting; SELECT * FROM deployment, schema_migration"),
            (roles.reader, "SELECT * FROM product, placement, shelf, store, store_state, schema_migration"),
            (roles.reader, "SELECT attribute_revision, synonym_revision FROM deployment WHERE deployment_id = 1"),
            (
                roles.server,
                """
                INSERT INTO store_audit (store_id, at, audit_id, action, source, actor, detail)
                VALUES (1, now(), gen_random_uuid(), 'a', 'api', 'ann', '{}'); SELECT * FROM store_audit, user_audit;
                SELECT audit_create_partitions(current_date), audit_drop_partitions(30),
                    audit_erase_user('ann', 'hash', gen_random_uuid(), 'user.erase', 'api', NULL, true)
                """
            ),
            (roles.owner, "ALTER TABLE product ADD COLUMN x integer; CREATE TABLE y (); DROP TABLE user_list CASCADE"),
        ]
        for (role, script) in allowed {
            #expect(try await Self.state(of: script, as: role, in: database) == nil, "\(role)")
        }
        let forbidden = [
            (roles.server, "ALTER TABLE product ADD COLUMN x integer"), (roles.server, "DROP TABLE product"),
            (roles.server, "CREATE TABLE y ()"), (roles.server, "DELETE FROM schema_migration"),
            (roles.server, "TRUNCATE product"),
            (roles.server, "UPDATE store_audit SET actor = 'bob'"), (roles.server, "DELETE FROM store_audit"),
            (roles.server, "TRUNCATE store_audit"), (roles.server, "DROP TABLE store_audit"),
            (roles.server, "UPDATE user_audit SET actor = 'bob'"), (roles.server, "DELETE FROM user_audit"),
            (roles.server, "DELETE FROM store_audit_default"), (roles.server, "SELECT * FROM user_audit_default"),
            (
                roles.server,
                """
                DO $$ BEGIN EXECUTE 'DELETE FROM ' || (SELECT max(inhrelid::regclass::text) FROM pg_inherits
                    WHERE inhparent = 'store_audit'::regclass); END $$
                """
            ),
            (roles.reader, "SELECT * FROM store_audit"), (roles.reader, "SELECT * FROM user_audit"),
            (roles.reader, "SELECT audit_create_partitions(current_date)"),
            (roles.reader, "SELECT audit_drop_partitions(400)"),
            (
                roles.reader,
                "SELECT audit_erase_user('ann', 'hash', gen_random_uuid(), 'user.erase', 'api', NULL, true)"
            ),
            (roles.reader, "SELECT * FROM deployment"), (roles.reader, "SELECT * FROM user_setting"),
            (roles.reader, "SELECT * FROM user_ticket"), (roles.reader, "SELECT * FROM purchase_by_customer"),
            (roles.reader, "SELECT * FROM order_change"), (roles.reader, "SELECT * FROM idempotency_record"),
            (roles.reader, "UPDATE product SET name = name"),
        ]
        for (role, script) in forbidden {
            #expect(try await Self.state(of: script, as: role, in: database) == Self.denied, "\(role): \(script)")
        }
        try await database.drop()
    }

    @Test("The functions of the audit log delete neither entries of existing users nor the last 30 days")
    func functionsProtectEntries() async throws {
        let database = try await TestDatabase.migrated()
        let account = "INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1, 0);"
        func erasure(_ action: String) -> String {
            "SELECT audit_erase_user('ann', 'hash', gen_random_uuid(), '\(action)', 'api', NULL, true)"
        }
        let raised = SQLState("P0001")
        for script in [erasure("user.export"), "SELECT audit_drop_partitions(29)"] {
            #expect(try await Self.state(of: script, as: nil, in: database) == raised, "\(script)")
        }
        // Divides by zero unless an entry remains.
        let entry = """
            INSERT INTO user_audit (user_id, at, audit_id, action, source, actor, detail)
            VALUES ('ann', now(), gen_random_uuid(), 'settings.change', 'api', 'ann', '{}');
            """
        let check = "; SELECT 1 / count(*) FROM user_audit WHERE user_id = 'ann'"
        #expect(try await Self.state(of: account + entry + erasure("user.erase") + check, as: nil, in: database) == nil)
        let divided = SQLState("22012")
        #expect(try await Self.state(of: entry + erasure("user.merge") + check, as: nil, in: database) == divided)
        try await database.drop()
    }

    @Test("Names of roles are quoted")
    func namesAreQuoted() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let script = try await DatabaseRoles(owner: "o\"; DROP TABLE product; --").script(pool)
        #expect(script.contains("CREATE ROLE \"o\"\"; DROP TABLE product; --\" LOGIN"))
        pool.shutDown()
        try await database.drop()
    }
}
