internal import Postgres

/// The statements of manual orders. `$1` is the store's number, `$2` the shelf's.
enum OrderStatements {
    /// Takes the lock and bumps the versions in one: nearly every change changes something, and the others are taken back.
    ///
    /// The shelf's modification time is left alone: it is as it was, and its row stays on its page of the heap.
    static let lockShelf: PostgresStatement = """
        UPDATE shelf SET version = version + 1, order_version = order_version + 1, order_changes = order_changes + 1
        WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL
        RETURNING shelf_id, version - 1, order_version - 1, order_changes
        """
    /// Products with their keys, and what stands before each, products that were taken off too.
    static let rows: PostgresStatement = """
        SELECT o.sku, o.key, coalesce((SELECT p.sku FROM placement_position p
            WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.key < o.key ORDER BY p.key DESC LIMIT 1), '')
        FROM placement_position o
        WHERE o.store_id = $1 AND o.shelf_id = $2 AND o.sku = ANY ($3) AND o.removed_at IS NULL
        """
    /// The nearest row behind a key, and the nearest of a product that stands on the shelf; without some products.
    static let right = neighbours(">", "")
    /// The same before a key.
    static let left = neighbours("<", " DESC")

    private static func neighbours(_ comparison: String, _ direction: String) -> PostgresStatement {
        let scope = """
            FROM placement_position p WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.sku NOT IN (SELECT unnest($3))
                AND p.key \(comparison) $4
            """
        let order = "ORDER BY p.key\(direction) LIMIT 1"
        return PostgresStatement(
            assembled: """
                SELECT a.key, v.key, v.sku FROM (VALUES (1)) one (row)
                LEFT JOIN (SELECT p.key \(scope) \(order)) a ON true
                LEFT JOIN (SELECT p.key, p.sku \(scope) AND p.removed_at IS NULL \(order)) v ON true
                """
        )
    }

    /// The key at a position, without some products.
    static let keyAtPosition: PostgresStatement = """
        SELECT key FROM placement_position
        WHERE store_id = $1 AND shelf_id = $2 AND sku NOT IN (SELECT unnest($3)) AND removed_at IS NULL ORDER BY key OFFSET $4 LIMIT 1
        """
    static let setKeys: PostgresStatement = """
        UPDATE placement_position o SET key = made.key FROM unnest($3, $4) AS made (sku, key)
        WHERE o.store_id = $1 AND o.shelf_id = $2 AND o.sku = made.sku
        """
    /// Products in order, each with its left neighbour on the shelf.
    static let afters: PostgresStatement = """
        SELECT o.sku, (SELECT p.sku FROM placement_position p
            WHERE p.store_id = $1 AND p.shelf_id = $2 AND p.key < o.key AND p.removed_at IS NULL
            ORDER BY p.key DESC LIMIT 1)
        FROM placement_position o WHERE o.store_id = $1 AND o.shelf_id = $2 AND o.sku = ANY ($3) ORDER BY o.key
        """
    /// Where products stand, counted over the shelf.
    static let indexes: PostgresStatement = """
        SELECT sku, index FROM (SELECT sku, row_number() OVER (ORDER BY key) - 1 AS index FROM placement_position
            WHERE store_id = $1 AND shelf_id = $2 AND removed_at IS NULL) counted WHERE sku IN (SELECT unnest($3))
        """
    static let wholeList: PostgresStatement = """
        SELECT sku, key, removed_at IS NOT NULL FROM placement_position WHERE store_id = $1 AND shelf_id = $2
        """
    /// What ends a change, in one statement: the keys, and what it takes to take it back. The place in the ring is
    /// overwritten; it is made the first time round.
    static let conclude: PostgresStatement = """
        WITH moved AS (
            UPDATE placement_position o SET key = made.key FROM unnest($3, $4) AS made (sku, key)
            WHERE o.store_id = $1 AND o.shelf_id = $2 AND o.sku = made.sku
        )
        UPDATE order_change SET change_number = $6, changed_at = now(), subject = $7, kind = $8, undoes = $9,
            undone_by = NULL, moved = $10
        WHERE store_id = $1 AND shelf_id = $2 AND slot = $5
        """

    // MARK: - History

    static let record: PostgresStatement = """
        INSERT INTO order_change (store_id, shelf_id, slot, change_number, changed_at, subject, kind, undoes, moved)
        VALUES ($1, $2, $3, $4, now(), $5, $6, $7, $8)
        """
    static let markUndone: PostgresStatement = """
        UPDATE order_change SET undone_by = $4 WHERE store_id = $1 AND shelf_id = $2 AND change_number = $3
        """
    /// Each change with how many products it moved and the beginning of their list.
    static let history: PostgresStatement = """
        SELECT change_number, changed_at, subject, kind, undoes, undone_by, left(moved, 400),
            (length(moved) - length(replace(moved, '/', '')) + 1) / 2
        FROM order_change WHERE store_id = $1 AND shelf_id = $2 ORDER BY change_number DESC
        """
    static let movedBy: PostgresStatement = """
        SELECT moved FROM order_change WHERE store_id = $1 AND shelf_id = $2 AND change_number = $3
        """

    // MARK: - Compaction

    static let shelvesWithLongKeys: PostgresStatement = """
        SELECT DISTINCT store_id, shelf_id FROM placement_position WHERE octet_length(key) > 64
            AND ($1::integer IS NULL OR store_id = $1) AND ($2::integer IS NULL OR shelf_id = $2) LIMIT 100
        """
    static let longKeys: PostgresStatement = """
        SELECT key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND octet_length(key) > 64
        ORDER BY octet_length(key) DESC LIMIT 20
        """
    /// Rows from a key back, and behind it, nearest first.
    static let rowsUpTo: PostgresStatement = """
        SELECT sku, key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND key <= $3
        ORDER BY key DESC LIMIT $4
        """
    static let rowsBehind: PostgresStatement = """
        SELECT sku, key FROM placement_position WHERE store_id = $1 AND shelf_id = $2 AND key > $3
        ORDER BY key LIMIT $4
        """
    static let bumpGeneration: PostgresStatement = """
        UPDATE shelf SET key_generation = key_generation + 1 WHERE store_id = $1 AND shelf_id = $2
        """
}
