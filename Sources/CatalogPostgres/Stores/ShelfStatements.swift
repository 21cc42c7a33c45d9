internal import LibPQ

/// The statements that lock and change shelves, and stores by the row of their state. `$1` is the store id.
enum ShelfStatements {
    /// The time of a change of a shelf. The shelf is locked, so its times grow.
    static let nextTime = SQL.nextTime(after: "shelf.modified_at")

    /// Locks a store against all writes to it or its products.
    static let lockStoreExclusively: PostgresStatement = "SELECT 1 FROM store_state WHERE store_id = $1 FOR UPDATE"
    /// Locks a store against changes of its settings, and of its set of shelves.
    static let lockStore: PostgresStatement = "SELECT 1 FROM store_state WHERE store_id = $1 FOR NO KEY UPDATE"
    /// Locks a store against changes, and against scoring all its products.
    static let lockStoreShared: PostgresStatement = "SELECT 1 FROM store_state WHERE store_id = $1 FOR SHARE"
    /// Locks a store only against `lockStoreExclusively`: its deletion, and changes of its currency, language or rules of popularity.
    static let lockStoreAgainstDeletion: PostgresStatement =
        "SELECT 1 FROM store_state WHERE store_id = $1 FOR KEY SHARE"
    static let lock: PostgresStatement = """
        SELECT 1 FROM shelf WHERE store_id = $1 AND shelf_id = $2 FOR NO KEY UPDATE
        """
    /// Locks all shelves of a store, in id order.
    static let lockAll: PostgresStatement = """
        SELECT 1 FROM shelf WHERE store_id = $1 ORDER BY shelf_id FOR NO KEY UPDATE
        """
    /// Bumps the version and modification time of every shelf of a store.
    static let touchAll: PostgresStatement = """
        UPDATE shelf SET version = \(SQL.nextVersion(after: "version")), modified_at = \(nextTime)
        WHERE store_id = $1 AND deleted_at IS NULL
        """
    static let shelfOrderVersion: PostgresStatement = "SELECT shelf_order_version FROM store_state WHERE store_id = $1"
    static let positions: PostgresStatement = """
        SELECT key, position, deleted_at IS NOT NULL FROM shelf WHERE store_id = $1
        """
    static let setPositions: PostgresStatement = """
        UPDATE shelf h SET position = made.position FROM unnest($2, $3) AS made (key, position)
        WHERE h.store_id = $1 AND h.key = made.key
        """
    static let bumpShelfOrder: PostgresStatement = """
        UPDATE store_state SET shelf_order_version = \(SQL.nextVersion(after: "shelf_order_version"))
        WHERE store_id = $1 RETURNING shelf_order_version
        """
    /// A row if a product of the store has a price.
    static let anyPrice: PostgresStatement = """
        SELECT 1 FROM product WHERE store_id = $1 AND (price_minor IS NOT NULL OR regular_price_minor IS NOT NULL)
        LIMIT 1
        """
    /// Bumps the version of every shelf of a store.
    static let bumpAll: PostgresStatement = """
        UPDATE shelf SET version = \(SQL.nextVersion(after: "version")) WHERE store_id = $1
        """
    static let lockByKey: PostgresStatement = """
        SELECT h.shelf_id, h.deleted_at IS NOT NULL, \(ShelfRow.settingsColumns(ofStore: "$1")) FROM shelf h
        WHERE h.store_id = $1 AND h.key = $2 FOR NO KEY UPDATE OF h
        """
    /// Bumps the version of the store: its settings have changed, or settings that its shelves inherit.
    static let bumpStore: PostgresStatement = """
        UPDATE store_state SET version = \(SQL.nextVersion(after: "version")) WHERE store_id = $1
        """
    /// A row if a shelf, `$2`, has a child.
    static let anyChild: PostgresStatement = """
        SELECT 1 FROM shelf WHERE store_id = $1 AND parent_id = $2 AND deleted_at IS NULL LIMIT 1
        """
    /// Removes all products from a shelf, `$2`; their positions are kept.
    static let removeAllProducts: PostgresStatement = """
        UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND shelf_id = $2 AND NOT is_removed
        """
    static let deletePlacements: PostgresStatement = "DELETE FROM placement WHERE store_id = $1 AND shelf_id = $2"
    static let deleteHistory: PostgresStatement = "DELETE FROM order_change WHERE store_id = $1 AND shelf_id = $2"
    /// Marks a shelf, `$2`, as deleted.
    static let delete: PostgresStatement = deleting("shelf_id = $2")
    /// Marks all shelves of a store as deleted.
    static let deleteAll: PostgresStatement = deleting("deleted_at IS NULL")

    private static func deleting(_ condition: SQL) -> PostgresStatement {
        """
        UPDATE shelf SET deleted_at = now(), modified_at = \(nextTime), version = \(SQL.nextVersion(after: "version")),
            order_version = \(SQL.nextVersion(after: "order_version")), product_count = 0, settled_dimension = 0
        WHERE store_id = $1 AND \(condition)
        """
    }
    /// The number of levels of a shelf, `$2`, and the shelves below it.
    static let height: PostgresStatement = """
        WITH RECURSIVE part (shelf_id, level) AS (
            SELECT shelf_id, 1 FROM shelf WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL
            UNION ALL
            SELECT h.shelf_id, level + 1 FROM part
            JOIN shelf h ON h.store_id = $1 AND h.parent_id = part.shelf_id AND h.deleted_at IS NULL WHERE level < 32
        ) SELECT coalesce(max(level), 1) FROM part
        """
    /// A shelf, `$2`, and its ancestors, nearest first.
    static let ancestors: PostgresStatement = """
        WITH RECURSIVE line (shelf_id, key, parent_id, depth) AS (
            SELECT shelf_id, key, parent_id, 1 FROM shelf WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL
            UNION ALL
            SELECT h.shelf_id, h.key, h.parent_id, depth + 1 FROM line
            JOIN shelf h ON h.store_id = $1 AND h.shelf_id = line.parent_id WHERE depth < 32
        ) SELECT shelf_id, key FROM line ORDER BY depth
        """
    /// A shelf, `$2`, and all shelves below it, by id, with their versions, their numbers of products and the version of the store.
    static let withDescendants: PostgresStatement = """
        WITH RECURSIVE part (shelf_id, version, product_count, depth) AS (
            SELECT shelf_id, version, product_count, 1 FROM shelf WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL
            UNION ALL
            SELECT h.shelf_id, h.version, h.product_count, depth + 1 FROM part
            JOIN shelf h ON h.store_id = $1 AND h.parent_id = part.shelf_id AND h.deleted_at IS NULL WHERE depth < 32
        ) SELECT p.shelf_id, p.version, p.product_count, t.version FROM part p JOIN store_state t ON t.store_id = $1
        ORDER BY p.shelf_id
        """
    /// All shelves of a store, in the columns of `withDescendants`; one row with nulls without shelves.
    static let allOfStore: PostgresStatement = """
        SELECT h.shelf_id, h.version, h.product_count, t.version FROM store_state t
        LEFT JOIN shelf h ON h.store_id = $1 AND h.deleted_at IS NULL WHERE t.store_id = $1 ORDER BY h.shelf_id
        """
    /// Locks a shelf, `$2`, that is not deleted; returns its id.
    static let lockExisting: PostgresStatement = """
        SELECT shelf_id FROM shelf WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL FOR NO KEY UPDATE
        """
    /// The shelves on which products, `$2`, are placed.
    static let shelvesOfProducts: PostgresStatement = """
        SELECT DISTINCT p.shelf_id FROM \(PlacementStatements.rows("placement", "shelf_id", store: "$1", skus: "$2"))
        ORDER BY p.shelf_id
        """
    /// Locks shelves, `$2`, in id order; returns the time of each one's last change.
    static let lockSome: PostgresStatement = """
        SELECT modified_at FROM shelf WHERE store_id = $1 AND shelf_id = ANY ($2) ORDER BY shelf_id FOR NO KEY UPDATE
        """
    /// Locks products, `$2`, in SKU order.
    static let lockProducts: PostgresStatement = """
        SELECT 1 FROM product WHERE store_id = $1 AND sku = ANY ($2) ORDER BY sku FOR UPDATE
        """
    /// Bumps the versions of shelves, `$2`, and their order versions if `$3`; adds `$4` to their product counts.
    static let bump: PostgresStatement = """
        UPDATE shelf SET version = \(SQL.nextVersion(after: "version")),
            order_version = \(SQL.nextVersion(after: "order_version", if: "$3")),
            product_count = product_count + $4, modified_at = \(nextTime) WHERE store_id = $1 AND shelf_id = ANY ($2)
        """
    /// The highest id and the last position of a store's shelves, including deleted ones; no row if there are none.
    static let lastShelf: PostgresStatement = """
        SELECT (SELECT max(m.shelf_id) FROM shelf m WHERE m.store_id = $1), position FROM shelf
        WHERE store_id = $1 ORDER BY position DESC LIMIT 1
        """
}
