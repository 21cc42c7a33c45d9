internal import LibPQ

/// The statements of a re-sort. `$1` is the store's number, but where said.
enum ResortStatements {
    // MARK: - History

    /// `$1` is the run, `$2` its request.
    static let begin: PostgresStatement = """
        INSERT INTO resort_run (run_id, backend_pid, backend_start, started_at, request)
        OVERRIDING SYSTEM VALUE VALUES ($1, 0, now(), now(), $2)
        """
    /// The number of a new run, known before its line is there: nobody sees a run whose lock is not held.
    static let nextNumber: PostgresStatement = "SELECT nextval(pg_get_serial_sequence('resort_run', 'run_id'))"
    /// The key of a run's lock.
    static func lockKey(_ run: SQL) -> SQL { "(\(run) % 2147483647)::integer" }
    /// Whether a run lives: its lock is held. Those of 0.1.0 have no lock, but the number of their backend.
    private static func isAlive(_ run: SQL) -> SQL {
        """
        (EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = \(run).backend_pid AND a.backend_start = \(run).backend_start)
            OR \(RunLock.isHeld(.resortRun, lockKey("\(run).run_id"))))
        """
    }
    /// The last run whose process is gone.
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

    // MARK: - What there is to do

    /// Shelves whose products have other scores than they show.
    static let dueShelves: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM popularity_due u
        JOIN product r ON r.store_id = u.store_id AND r.sku = u.sku
        JOIN placement p ON p.store_id = u.store_id AND p.sku = u.sku
        WHERE u.store_id = $1 AND p.popularity_log2 <> r.popularity_log2
        """
    /// Shelves whose products may get other scores: those with purchases that are not counted yet.
    static let boughtShelves: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM placement p WHERE p.store_id = $1 AND p.sku IN (
            SELECT sku FROM popularity_due WHERE store_id = $1 UNION SELECT sku FROM purchase_inbox WHERE store_id = $1
            UNION SELECT sku FROM purchase_stray WHERE store_id = $1)
        """
    static let allShelves: PostgresStatement = "SELECT shelf_id FROM shelf WHERE store_id = $1 AND deleted_at IS NULL"
    /// How many events a fold would take.
    static let inboxCount: PostgresStatement = """
        SELECT (SELECT count(*) FROM purchase_inbox WHERE store_id = $1)
            + (SELECT count(*) FROM purchase_stray y JOIN product r ON r.store_id = $1 AND r.sku = y.sku WHERE y.store_id = $1)
        """
    /// Of some keys, `$2`, where `$3`; changed since `$4`; those that are due, `$5`, in any case. A move of a product leaves
    /// no time, so that of baked shelves the version alone tells.
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
    /// The dimension that most products have; ties in the order of dimensions.
    static let settleDimension: PostgresStatement = """
        UPDATE shelf h SET settled_dimension = c.unit_dimension FROM (
            SELECT p.unit_dimension FROM placement p
            WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.unit_dimension IS NOT NULL
            GROUP BY p.unit_dimension ORDER BY count(*) DESC, p.unit_dimension LIMIT 1) c
        WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.settled_dimension <> c.unit_dimension
        RETURNING h.settled_dimension, h.dimension IS NULL
        """
    /// Takes rows out, `$3`, to put them in elsewhere: an update in place would touch as many entries, and look each up again.
    static let takeOut: PostgresStatement = """
        DELETE FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND sku = ANY ($3)
        """
    /// The same of all that stand on the shelf but some, `$3`: in the order of the keys, without looking each up.
    static let takeOutOthers: PostgresStatement = """
        DELETE FROM placement_position
        WHERE store_id = $1 AND shelf_id = $2 AND NOT is_removed AND sku NOT IN (SELECT unnest($3))
        """
    static let putIn: PostgresStatement = """
        INSERT INTO placement_position (store_id, shelf_id, sku, key) SELECT $1, $2, made.sku, made.key
        FROM unnest($3, $4) AS made (sku, key)
        """
    /// `$3` 1 where the shelf changed, `$4` 1 where its manual order did.
    static let conclude: PostgresStatement = """
        UPDATE shelf SET version = version + $3, order_version = order_version + $4, resorted_version = version + $3,
            modified_at = CASE WHEN $3 > 0 THEN now() ELSE modified_at END
        WHERE store_id = $1 AND shelf_id = $2
        """
}
