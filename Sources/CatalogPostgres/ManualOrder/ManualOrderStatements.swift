internal import LibPQ
internal import Ordering

/// The statements of manual orders. `$1` is the store id, `$2` the shelf id.
enum ManualOrderStatements {
    /// The id of a shelf, which stays the same if it is deleted and restored.
    static let shelfID: PostgresStatement = "SELECT shelf_id FROM shelf WHERE store_id = $1 AND key = $2"
    /// Acquires the lock and bumps the versions in one statement. Edits that change nothing are rolled back.
    ///
    /// The shelf's modification time is not updated, so that the row can stay on its heap page.
    static let lockShelf: PostgresStatement = """
        WITH held AS (
            SELECT version, order_version FROM shelf WHERE store_id = $1 AND shelf_id = $2 AND deleted_at IS NULL
            FOR NO KEY UPDATE)
        UPDATE shelf h SET version = \(SQL.nextVersion(after: "h.version")), order_changes = h.order_changes + 1,
            order_version = \(SQL.nextVersion(after: "h.order_version"))
        FROM held WHERE h.store_id = $1 AND h.shelf_id = $2
        RETURNING held.version, held.order_version, h.version, h.order_version, h.order_changes
        """
    /// Products with their keys, and for each the key and SKU of two left neighbours: the nearest placed and the nearest removed product.
    static let rows: PostgresStatement = """
        SELECT o.sku, o.key, placed.key, placed.sku, removed.key, removed.sku FROM placement_position o
        LEFT JOIN LATERAL \(nearest("NOT p.is_removed AND p.key < o.key", " DESC")) placed ON true
        LEFT JOIN LATERAL \(nearest("p.is_removed AND p.key < o.key", " DESC")) removed ON true
        WHERE o.store_id = $1 AND o.shelf_id + 0 = $2 AND o.sku = ANY ($3) AND NOT o.is_removed
        """
    /// The key of an anchor, or the front, and the keys of two right neighbours: the nearest placed and the nearest
    /// removed product. The moved products do not count.
    static let right: PostgresStatement = neighbours(">", "", end: "\\x")
    /// The equivalent for left neighbours; without an anchor, the end.
    static let left: PostgresStatement = neighbours("<", " DESC", end: "\\xff")

    /// OFFSET 0 keeps PostgreSQL from reading the anchor once for each use of its key. A join would go to no shard of Citus without an
    /// anchor, and its neighbours to one.
    private static func neighbours(_ comparison: SQL, _ direction: SQL, end: SQL) -> PostgresStatement {
        let side: SQL = "AND p.sku NOT IN (SELECT unnest($3)) AND p.key \(comparison) coalesce(anchor.key, '\(end)')"
        return """
            SELECT anchor.key, placed.key, placed.sku, removed.key
            FROM (SELECT (SELECT o.key FROM placement_position o WHERE \(key("$4"))) OFFSET 0) anchor (key)
            LEFT JOIN LATERAL \(nearest("NOT p.is_removed \(side)", direction)) placed ON true
            LEFT JOIN LATERAL \(nearest("p.is_removed \(side)", direction)) removed ON true
            """
    }

    /// The condition of the position `o` of a product on the shelf.
    private static func key(_ sku: SQL) -> SQL { PlacementStatements.key("o", store: "$1", shelf: "$2", sku: sku) }

    private static func nearest(_ condition: SQL, _ direction: SQL) -> SQL {
        """
        (SELECT p.key, p.sku FROM placement_position p WHERE p.store_id = $1 AND p.shelf_id = $2 AND \(condition)
            ORDER BY p.key\(direction) LIMIT 1)
        """
    }

    /// The product at a position, without the moved products.
    static let atPosition: PostgresStatement = """
        SELECT sku FROM placement_position
        WHERE store_id = $1 AND shelf_id = $2 AND sku NOT IN (SELECT unnest($3)) AND NOT is_removed ORDER BY key OFFSET $4 LIMIT 1
        """
    /// The last key, after which the next product is appended.
    static let lastKey: PostgresStatement = """
        SELECT greatest(
            (SELECT key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND NOT is_removed ORDER BY key DESC LIMIT 1),
            (SELECT key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND is_removed ORDER BY key DESC LIMIT 1))
        """
    static let setKeys: PostgresStatement = """
        UPDATE placement_position o SET key = made.key FROM unnest($3, $4) AS made (sku, key)
        WHERE \(key("made.sku"))
        """
    /// Products in order, each with its left neighbour on the shelf.
    static let leftNeighbours: PostgresStatement = """
        SELECT o.sku, (SELECT p.sku FROM placement_position p
            WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.key < o.key AND NOT p.is_removed
            ORDER BY p.key DESC LIMIT 1)
        FROM placement_position o WHERE o.store_id = $1 AND o.shelf_id + 0 = $2 AND o.sku = ANY ($3) ORDER BY o.key
        """
    /// The indexes of products, counted over the shelf.
    static let indexes: PostgresStatement = """
        SELECT sku, index FROM (SELECT sku, row_number() OVER (ORDER BY key) - 1 AS index FROM placement_position
            WHERE store_id = $1 AND shelf_id = $2 AND NOT is_removed) counted WHERE sku IN (SELECT unnest($3))
        """
    static let wholeList: PostgresStatement = """
        SELECT sku, key, is_removed FROM placement_position WHERE store_id = $1 AND shelf_id = $2
        """
    /// Remembers a change in its slot, `$3`, of the ring buffer; changes no row the first time. (ON CONFLICT would also write a lock to
    /// the WAL.)
    static let rememberChange: PostgresStatement = """
        UPDATE order_change SET change_number = $4, changed_at = now(), subject = $5, kind = $6, undoes = $7,
            undone_by = NULL, moved = $8, placed = $9
        WHERE store_id = $1 AND shelf_id = $2 AND slot = $3
        """
    /// The same if no change has used the slot.
    static let rememberFirstChange: PostgresStatement = """
        INSERT INTO order_change (store_id, shelf_id, slot, change_number, changed_at, subject, kind, undoes, moved, placed)
        SELECT h.store_id, h.shelf_id, $3, $4, now(), $5, $6, $7, $8, $9 FROM shelf h
        WHERE h.store_id = $1 AND h.shelf_id = $2 AND NOT EXISTS (
            SELECT FROM order_change c WHERE c.store_id = $1 AND c.shelf_id = $2 AND c.slot = $3)
        """

    // MARK: - History

    static let markUndone: PostgresStatement = """
        UPDATE order_change SET undone_by = $4 WHERE store_id = $1 AND shelf_id = $2 AND change_number = $3
        """
    /// The changes with the number of moved products and the start of their list.
    static let history: PostgresStatement = """
        SELECT change_number, changed_at, subject, kind, undoes, undone_by, left(moved, \(ManualOrderEditor.shownLength)),
            (length(moved) - length(replace(moved, '/', '')) + 1) / 2, placed
        FROM order_change WHERE store_id = $1 AND shelf_id = $2 ORDER BY change_number DESC
        """
    static let movedBy: PostgresStatement = """
        SELECT moved FROM order_change WHERE store_id = $1 AND shelf_id = $2 AND change_number = $3
        """

    // MARK: - Compaction

    static let shelvesWithLongKeys: PostgresStatement = """
        SELECT DISTINCT store_id, shelf_id FROM placement_position WHERE octet_length(key) > \(PathKey.longLength)
            AND ($1::integer IS NULL OR store_id = $1) AND ($2::integer IS NULL OR shelf_id = $2) LIMIT 100
        """
    static let longKeys: PostgresStatement = """
        SELECT key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND octet_length(key) > \(PathKey.longLength)
        ORDER BY octet_length(key) DESC LIMIT 20
        """
    /// Rows up to a key, and after it, nearest first.
    static let rowsUpTo: PostgresStatement = side("<=", " DESC")
    static let rowsAfter: PostgresStatement = side(">", "")

    private static func side(_ comparison: SQL, _ direction: SQL) -> PostgresStatement {
        func rows(_ condition: SQL) -> SQL {
            """
            (SELECT sku, key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND \(condition)
                AND key \(comparison) $3 ORDER BY key\(direction) LIMIT $4)
            """
        }
        return """
            SELECT sku, key FROM (\(rows("NOT is_removed")) UNION ALL \(rows("is_removed"))) both_kinds
            ORDER BY key\(direction) LIMIT $4
            """
    }

    /// A generation grows with the clock like a version, but is a 4-byte integer.
    private static let secondsSince2020: SQL = "(extract(epoch FROM now()) - 1577836800)::integer"
    static let bumpGeneration: PostgresStatement = """
        UPDATE shelf SET key_generation = greatest(key_generation + 1, \(secondsSince2020)), version = \(SQL.nextVersion(after: "version")),
            resorted_version = \(SQL.nextVersion(after: "resorted_version", if: "resorted_version = version"))
        WHERE store_id = $1 AND shelf_id = $2
        """
}

/// Inserts rows of manual orders with COPY.
enum PositionCopy {
    /// - Parameter rows: the shelf, SKU and key of each row.
    static func run(
        _ rows: some Sequence<(Int32, String, PathKey)>,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws {
        var rows = rows.makeIterator()
        var text = CopyText()
        _ = try connection.copyIn(PlacementStatements.copyPositions) {
            text.removeAll()
            while text.bytes.count < PostgresConnection.copyChunkSize, let (shelf, sku, key) = rows.next() {
                text.field(storeID)
                text.field(shelf)
                text.field(sku)
                text.field(bytes: key.bytes)
                text.endRow()
            }
            return text.bytes
        }
    }
}
