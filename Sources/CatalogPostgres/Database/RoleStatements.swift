internal import LibPQ

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
