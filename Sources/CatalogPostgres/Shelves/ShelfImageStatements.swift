internal import LibPQ

/// The statements that keep images of shelves, from which servers read them.
enum ShelfImageStatements {
    /// The version of a shelf, `$2`, the number of its products, and whether it has an image of format `$3` that is at most `$4` microseconds
    /// older; no row if it does not exist. `$1` is the store id.
    static let state: PostgresStatement = """
        SELECT h.version, h.product_count, EXISTS (SELECT FROM shelf_image i
            WHERE i.store_id = $1 AND i.shelf_id = $2 AND i.format = $3 AND i.version BETWEEN h.version - $4::bigint AND h.version)
        FROM shelf h WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL
        """
    /// The shelves, `$2`, of a store, `$1`, that a transaction has changed without recording what, and whose images of format `$3` were used
    /// since `$4`: the ones that were used last first, with their numbers of products and the times of use.
    static let unrecorded: PostgresStatement = """
        SELECT h.shelf_id, h.product_count, i.used_at FROM shelf h
        JOIN shelf_image i ON i.store_id = h.store_id AND i.shelf_id = h.shelf_id
        WHERE h.store_id = $1 AND i.store_id = $1 AND h.shelf_id = ANY ($2::bigint[]) AND h.deleted_at IS NULL
            AND i.format = $3 AND i.used_at >= $4
            AND NOT EXISTS (SELECT FROM shelf_change c WHERE c.store_id = $1 AND c.shelf_id = h.shelf_id AND c.version = h.version)
        ORDER BY i.used_at DESC, h.shelf_id
        """
    /// Stores the image, `$6`, of a version, `$3`, and format, `$4`, of a shelf, `$2`, that was used at `$5`, in place of an earlier one.
    /// `$1` is the store id.
    static let write: PostgresStatement = """
        INSERT INTO shelf_image (store_id, shelf_id, version, format, used_at, image)
        SELECT h.store_id, h.shelf_id, $3, $4, $5, $6 FROM shelf h WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL
        ON CONFLICT (store_id, shelf_id) DO UPDATE
        SET version = excluded.version, format = excluded.format, image = excluded.image,
            used_at = greatest(shelf_image.used_at, excluded.used_at)
        WHERE shelf_image.version <= excluded.version OR shelf_image.format <> excluded.format
        """
    /// Marks images of a store, `$1`, as used at `$3`, by the ids of their shelves, `$2`, unless they were after `$4`. A use while a
    /// transaction stores the image is not recorded.
    static let use: PostgresStatement = """
        UPDATE shelf_image SET used_at = $3 WHERE store_id = $1 AND shelf_id IN (
            SELECT shelf_id FROM shelf_image WHERE store_id = $1 AND shelf_id = ANY ($2::bigint[]) AND used_at <= $4
            FOR UPDATE SKIP LOCKED)
        """
    /// The shelves with an image of a format, `$1`, at most `$2`: the ones that were used last first.
    static let lastUsed: PostgresStatement = """
        SELECT i.store_id, i.shelf_id, s.key, h.key FROM shelf_image i
        JOIN shelf h ON h.store_id = i.store_id AND h.shelf_id = i.shelf_id AND h.deleted_at IS NULL
        JOIN store s ON s.store_id = i.store_id AND s.deleted_at IS NULL
        WHERE i.format = $1 ORDER BY i.used_at DESC, i.store_id, i.shelf_id LIMIT $2
        """
    /// Deletes the images of shelves that nobody used since `$1`.
    static let deleteUnused: PostgresStatement = "DELETE FROM shelf_image WHERE used_at < $1"
}
