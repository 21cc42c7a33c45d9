internal import LibPQ

/// The statements that keep images of shelves, from which servers read them.
enum ShelfImageStatements {
    /// The version of a shelf, `$2`, of a store, `$1`, the number of its products, and whether it has a recent image. No row if the
    /// shelf does not exist. A recent image has format `$3` and is at most `$4` microseconds older than the shelf.
    static let state: PostgresStatement = """
        SELECT h.version, h.product_count, EXISTS (SELECT FROM shelf_image i
            WHERE i.store_id = $1 AND i.shelf_id = $2 AND i.format = $3 AND i.version BETWEEN h.version - $4::bigint AND h.version)
        FROM shelf h WHERE h.store_id = $1 AND h.shelf_id = $2 AND h.deleted_at IS NULL
        """
    /// The shelves, `$2`, of a store, `$1`, with an unrecorded change and an image of format `$3` that was used since `$4`. The shelves
    /// that were used last come first, with the number of products and the time of the last use.
    static let unrecorded: PostgresStatement = """
        SELECT h.shelf_id, h.product_count, i.used_at FROM shelf h
        JOIN shelf_image i ON i.store_id = h.store_id AND i.shelf_id = h.shelf_id
        WHERE h.store_id = $1 AND i.store_id = $1 AND h.shelf_id = ANY ($2::bigint[]) AND h.deleted_at IS NULL
            AND i.format = $3 AND i.used_at >= $4
            AND NOT EXISTS (SELECT FROM shelf_change c WHERE c.store_id = $1 AND c.shelf_id = h.shelf_id AND c.version = h.version)
        ORDER BY i.used_at DESC, h.shelf_id
        """
    /// Stores the image, `$6`, of a shelf, `$2`, of a store, `$1`, in place of an earlier one. `$3` is the version, `$4` the format, and
    /// `$5` the time of the last use.
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
