internal import LibPQ

/// Statements about a Citus cluster. All but `extensionVersion` and `movesShard` need its extension.
enum DistributionStatements {
    /// The version of the extension; no row without it.
    static let extensionVersion: PostgresStatement = "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
    /// Has a row if the tables are distributed.
    static let isDistributed: PostgresStatement = """
        SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass('shelf') AND partmethod = 'h'
        """
    /// Has a row while a shard moves: the transaction of the move locks the list of shards to delete, and all tables of stores.
    static let movesShard: PostgresStatement = """
        SELECT 1 FROM pg_database b JOIN pg_locks d ON d.database = b.oid
        JOIN pg_locks t ON t.database = b.oid AND t.virtualtransaction = d.virtualtransaction
        WHERE b.datname = current_database() AND d.relation = to_regclass('pg_dist_cleanup')
            AND t.relation = to_regclass('purchase_inbox') AND t.mode = 'RowExclusiveLock' AND t.granted LIMIT 1
        """
    /// The number of distributed tables and reference tables.
    static let tableCount: PostgresStatement =
        "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h' OR repmodel = 't'"
    /// Has a row on the coordinator, and on a server that is not in a cluster.
    static let isCoordinator: PostgresStatement = "SELECT 1 FROM pg_dist_local_group WHERE groupid = 0"
    /// Has a row if the coordinator and at least one worker are in the cluster.
    static let hasWorkers: PostgresStatement = """
        SELECT 1 FROM pg_dist_node HAVING bool_or(groupid = 0) AND bool_or(groupid <> 0)
        """
    /// The servers of the cluster, the coordinator first, with the numbers of their shards and of those that cannot be used.
    static let nodes: PostgresStatement = """
        SELECT n.nodename || ':' || n.nodeport, n.groupid = 0, n.isactive,
            (SELECT count(*) FROM pg_dist_placement p WHERE p.groupid = n.groupid),
            (SELECT count(*) FROM pg_dist_placement p WHERE p.groupid = n.groupid AND p.shardstate NOT IN (1, 4))
        FROM pg_dist_node n WHERE n.noderole = 'primary' ORDER BY n.groupid
        """
    /// The active workers to which the coordinator cannot connect.
    static let unreachableNodes: PostgresStatement = """
        SELECT nodename || ':' || nodeport FROM pg_dist_node
        WHERE groupid <> 0 AND isactive AND noderole = 'primary' AND NOT citus_check_connection_to_node(nodename, nodeport) ORDER BY groupid
        """
    static let brokenConnections: PostgresStatement = """
        SELECT from_nodename || ':' || from_nodeport || ' → ' || to_nodename || ':' || to_nodeport
        FROM citus_check_cluster_node_health() WHERE result IS NOT TRUE ORDER BY 1
        """
    static let withFewPreparedTransactions: PostgresStatement = .init(
        nodes(
            """
            SELECT current_setting('max_prepared_transactions')::integer < current_setting('max_connections')::integer
            """,
            where: "r.result = 't'"
        )
    )
    /// The servers with shards whose `wal_level` is not `logical`, which moves of shards need during writes.
    static let withoutLogicalDecoding: PostgresStatement = .init(
        nodes("SHOW wal_level", where: "r.result <> 'logical' AND (n.groupid <> 0 OR n.shouldhaveshards)")
    )
    static let withOldTransactions: PostgresStatement = .init(
        nodes(
            """
            SELECT count(*) FROM pg_prepared_xacts WHERE database = current_database() AND prepared < now() - interval '5 minutes'
            """,
            where: "r.result <> '0'"
        )
    )

    /// Returns SQL for the servers on which a query has a result.
    private static func nodes(_ query: SQL, where condition: SQL) -> SQL {
        """
        SELECT n.nodename || ':' || n.nodeport FROM run_command_on_all_nodes($query$ \(query) $query$) r
        JOIN pg_dist_node n ON n.nodeid = r.nodeid WHERE r.success AND \(condition) ORDER BY n.groupid
        """
    }

    /// The tables that are neither distributed nor reference tables, except those that stay local, `$1`.
    static let localTables: PostgresStatement = """
        SELECT c.relname::text FROM pg_class c
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
            AND c.relname <> ALL ($1)
            AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid AND (d.partmethod = 'h' OR d.repmodel = 't'))
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
        ORDER BY c.relname
        """
}
