internal import LibPQ

/// The statements of purchases and popularity. `$1` is the store id, unless noted.
enum PopularityStatements {
    // MARK: - Events

    static let stage: PostgresStatement = """
        COPY purchase_row (batch, line, event_id, sku, day, customer, quantity) FROM STDIN
        """
    /// Accepts a batch, `$2`: each event once; events of unknown products are stored separately.
    static let accept: PostgresStatement = """
        WITH received AS (DELETE FROM purchase_row WHERE batch = $2::text::uuid RETURNING *),
        single AS (SELECT DISTINCT ON (event_id) * FROM received ORDER BY event_id, line),
        fresh AS (
            INSERT INTO purchase_event (store_id, event_id, day) SELECT $1, event_id, day FROM single ORDER BY event_id
            ON CONFLICT (store_id, event_id) DO NOTHING RETURNING event_id),
        new_events AS (
            SELECT s.*, EXISTS (SELECT FROM product r WHERE r.store_id = $1 AND r.sku = s.sku) AS is_known
            FROM single s JOIN fresh USING (event_id)),
        kept AS (
            INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
            SELECT $1, sku, day, customer, quantity FROM new_events WHERE is_known),
        apart AS (
            INSERT INTO purchase_stray (store_id, event_id, sku, day, customer, quantity)
            SELECT $1, event_id, sku, day, customer, quantity FROM new_events WHERE NOT is_known)
        SELECT (SELECT count(*) FROM received), (SELECT count(*) FROM new_events WHERE is_known),
            (SELECT count(*) FROM new_events WHERE NOT is_known),
            ARRAY(SELECT DISTINCT sku FROM new_events WHERE NOT is_known LIMIT 1000)
        """

    static let retentionStart: PostgresStatement = """
        SELECT customers_kept_from - date '1970-01-01' FROM store WHERE store_id = $1
        """

    // MARK: - Folding

    /// Moves stray events of products that now exist to the inbox, in batches.
    static let moveStraysToInbox: PostgresStatement = returning("LIMIT 20000")
    /// Does the same for the products of a shelf, `$2`.
    static let moveShelfStraysToInbox: PostgresStatement = returning(
        "AND y.sku IN (SELECT p.sku FROM placement p WHERE p.store_id = $1 AND p.shelf_id = $2)"
    )

    private static func returning(_ scope: SQL) -> PostgresStatement {
        """
        WITH chosen AS (
            SELECT y.event_id FROM purchase_stray y JOIN product r ON r.store_id = $1 AND r.sku = y.sku
            WHERE y.store_id = $1 \(scope)),
        back AS (
            DELETE FROM purchase_stray y USING chosen c WHERE y.store_id = $1 AND y.event_id = c.event_id
            RETURNING y.sku, y.day, y.customer, y.quantity)
        INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
        SELECT $1, sku, day, customer, quantity FROM back
        """
    }

    /// Folds at most `$4` events after a SKU and id, `$2` and `$3`; returns their number and the last one. Concurrent
    /// folds skip each other's events.
    static let fold: PostgresStatement = folding(
        "(i.sku, i.inbox_id) > ($2, $3) ORDER BY i.sku, i.inbox_id LIMIT $4 FOR UPDATE SKIP LOCKED"
    )
    /// Folds the events of the products of a shelf, `$2`.
    static let foldShelf: PostgresStatement = folding(
        """
        i.sku IN (SELECT p.sku FROM placement p WHERE p.store_id = $1 AND p.shelf_id = $2) ORDER BY i.sku, i.inbox_id
            FOR UPDATE SKIP LOCKED
        """
    )
    /// Folds the events of a customer, `$2`; waits for concurrent folds.
    static let foldCustomer: PostgresStatement = folding("i.customer = $2 ORDER BY i.sku, i.inbox_id FOR UPDATE")

    private static func folding(_ scope: SQL) -> PostgresStatement {
        """
        WITH chosen AS (
            SELECT i.sku, i.inbox_id FROM purchase_inbox i WHERE i.store_id = $1 AND \(scope)),
        taken AS (
            DELETE FROM purchase_inbox i USING chosen c
            WHERE i.store_id = $1 AND i.sku = c.sku AND i.inbox_id = c.inbox_id
            RETURNING i.sku, i.inbox_id, i.day, i.customer, i.quantity),
        folded AS (
            INSERT INTO purchase_day AS d (store_id, sku, day, customer, quantity)
            SELECT $1, sku, day, customer, sum(CASE WHEN customer = '' THEN sign(quantity) ELSE quantity END)
            FROM taken GROUP BY sku, day, customer ORDER BY sku, day, customer
            ON CONFLICT (store_id, sku, day, customer) DO UPDATE SET quantity = d.quantity + excluded.quantity),
        marked AS (
            INSERT INTO popularity_due AS u (store_id, sku, mark)
            SELECT $1, sku, 1 FROM taken GROUP BY sku ORDER BY sku
            ON CONFLICT (store_id, sku) DO UPDATE SET mark = abs(u.mark) + 1)
        SELECT count(*), coalesce(max(sku), ''),
            coalesce((SELECT max(t.inbox_id) FROM taken t WHERE t.sku = (SELECT max(m.sku) FROM taken m)), 0)
        FROM taken
        """
    }

    // MARK: - Counting

    /// Returns SQL for the counts per day of products in a scope: a customer counts once, anonymous events count each.
    private static func counts(_ scope: SQL) -> SQL {
        """
        SELECT d.sku, d.day, sum(CASE WHEN d.customer = '' THEN d.quantity WHEN d.quantity > 0 THEN 1 ELSE 0 END)
            ::double precision AS count, max(d.day) OVER (PARTITION BY d.sku) AS latest
        FROM purchase_day d WHERE d.store_id = $1 AND \(scope) GROUP BY d.sku, d.day
        HAVING sum(CASE WHEN d.customer = '' THEN d.quantity WHEN d.quantity > 0 THEN 1 ELSE 0 END) <> 0
        """
    }

    /// Returns SQL that scores all products in a scope with the half-life `$2`: forward decay (see `Popularity`) with the
    /// imported seeds and the newcomer boost.
    private static func decayed(_ scope: SQL) -> SQL {
        """
        WITH scoped AS (SELECT r.* FROM product r WHERE r.store_id = $1 AND \(scope)),
        total AS (
            SELECT c.sku, c.latest, sum(c.count * power(2::double precision,
                greatest((c.day - c.latest)::double precision / $2::integer, -1000))) AS purchases
            FROM (\(counts("d.sku IN (SELECT sku FROM scoped)"))) c GROUP BY c.sku, c.latest),
        made AS (
            SELECT s.*, CASE WHEN t.purchases > 1e-9 THEN popularity_on(t.purchases, t.latest, $2) ELSE '-Infinity' END AS bought
            FROM scoped s LEFT JOIN total t ON t.sku = s.sku),
        scored AS (
            SELECT m.sku, m.bought, popularity_sum(m.bought, popularity_on(m.popularity_seed, m.popularity_seed_day, $2),
                popularity_on(w.newcomer_boost, (m.created_at AT TIME ZONE 'UTC')::date, $2)) AS score,
                (m.purchases_log2, m.popularity_log2) AS old
            FROM made m, store w WHERE w.store_id = $1)
        UPDATE product r SET purchases_log2 = n.bought, popularity_log2 = n.score
        FROM (SELECT * FROM scored WHERE (bought, score) IS DISTINCT FROM old ORDER BY sku) n
        WHERE r.store_id = $1 AND r.sku = n.sku
        """
    }

    /// Returns SQL that scores a window of `$2` days up to today, `$3`; if `$4`, its ratio to the previous window.
    private static func windowed(_ scope: SQL) -> SQL {
        """
        WITH scoped AS (SELECT r.* FROM product r WHERE r.store_id = $1 AND \(scope)),
        bought AS (
            SELECT d.sku, d.day, CASE WHEN d.customer = '' THEN d.quantity WHEN d.quantity > 0 THEN 1 ELSE 0 END
                ::double precision AS count
            FROM purchase_day d WHERE d.store_id = $1 AND d.sku IN (SELECT sku FROM scoped)
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
    private static func of(shelf: SQL) -> SQL {
        "r.sku IN (SELECT p.sku FROM placement p WHERE p.store_id = $1 AND p.shelf_id = \(shelf))"
    }

    static let decayAll: PostgresStatement = .init(decayed(all))
    /// `$3` is the shelf.
    static let decayShelf: PostgresStatement = .init(decayed(of(shelf: "$3")))
    /// `$3` are the products.
    static let decaySome: PostgresStatement = .init(decayed("r.sku = ANY ($3)"))
    static let windowAll: PostgresStatement = .init(windowed(all))
    /// `$5` is the shelf.
    static let windowShelf: PostgresStatement = .init(windowed(of(shelf: "$5")))
    /// The same for the products `$5`; returns the changed ones.
    static let windowSome: PostgresStatement = "\(windowed("r.sku = ANY ($5)")) RETURNING r.sku"
    /// Queues products, `$2`, that are counted, for copying to their shelves.
    static let queueCounted: PostgresStatement = """
        INSERT INTO popularity_due AS u (store_id, sku, mark) SELECT $1, n.sku, -1 FROM unnest($2) AS n (sku) ORDER BY n.sku
        ON CONFLICT (store_id, sku) DO UPDATE SET mark = -abs(u.mark) - 1
        """
    /// Claims at most `$3` due products after `$2`, marks them as counted, and locks them and their rows until the
    /// transaction ends. Returns the claimed ones, the last, and the number checked. Locked products are skipped.
    static let claimDue: PostgresStatement = """
        WITH due AS (
            SELECT sku FROM popularity_due WHERE store_id = $1 AND mark > 0 AND sku > $2 ORDER BY sku LIMIT $3
            FOR UPDATE SKIP LOCKED),
        held AS (
            SELECT r.sku FROM product r WHERE r.store_id = $1 AND r.sku IN (SELECT sku FROM due)
            FOR NO KEY UPDATE SKIP LOCKED),
        claimed AS (
            UPDATE popularity_due u SET mark = -u.mark FROM held h WHERE u.store_id = $1 AND u.sku = h.sku RETURNING u.sku)
        SELECT ARRAY(SELECT sku FROM claimed), coalesce((SELECT max(sku) FROM due), ''), (SELECT count(*) FROM due)
        """
    /// Locks at most `$3` products after `$2` until the transaction ends, and returns them.
    static let lockProducts: PostgresStatement = """
        SELECT sku FROM product WHERE store_id = $1 AND sku > $2 ORDER BY sku LIMIT $3 FOR NO KEY UPDATE
        """
    /// Marks the pending purchases of the products `$2` as counted.
    static let claimSome: PostgresStatement = """
        UPDATE popularity_due u SET mark = -u.mark FROM (
            SELECT sku FROM popularity_due WHERE store_id = $1 AND sku = ANY ($2) AND mark > 0 ORDER BY sku FOR UPDATE) d
        WHERE u.store_id = $1 AND u.sku = d.sku
        """
    /// Marks everything that is due as counted.
    static let claimAll: PostgresStatement = """
        UPDATE popularity_due SET mark = -mark WHERE store_id = $1 AND mark > 0
        """
    /// Queues re-created products, `$2`, that have earlier purchases.
    static let queueRecreatedProducts: PostgresStatement = """
        INSERT INTO popularity_due AS u (store_id, sku, mark)
        SELECT $1, n.sku, 1 FROM unnest($2) AS n (sku)
        WHERE EXISTS (SELECT FROM purchase_day d WHERE d.store_id = $1 AND d.sku = n.sku) ORDER BY n.sku
        ON CONFLICT (store_id, sku) DO UPDATE SET mark = abs(u.mark) + 1
        """

    // MARK: - Copying scores

    /// Copies products' scores to the placements of a shelf, `$2`.
    static let copyScoresToShelf: PostgresStatement = copyScores(" AND p.shelf_id = $2")
    /// Copies products' scores to all placements of a store.
    static let copyScoresToStore: PostgresStatement = copyScores("")

    private static func copyScores(_ scope: SQL) -> PostgresStatement {
        PlacementStatements.updating(
            "$1",
            """
            UPDATE placement p SET popularity_log2 = r.popularity_log2 FROM product r
                WHERE p.store_id = $1\(scope) AND r.store_id = $1 AND r.sku = p.sku
                    AND p.popularity_log2 <> r.popularity_log2
            """
        )
    }

    /// Removes due products that are deleted, or whose placements all have the current score, unless they became due
    /// again. Checks at most `$3` products after `$2`; returns the last one, or nothing at the end.
    static let clearDue: PostgresStatement = """
        WITH seen AS (
            SELECT sku, mark FROM popularity_due WHERE store_id = $1 AND sku > $2 ORDER BY sku LIMIT $3),
        done AS (
            SELECT s.sku, s.mark FROM seen s LEFT JOIN product r ON r.store_id = $1 AND r.sku = s.sku
            WHERE (s.mark < 0 OR r.sku IS NULL) AND NOT EXISTS (
                SELECT FROM placement p WHERE p.store_id = $1 AND p.sku = s.sku AND p.popularity_log2 <> r.popularity_log2)),
        ended AS (
            DELETE FROM popularity_due u USING done d WHERE u.store_id = $1 AND u.sku = d.sku AND u.mark = d.mark)
        SELECT coalesce(max(sku), '') FROM seen
        """
    static let setCounted: PostgresStatement = """
        UPDATE store SET counted_metric = popularity_metric, counted_half_life_days = popularity_half_life_days,
            counted_newcomer_boost = newcomer_boost, counted_on = $2,
            version = \(SQL.nextVersion(after: "version"))
        WHERE store_id = $1 AND (counted_metric, counted_half_life_days, counted_newcomer_boost, counted_on)
            IS DISTINCT FROM (popularity_metric, popularity_half_life_days, newcomer_boost, $2::date)
        """

    // MARK: - Anonymizing and purging

    /// Anonymizes purchases before a day, `$2`; the counts stay.
    static let anonymizeBefore: PostgresStatement = anonymize("d.day < $2 AND d.customer <> ''")
    /// Anonymizes the purchases of one customer, `$2`.
    static let anonymizeCustomer: PostgresStatement = anonymize("d.customer = $2 AND d.customer <> ''")

    private static func anonymize(_ scope: SQL) -> PostgresStatement {
        """
        WITH gone AS (
            DELETE FROM purchase_day d WHERE d.store_id = $1 AND \(scope) RETURNING d.sku, d.day, d.quantity)
        INSERT INTO purchase_day AS d (store_id, sku, day, customer, quantity)
        SELECT $1, sku, day, '', count(*) FILTER (WHERE quantity > 0) FROM gone GROUP BY sku, day ORDER BY sku, day
        ON CONFLICT (store_id, sku, day, customer) DO UPDATE SET quantity = d.quantity + excluded.quantity
        """
    }

    static let purgeEvents: PostgresStatement = "DELETE FROM purchase_event WHERE store_id = $1 AND day < $2"
    static let purgeStrays: PostgresStatement = "DELETE FROM purchase_stray WHERE store_id = $1 AND day < $2"
    static let anonymizeStrays: PostgresStatement = """
        UPDATE purchase_stray SET customer = '' WHERE store_id = $1 AND customer = $2
        """
    /// Advances the retention day; does nothing if it is already that late.
    static let advanceRetentionStart: PostgresStatement = """
        UPDATE store SET customers_kept_from = $2 
        WHERE store_id = $1 AND (customers_kept_from IS NULL OR customers_kept_from < $2)
        """
    /// The purchases of a customer, `$1`, in all stores.
    static let ofCustomer: PostgresStatement = """
        SELECT s.key, b.sku, b.day - date '1970-01-01', sum(b.quantity)::bigint FROM store s JOIN LATERAL (
            SELECT sku, day, quantity FROM purchase_day
            WHERE store_id = s.store_id AND customer = $1 AND customer <> ''
            UNION ALL SELECT sku, day, quantity FROM purchase_inbox WHERE store_id = s.store_id AND customer = $1
            UNION ALL SELECT sku, day, quantity FROM purchase_stray WHERE store_id = s.store_id AND customer = $1) b ON true
        GROUP BY s.key, b.sku, b.day ORDER BY s.key, b.day, b.sku
        """

    /// Settings for a transaction that may wait for an import.
    static let allowLongLockWait: PostgresStatement = "SET LOCAL lock_timeout = '120s'"
    /// Settings for one of many transactions that are repeated if they are lost.
    static let runInBatch: PostgresStatement = """
        SELECT set_config('lock_timeout', '120s', true), set_config('enable_seqscan', 'off', true)
        """
}
