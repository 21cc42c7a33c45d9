internal import LibPQ

/// The statements that score products by their purchases. `$1` is the store id, unless noted.
enum PopularityStatements {
    // MARK: - Counting

    /// The number of half-lives before a product's last purchase after which purchases do not count: 2⁶⁴ of them change the
    /// score like one of the last day.
    private static let countedHalfLives = 64

    /// Returns SQL that scores products `r` with the half-life `$2`: forward decay (see `Popularity`) with the imported
    /// seeds and the newcomer boost. Seed and boost are taken from the row that is updated, so that a concurrent change
    /// of them is not lost.
    ///
    /// - Parameter products: selects their SKUs.
    private static func decayed(_ products: SQL) -> SQL {
        let score: SQL = """
            popularity_sum(n.bought, popularity_on(r.popularity_seed, r.popularity_seed_day, $2),
                popularity_on(w.newcomer_boost, (r.created_at AT TIME ZONE 'UTC')::date, $2))
            """
        return """
            WITH made AS (
                SELECT s.sku, CASE WHEN t.purchases > 1e-9 THEN popularity_on(t.purchases, l.day, $2) ELSE '-Infinity' END AS bought
                FROM (SELECT n.sku FROM (\(products)) n ORDER BY n.sku) s
                LEFT JOIN LATERAL (
                    SELECT d.day FROM purchase_count d WHERE d.store_id = $1 AND d.sku = s.sku AND d.count <> 0
                    ORDER BY d.day DESC LIMIT 1) l ON true
                LEFT JOIN LATERAL (
                    SELECT sum(d.count * power(2::double precision, (d.day - l.day)::double precision / $2::integer)) AS purchases
                    FROM purchase_count d WHERE d.store_id = $1 AND d.sku = s.sku AND d.day > l.day - \(countedHalfLives) * $2) t ON true)
            UPDATE product r SET purchases_log2 = n.bought, popularity_log2 = \(score) FROM made n, store w
            WHERE r.store_id = $1 AND r.sku = n.sku AND w.store_id = $1
                AND (n.bought, \(score)) IS DISTINCT FROM (r.purchases_log2, r.popularity_log2)
            """
    }

    /// Returns SQL that scores a window of `$2` days up to today, `$3`; if `$4`, its ratio to the previous window.
    private static func windowed(_ scope: SQL) -> SQL {
        """
        WITH scoped AS (SELECT r.sku, r.popularity_seed, r.popularity_seed_day, r.created_at, r.popularity_log2 FROM product r WHERE r.store_id = $1 AND \(scope)),
        bought AS (
            SELECT d.sku, d.day, d.count::double precision AS count
            FROM purchase_count d WHERE d.store_id = $1 AND d.sku IN (SELECT sku FROM scoped)
                AND d.day > $3::date - 2 * $2::integer AND d.day <= $3
            UNION ALL SELECT sku, popularity_seed_day, popularity_seed FROM scoped WHERE popularity_seed > 0
            UNION ALL SELECT s.sku, (s.created_at AT TIME ZONE 'UTC')::date, w.newcomer_boost FROM scoped s, store w
                WHERE w.store_id = $1 AND w.newcomer_boost > 0),
        total AS (
            SELECT sku, coalesce(sum(count) FILTER (WHERE day > $3 - $2::integer), 0) AS recent,
                coalesce(sum(count) FILTER (WHERE day <= $3 - $2), 0) AS earlier
            FROM bought WHERE day > $3::date - 2 * $2 AND day <= $3 GROUP BY sku),
        scored AS (
            SELECT s.sku, s.popularity_log2 AS old, CASE WHEN t.recent > 1e-9 THEN round(ln(
                CASE WHEN $4 THEN t.recent / greatest(1, t.earlier) ELSE t.recent END) / ln(2::double precision) * 1e6) / 1e6
                ELSE '-Infinity' END AS score
            FROM scoped s LEFT JOIN total t ON t.sku = s.sku)
        UPDATE product r SET popularity_log2 = n.score FROM (SELECT * FROM scored WHERE score <> old ORDER BY sku) n
        WHERE r.store_id = $1 AND r.sku = n.sku
        """
    }

    private static let all: SQL = "true"
    private static func on(shelves: SQL) -> SQL {
        "SELECT DISTINCT p.sku FROM placement p WHERE p.store_id = $1 AND p.shelf_id = ANY (\(shelves))"
    }

    static let decayAll: PostgresStatement = .init(decayed("SELECT p.sku FROM product p WHERE p.store_id = $1"))
    /// `$3` are the shelves.
    static let decayShelves: PostgresStatement = .init(decayed(on(shelves: "$3")))
    /// `$3` are the products.
    static let decaySome: PostgresStatement = .init(decayed("SELECT n.sku FROM unnest($3::text[]) AS n (sku)"))
    static let windowAll: PostgresStatement = .init(windowed(all))
    /// `$5` are the shelves.
    static let windowShelves: PostgresStatement = .init(windowed("r.sku IN (\(on(shelves: "$5")))"))
    /// The same for the products `$5`; returns the changed ones.
    static let windowSome: PostgresStatement = "\(windowed("r.sku = ANY ($5)")) RETURNING r.sku"
    /// Locks products, `$2`, until the transaction ends, and returns those that exist.
    static let lockSome: PostgresStatement = """
        SELECT sku FROM product WHERE store_id = $1 AND sku = ANY ($2) ORDER BY sku FOR NO KEY UPDATE
        """
    /// Locks at most `$3` products after `$2` until the transaction ends, and returns them.
    static let lockProducts: PostgresStatement = """
        SELECT sku FROM product WHERE store_id = $1 AND sku > $2 ORDER BY sku LIMIT $3 FOR NO KEY UPDATE
        """

    // MARK: - Copying scores

    /// Copies products' scores to the placements of some shelves, `$2`. Returns the number of changed ones of each shelf.
    static let copyScoresToShelves: PostgresStatement = countingByShelf(copyScores(" AND p.shelf_id = ANY ($2)"))
    /// The same for products, `$3`, on shelves, `$2`, which are as many.
    static let copyScoresOfProducts: PostgresStatement = countingByShelf(
        copyScores(
            " AND p.shelf_id + 0 = n.shelf_id AND p.sku = n.sku",
            from: "unnest($2::bigint[], $3::text[]) AS n (shelf_id, sku) CROSS JOIN "
        )
    )
    /// Copies products' scores to all placements of a store.
    static let copyScoresToStore: PostgresStatement = .init(copyScores(""))

    private static func countingByShelf(_ update: SQL) -> PostgresStatement {
        "WITH updated AS (\(update) RETURNING p.shelf_id) SELECT shelf_id, count(*) FROM updated GROUP BY shelf_id"
    }

    private static func copyScores(_ scope: SQL, from source: SQL = "") -> SQL {
        """
            UPDATE placement p SET popularity_log2 = r.popularity_log2 FROM \(source)product r
                WHERE p.store_id = $1\(scope) AND r.store_id = $1 AND r.sku = p.sku
                    AND p.popularity_log2 <> r.popularity_log2
        """
    }

    static let setCounted: PostgresStatement = """
        UPDATE store_state t SET counted_metric = s.popularity_metric, counted_half_life_days = s.popularity_half_life_days,
            counted_newcomer_boost = s.newcomer_boost, counted_on = $2, version = \(SQL.nextVersion(after: "t.version"))
        FROM store s WHERE t.store_id = $1 AND s.store_id = $1
            AND (t.counted_metric, t.counted_half_life_days, t.counted_newcomer_boost, t.counted_on)
            IS DISTINCT FROM (s.popularity_metric, s.popularity_half_life_days, s.newcomer_boost, $2::date)
        """

    /// Settings for a transaction that may wait for an import.
    static let allowLongLockWait: PostgresStatement = "SET LOCAL lock_timeout = '120s'"
    /// Settings for one of many transactions that are repeated if they are lost.
    static let runInBatch: PostgresStatement = """
        SELECT set_config('lock_timeout', '120s', true), set_config('enable_seqscan', 'off', true)
        """
}
