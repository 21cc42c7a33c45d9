internal import LibPQ

/// The statements of a re-sort. `$1` is the store id, unless noted.
enum ResortStatements {
    // MARK: - History

    /// `$1` is the run, `$2` its request.
    static let begin: PostgresStatement = """
        INSERT INTO resort_run (run_id, backend_pid, backend_start, started_at, request)
        OVERRIDING SYSTEM VALUE VALUES ($1, 0, now(), now(), $2)
        """
    /// The number of a new run, allocated before its row exists, so that no run is visible without its lock.
    static let nextNumber: PostgresStatement = "SELECT nextval(pg_get_serial_sequence('resort_run', 'run_id'))"
    /// The key of a run's lock.
    static func lockKey(_ run: SQL) -> SQL { "(\(run) % 2147483647)::integer" }
    /// Returns SQL for whether a run is alive: its lock is held. Runs of 0.1.0 have no lock, but record their backend.
    private static func isAlive(_ run: SQL) -> SQL {
        """
        (EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = \(run).backend_pid AND a.backend_start = \(run).backend_start)
            OR \(RunLock.isHeld(.resortRun, lockKey("\(run).run_id"))))
        """
    }
    /// The last run whose process has died.
    static let interrupted: PostgresStatement = """
        SELECT r.run_id, r.request FROM resort_run r WHERE r.ended_at IS NULL AND NOT \(isAlive("r"))
        ORDER BY r.run_id DESC LIMIT 1
        """
    /// Whether a run, `$1`, has not ended.
    static let isOpen: PostgresStatement = "SELECT 1 FROM resort_run WHERE run_id = $1 AND ended_at IS NULL"
    /// `$1` is the run.
    static let add: PostgresStatement = """
        UPDATE resort_run SET events = events + $2, products = products + $3, shelves = shelves + $4,
            changed = changed + $5, moved = moved + $6 WHERE run_id = $1
        """
    static let end: PostgresStatement = """
        UPDATE resort_run SET ended_at = now(), failure = $2 WHERE run_id = $1
        """
    static let runs: PostgresStatement = """
        SELECT r.run_id, r.started_at, r.ended_at, r.request, r.failure, r.events, r.products, r.shelves, r.changed,
            r.moved, \(isAlive("r"))
        FROM resort_run r ORDER BY r.run_id DESC LIMIT $1
        """

    // MARK: - Targets

    /// Shelves with placements whose score is outdated.
    static let dueShelves: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM popularity_due u
        JOIN product r ON r.store_id = u.store_id AND r.sku = u.sku
        JOIN placement p ON p.store_id = u.store_id AND p.sku = u.sku
        WHERE u.store_id = $1 AND p.popularity_log2 <> r.popularity_log2
        """
    /// Shelves with products that have uncounted purchases.
    static let boughtShelves: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM placement p WHERE p.store_id = $1 AND p.sku IN (
            SELECT sku FROM popularity_due WHERE store_id = $1 UNION SELECT sku FROM purchase_inbox WHERE store_id = $1
            UNION SELECT sku FROM purchase_stray WHERE store_id = $1)
        """
    static let allShelves: PostgresStatement = "SELECT shelf_id FROM shelf WHERE store_id = $1 AND deleted_at IS NULL"
    /// The number of events that a fold would process.
    static let inboxCount: PostgresStatement = """
        SELECT (SELECT count(*) FROM purchase_inbox WHERE store_id = $1)
            + (SELECT count(*) FROM purchase_stray y JOIN product r ON r.store_id = $1 AND r.sku = y.sku WHERE y.store_id = $1)
        """
    /// Shelves to process: with keys `$2` if `$3`, changed since `$4`, and always those in `$5`. A move does not change
    /// the modification time, so shelves with a position source are selected by version only.
    static let targets: PostgresStatement = """
        SELECT shelf_id FROM shelf WHERE store_id = $1 AND deleted_at IS NULL AND (NOT $3 OR key = ANY ($2))
            AND (shelf_id IN (SELECT unnest($5))
                OR version IS DISTINCT FROM resorted_version 
                AND ($4::timestamptz IS NULL OR modified_at >= $4 OR position_source IS NOT NULL))
        ORDER BY shelf_id
        """

    // MARK: - A shelf, `$2`

    private static let columns: SQL = "\(ShelfRow.storeColumns), \(ShelfRow.stateColumns), h.resorted_version"
    /// Some shelves, `$2`.
    static let heads: PostgresStatement = """
        SELECT \(columns) FROM store s JOIN shelf h ON h.store_id = s.store_id
        WHERE s.store_id = $1 AND h.shelf_id = ANY ($2) AND h.deleted_at IS NULL ORDER BY h.shelf_id
        """
    static let lock: PostgresStatement = """
        SELECT \(columns) FROM store s JOIN shelf h ON h.store_id = s.store_id
        WHERE s.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL FOR NO KEY UPDATE OF h
        """
    /// Updates the most common dimension of a shelf; ties in declaration order.
    static let updateDimension: PostgresStatement = """
        UPDATE shelf h SET settled_dimension = c.unit_dimension FROM (
            SELECT p.unit_dimension FROM placement p
            WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.unit_dimension IS NOT NULL
            GROUP BY p.unit_dimension ORDER BY count(*) DESC, p.unit_dimension LIMIT 1) c
        WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.settled_dimension <> c.unit_dimension
        RETURNING h.settled_dimension, h.dimension IS NULL
        """
    /// Deletes rows, `$3`, to reinsert them: an update would touch as many index entries and look each one up again.
    static let deletePositions: PostgresStatement = """
        DELETE FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND sku = ANY ($3)
        """
    /// Deletes all placed rows except `$3`, in key order without individual lookups.
    static let deleteOtherPositions: PostgresStatement = """
        DELETE FROM placement_position
        WHERE store_id = $1 AND shelf_id = $2 AND NOT is_removed AND sku NOT IN (SELECT unnest($3))
        """
    static let insertPositions: PostgresStatement = """
        INSERT INTO placement_position (store_id, shelf_id, sku, key) SELECT $1, $2, made.sku, made.key
        FROM unnest($3, $4) AS made (sku, key)
        """
    /// `$3` says whether the shelf changed, `$4` whether its manual order did.
    static let finishShelf: PostgresStatement = """
        UPDATE shelf SET version = \(resortedVersion), resorted_version = \(resortedVersion),
            order_version = \(SQL.nextVersion(after: "order_version", if: "$4")),
            modified_at = CASE WHEN $3 THEN now() ELSE modified_at END
        WHERE store_id = $1 AND shelf_id = $2
        """
    private static let resortedVersion = SQL.nextVersion(after: "version", if: "$3")
}
