internal import LibPQ

/// The statements with which a server finds the workers of a Citus cluster, and checks that they still have a shard.
enum WorkerStatements {
    /// The shards of `shelf` and of `user_account` with the lowest and the highest hash; none on a standby. Their servers are in use
    /// and know the placements. Each shard identifies the shards of all tables that have the same stores, or the same users.
    static let shards: PostgresStatement = """
        SELECT s.shardid, n.nodename, n.nodeport::bigint, s.logicalrelid = to_regclass('shelf'),
            s.shardminvalue::integer, s.shardmaxvalue::integer
        FROM pg_dist_shard s
        JOIN pg_dist_placement p ON p.shardid = s.shardid AND p.shardstate = 1
        JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary' AND n.isactive AND n.hasmetadata AND n.metadatasynced
        WHERE s.logicalrelid IN (to_regclass('shelf'), to_regclass('user_account'))
            AND s.shardminvalue IS NOT NULL AND NOT pg_is_in_recovery()
        """
    /// The names of the tables that are together with a shard of `shelf`, and of the reference tables, each with the name of its shard.
    static let tables: PostgresStatement = """
        SELECT s.shardid, c.relname::text, format('%I.%I', n.nspname, c.relname || '_' || t.shardid) FROM pg_dist_shard s
        JOIN pg_dist_partition own ON own.logicalrelid = s.logicalrelid
        JOIN pg_dist_partition other ON other.colocationid = own.colocationid OR other.repmodel = 't'
        JOIN pg_dist_shard t ON t.logicalrelid = other.logicalrelid
            AND (t.shardminvalue = s.shardminvalue OR other.repmodel = 't')
        JOIN pg_class c ON c.oid = other.logicalrelid
        JOIN pg_class shelf ON shelf.oid = s.logicalrelid AND shelf.relnamespace = c.relnamespace
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE s.logicalrelid = to_regclass('shelf')
        """
    /// Whether the worker still has each of some shards, `$1`. Reads share it.
    ///
    /// The subquery is not a join, for which PostgreSQL might read all placements.
    ///
    /// A read comes after it in the same transaction, whose statements have snapshots of their own. If the shard moves in between, the read
    /// sees the state at the time of the move, when writes were blocked. A transaction that has changed the placement and is only prepared
    /// here may already be committed on the coordinator, so `xmax` must be 0.
    static let present: PostgresStatement = """
        SELECT w.number, NOT pg_is_in_recovery() AND coalesce((
            SELECT p.shardstate = 1 AND p.xmax = 0 FROM pg_dist_placement p WHERE p.shardid = w.shard_id AND p.groupid = g.groupid), false)
        FROM unnest($1::bigint[]) WITH ORDINALITY AS w (shard_id, number) CROSS JOIN pg_dist_local_group g
        """
}
