internal import LibPQ

/// The statements of the queue of products whose scores are due. `$1` is the store id, unless noted.
enum DueProductStatements {
    /// The largest number of products in a row.
    private static let setSize = 1000

    /// Returns SQL that queues products as sets. In the unlikely case that a row has the same first product and time, it gets the further ones: readers
    /// of the row know it by its size, too.
    ///
    /// - Parameters:
    ///   - products: selects `store_id` and `sku`, without duplicates.
    ///   - areCounted: whether their scores are computed.
    static func queueing(_ products: SQL, areCounted: SQL = "false") -> SQL {
        """
        INSERT INTO due_products AS u (store_id, first_sku, mark, last_sku, size, is_counted, skus)
        SELECT n.store_id, min(n.sku), \(SQL.microseconds), max(n.sku), count(*)::integer, \(areCounted), array_agg(n.sku ORDER BY n.sku)
        FROM (
            SELECT d.store_id, d.sku COLLATE "C" AS sku, (row_number() OVER (PARTITION BY d.store_id ORDER BY d.sku COLLATE "C") - 1) / \(setSize) AS piece
            FROM (\(products)) d) n
        GROUP BY n.store_id, n.piece
        ON CONFLICT (store_id, first_sku, mark) DO UPDATE SET skus = u.skus || excluded.skus, size = u.size + excluded.size,
            last_sku = greatest(u.last_sku, excluded.last_sku), is_counted = u.is_counted AND excluded.is_counted
        """
    }

    /// Queues products, `$2`, whose scores are computed, for copying to their placements.
    static let queueCounted: PostgresStatement = .init(
        queueing(
            "SELECT t.store_id, n.sku FROM store_state t CROSS JOIN unnest($2::text[]) AS n (sku) WHERE t.store_id = $1",
            areCounted: "true"
        )
    )
    /// Queues those of the products `$2` that have purchases.
    static let queueBought: PostgresStatement = .init(
        queueing(
            """
            SELECT t.store_id, n.sku FROM store_state t CROSS JOIN unnest($2::text[]) AS n (sku)
            WHERE t.store_id = $1 AND EXISTS (SELECT FROM purchase_count d WHERE d.store_id = $1 AND d.sku = n.sku)
            """
        )
    )

    /// The rows whose products are counted, or are not, `$2`.
    static let rows: PostgresStatement = """
        SELECT first_sku, mark, last_sku, size FROM due_products WHERE store_id = $1 AND is_counted = $2 ORDER BY first_sku, mark
        """
    /// At most `$4` products that are not counted, after `$2` and up to `$3`.
    static let uncountedProducts: PostgresStatement = """
        SELECT DISTINCT n.sku FROM (\(products)) n WHERE NOT n.is_counted AND n.last_sku > $2 AND n.first_sku <= $3
            AND n.sku > $2 AND n.sku <= $3
        ORDER BY n.sku LIMIT $4
        """
    /// All products of the queue with the columns of their rows.
    static let products: SQL = """
        SELECT u.first_sku, u.last_sku, u.is_counted, m.sku FROM due_products u CROSS JOIN LATERAL unnest(u.skus) AS m (sku)
        WHERE u.store_id = $1
        """
    /// The condition for rows `u` to be the given ones, with the same products: `$2` are their first SKUs, `$3` their marks, `$4` their sizes.
    private static let given: SQL = """
        u.store_id = $1 AND (u.first_sku, u.mark, u.size) IN (
            SELECT n.first_sku, n.mark, n.size FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS n (first_sku, mark, size))
        """
    /// Marks the given rows as counted.
    static let markCounted: PostgresStatement =
        "UPDATE due_products u SET is_counted = true WHERE \(given) AND NOT u.is_counted"
    /// Marks all rows as counted.
    static let markAllCounted: PostgresStatement = """
        UPDATE due_products SET is_counted = true WHERE store_id = $1 AND NOT is_counted
        """
    /// Deletes those of the given rows whose products are counted, or are not, `$5`.
    static let delete: PostgresStatement = "DELETE FROM due_products u WHERE \(given) AND u.is_counted = $5"
    /// Deletes those of the given rows that are counted, unless a product of theirs has a placement with an outdated score.
    static let deleteCopied: PostgresStatement = """
        DELETE FROM due_products u WHERE \(given) AND u.is_counted AND NOT EXISTS (
            SELECT FROM unnest(u.skus) AS m (sku)
            JOIN product r ON r.store_id = $1 AND r.sku = m.sku
            JOIN placement p ON p.store_id = $1 AND p.sku = m.sku
            WHERE p.popularity_log2 <> r.popularity_log2)
        """

    /// The stores to which more than `$1` transactions have added rows of one kind: counted or uncounted. Each result has the
    /// store and whether the rows are counted.
    static let storesToMerge: PostgresStatement = """
        SELECT store_id, is_counted FROM due_products
        GROUP BY store_id, is_counted HAVING count(DISTINCT mark) > $1 ORDER BY store_id, is_counted
        """
    /// Queues the products of all rows that are counted, or are not, `$2`, once more without duplicates.
    static let merge: PostgresStatement = .init(
        queueing(
            """
            SELECT DISTINCT u.store_id, m.sku FROM due_products u CROSS JOIN LATERAL unnest(u.skus) AS m (sku)
            WHERE u.store_id = $1 AND u.is_counted = $2
            """,
            areCounted: "$2"
        )
    )
}
