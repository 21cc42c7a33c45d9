internal import LibPQ

/// The statements of a re-sort. `$1` is the store id, unless noted.
enum ResortStatements {
    // MARK: - History

    /// `$1` is the run, `$2` its request.
    static let begin: PostgresStatement = """
        INSERT INTO resort_run (run_id, started_at, request) OVERRIDING SYSTEM VALUE VALUES ($1, now(), $2)
        """
    /// The number of a new run, allocated before its row exists, so that no run is visible without its lock.
    static let nextNumber: PostgresStatement = "SELECT nextval(pg_get_serial_sequence('resort_run', 'run_id'))"
    /// The key of a run's lock.
    static func lockKey(_ run: SQL) -> SQL { "(\(run) % 2147483647)::integer" }
    /// Whether a run, `r`, is alive: its lock is held.
    private static let isAlive = RunLock.isHeld(.resortRun, lockKey("r.run_id"))
    /// The last run whose process has died.
    static let interrupted: PostgresStatement = """
        SELECT r.run_id, r.request FROM resort_run r WHERE r.ended_at IS NULL AND NOT \(isAlive)
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
            r.moved, \(isAlive)
        FROM resort_run r ORDER BY r.run_id DESC LIMIT $1
        """

    // MARK: - Targets

    /// The placements of counted products, at most `$2`. Their key suffices, because their scores are compared later.
    static let countedProducts: PostgresStatement = """
        SELECT u.sku, p.shelf_id FROM (SELECT DISTINCT n.sku FROM (\(DueProductStatements.products)) n WHERE n.is_counted) u
        JOIN placement p ON p.store_id = $1 AND p.sku = u.sku ORDER BY u.sku LIMIT $2
        """
    /// Shelves with placements whose score is outdated.
    static let dueShelves: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM (\(DueProductStatements.products)) u
        JOIN product r ON r.store_id = $1 AND r.sku = u.sku
        JOIN placement p ON p.store_id = $1 AND p.sku = u.sku
        WHERE p.popularity_log2 <> r.popularity_log2
        """
    /// Shelves with products that have uncounted purchases. The offset leaves the planner only the index of products.
    static let boughtShelves: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM (
            SELECT u.sku FROM (\(DueProductStatements.products)) u
            UNION SELECT e.sku FROM (\(PurchaseStatements.pending("e.store_id = $1"))) e) b
        CROSS JOIN LATERAL (SELECT h.shelf_id FROM placement h WHERE h.store_id = $1 AND h.sku = b.sku OFFSET 0) p
        """
    static let allShelves: PostgresStatement = "SELECT shelf_id FROM shelf WHERE store_id = $1 AND deleted_at IS NULL"
    /// Shelves to process, with their numbers of products: with keys `$2` if `$3`, changed since `$4`, and always those in `$5`.
    /// A move does not change the modification time, so shelves with a position source are selected by version only. A declaration changes
    /// no shelf, so those with a key other than the built-in ones, `$6`, are always selected.
    static let targets: PostgresStatement = """
        SELECT shelf_id, product_count FROM shelf WHERE store_id = $1 AND deleted_at IS NULL AND (NOT $3 OR key = ANY ($2))
            AND (shelf_id IN (SELECT unnest($5))
                OR NOT string_to_array(replace(position_source, '-', ''), ',') <@ $6::text[]
                OR version IS DISTINCT FROM resorted_version
                AND ($4::timestamptz IS NULL OR modified_at >= $4 OR position_source IS NOT NULL))
        ORDER BY shelf_id
        """

    // MARK: - Some shelves, `$2`

    private static let columns: SQL = "\(ShelfRow.storeColumns), \(ShelfRow.stateColumns), h.resorted_version"
    static let lock: PostgresStatement = """
        SELECT \(columns) FROM \(ShelfRow.stores) JOIN shelf h ON h.store_id = s.store_id
        WHERE s.store_id = $1 AND t.store_id = $1 AND h.store_id = $1 AND h.shelf_id = ANY ($2) AND h.deleted_at IS NULL
        ORDER BY h.shelf_id
        FOR NO KEY UPDATE OF h
        """
    /// The shelves whose most common dimension has changed, with this dimension, and whether the products are compared by
    /// it. Of equally common dimensions, the first declared one counts.
    static let commonDimensions: PostgresStatement = """
        SELECT h.shelf_id, c.unit_dimension, h.dimension IS NULL FROM (
            SELECT DISTINCT ON (n.shelf_id) n.shelf_id, n.unit_dimension FROM (
                SELECT p.shelf_id, r.unit_dimension, count(*) AS products FROM placement p
                CROSS JOIN LATERAL (\(PlacementStatements.unitDimension)) r
                WHERE p.store_id = $1 AND p.shelf_id = ANY ($2) AND r.unit_dimension IS NOT NULL
                GROUP BY p.shelf_id, r.unit_dimension) n
            ORDER BY n.shelf_id, n.products DESC, n.unit_dimension) c
        JOIN shelf h ON h.store_id = $1 AND h.shelf_id = c.shelf_id AND h.settled_dimension <> c.unit_dimension
        """
    static let positions: PostgresStatement = """
        SELECT shelf_id, sku, key, is_removed FROM placement_position WHERE store_id = $1 AND shelf_id = ANY ($2)
        """
    /// Deletes the rows of products, `$3`, on shelves, `$2`, which are as many.
    static let deletePositions: PostgresStatement = """
        DELETE FROM placement_position o USING unnest($2::bigint[], $3::text[]) AS n (shelf_id, sku)
        WHERE \(PlacementStatements.key("o", store: "$1", shelf: "n.shelf_id", sku: "n.sku"))
        """
    /// Deletes all placed rows except those of products, `$4`, on shelves, `$3`, without individual lookups.
    static let deleteOtherPositions: PostgresStatement = """
        DELETE FROM placement_position o WHERE o.store_id = $1 AND o.shelf_id = ANY ($2) AND NOT o.is_removed
            AND (o.shelf_id, o.sku) NOT IN (SELECT n.shelf_id, n.sku FROM unnest($3::bigint[], $4::text[]) AS n (shelf_id, sku))
        """
    /// For each shelf, `$3` says whether it changed, `$4` whether its manual order did, and `$5` its new common dimension or
    /// null.
    static let finishShelves: PostgresStatement = """
        UPDATE shelf h SET version = \(resortedVersion), resorted_version = \(resortedVersion),
            order_version = \(SQL.nextVersion(after: "h.order_version", if: "n.is_reordered")),
            settled_dimension = coalesce(n.dimension, h.settled_dimension),
            modified_at = greatest(h.modified_at, \(changeTime))
        FROM unnest($2::bigint[], $3::boolean[], $4::boolean[], $5::bigint[]) AS n (shelf_id, is_changed, is_reordered, dimension)
        WHERE h.store_id = $1 AND h.shelf_id = n.shelf_id
        """
    /// Now if the shelf changed, otherwise 1970. Citus refuses the current time inside of `CASE`, and functions that are not
    /// immutable with columns.
    private static let changeTime: SQL =
        "to_timestamp((extract(epoch FROM now()) * (n.is_changed)::boolean::integer)::double precision)"
    private static let resortedVersion = SQL.nextVersion(after: "h.version", if: "n.is_changed")
}
