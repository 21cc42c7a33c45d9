internal import LibPQ

/// The statements that store purchases, count them, and anonymize customers.
enum PurchaseStatements {
    // MARK: - Events

    /// The day since which a store, `$1`, accepts purchases, and the first open cell.
    static let intake: PostgresStatement = """
        SELECT t.customers_kept_from - date '1970-01-01', (\(openCell)) FROM store_state t WHERE t.store_id = $1
        """
    static let firstOpenCell: PostgresStatement = .init(openCell)
    private static let openCell: SQL = "SELECT min(cell) FROM purchase_cell WHERE state = 'open'"
    /// Records events, `$2`, of a store, `$1`, and their days, `$3`, since 1970-01-01; returns those that are new.
    static let recordEvents: PostgresStatement = """
        INSERT INTO purchase_event AS e (store_id, event_id, day)
        SELECT t.store_id, n.event_id::uuid, \(day) FROM store_state t
        CROSS JOIN unnest($2::text[], $3::bigint[]) AS n (event_id, day) WHERE t.store_id = $1 ORDER BY n.event_id
        ON CONFLICT (store_id, event_id) DO NOTHING RETURNING e.event_id::text
        """
    /// Adds purchases of a store, `$1`, to the open cells, of which `$2` is the first one. `$3` to `$6` are their SKUs, days,
    /// customers and quantities.
    static let addToInbox: PostgresStatement = """
        INSERT INTO purchase_inbox (cell, store_id, day, quantity, customer, sku)
        SELECT $2 + \(PurchaseCells.offset("n.sku")), t.store_id, \(day), n.quantity::numeric, n.customer, n.sku FROM store_state t
        CROSS JOIN unnest($3::text[], $4::bigint[], $5::bytea[], $6::text[]) AS n (sku, day, customer, quantity)
        WHERE t.store_id = $1
        """
    /// Keeps purchases of unknown products of a store, `$1`, apart. `$2` are the events, `$3` to `$6` the same as in `addToInbox`.
    static let addStrays: PostgresStatement = """
        INSERT INTO purchase_stray (store_id, event_id, sku, day, customer, quantity)
        SELECT t.store_id, n.event_id::uuid, n.sku, \(day), n.customer, n.quantity::numeric FROM store_state t
        CROSS JOIN unnest($2::text[], $3::text[], $4::bigint[], $5::bytea[], $6::text[])
            AS n (event_id, sku, day, customer, quantity)
        WHERE t.store_id = $1
        """
    private static let day: SQL = "date '1970-01-01' + n.day::integer"
    /// The stores with purchases that were reported before their products were created.
    static let storesWithStrays: PostgresStatement = """
        SELECT DISTINCT y.store_id FROM purchase_stray y JOIN product r ON r.store_id = y.store_id AND r.sku = y.sku
        """
    /// Takes purchases of products that now exist from the strays of a store, `$1`; at most `$2`.
    static let takeStrays: PostgresStatement = """
        DELETE FROM purchase_stray y WHERE y.store_id = $1 AND y.event_id IN (
            SELECT z.event_id FROM purchase_stray z JOIN product r ON r.store_id = $1 AND r.sku = z.sku
            WHERE z.store_id = $1 ORDER BY z.event_id LIMIT $2)
        RETURNING y.sku, y.day - date '1970-01-01', y.customer, y.quantity::text
        """

    // MARK: - Folding

    /// Locks all cells until the transaction ends, and returns their states. Waits for cells that are being folded, before it
    /// locks the open ones.
    static let lockCells: PostgresStatement = "SELECT state FROM purchase_cell ORDER BY state = 'open', cell FOR UPDATE"
    /// Prevents folding until the transaction ends. Waits for cells that are being folded.
    static let holdCells: PostgresStatement = "SELECT state FROM purchase_cell ORDER BY state = 'open', cell FOR SHARE"
    /// A row if an open cell has purchases.
    static let hasOpenEvents: PostgresStatement = """
        SELECT 1 FROM purchase_inbox i JOIN purchase_cell c ON c.cell = i.cell AND c.state = 'open' LIMIT 1
        """
    /// Seals the open cells, and opens the others, which must be empty.
    static let seal: PostgresStatement = """
        UPDATE purchase_cell SET state = CASE state WHEN 'open' THEN 'sealed' ELSE 'open' END
        """
    /// Waits for the transactions that have added purchases. They lock the partitioned table before they lock a cell.
    static let waitForWriters: PostgresStatement = "LOCK TABLE ONLY purchase_inbox IN SHARE MODE"
    /// The number of purchases in sealed cells.
    static let sealedCount: PostgresStatement = """
        SELECT count(*) FROM purchase_inbox i JOIN purchase_cell c ON c.cell = i.cell AND c.state = 'sealed'
        """
    /// Locks sealed cells that no other job is folding, at most `$1`, until the transaction ends.
    static let claimCells: PostgresStatement = """
        SELECT cell FROM purchase_cell WHERE state = 'sealed' ORDER BY cell LIMIT $1 FOR UPDATE SKIP LOCKED
        """
    static let markFolded: PostgresStatement =
        "UPDATE purchase_cell SET state = 'folded' WHERE cell = ANY ($1::bigint[])"
    /// Locks the cells that are folded and not empty.
    static let foldedCells: PostgresStatement = """
        SELECT cell FROM purchase_cell WHERE state = 'folded' ORDER BY cell FOR UPDATE
        """
    /// Deletes all rows of a cell in constant time, which waits for its readers and blocks others.
    static let truncate: [PostgresStatement] = PurchaseCells.all.map { "TRUNCATE \(PurchaseCells.table($0))" }
    /// Deletes all rows of a cell.
    static let deleteRows: [PostgresStatement] = PurchaseCells.all.map { "DELETE FROM \(PurchaseCells.table($0))" }
    static let markEmpty: PostgresStatement = "UPDATE purchase_cell SET state = 'empty' WHERE cell = ANY ($1::bigint[])"

    /// Settings for a fold: memory for sorting, and plans that read and lock only the given cells.
    static let prepareFold: PostgresStatement = """
        SELECT set_config('work_mem', '64MB', true), set_config('plan_cache_mode', 'force_custom_plan', true)
        """
    /// Folds some cells, `$1`: adds their purchases to what their customers bought and to the counts, and queues the
    /// products whose counts change. Returns the number of events of each store.
    static let fold: PostgresStatement = folding("SELECT i.* FROM purchase_inbox i WHERE i.cell = ANY ($1::bigint[])")
    /// Folds the pending purchases of the products of some shelves, `$2`, of a store, `$1`, in a dry run.
    static let foldShelves: PostgresStatement = folding(pending(onShelves))
    private static let onShelves: SQL = """
        e.store_id = $1 AND e.sku IN (SELECT p.sku FROM placement p WHERE p.store_id = $1 AND p.shelf_id = ANY ($2))
        """

    /// The same as `fold` for one store, `$1`, which is on one shard: some cells, `$2`.
    static let foldOfStore: [PostgresStatement] = foldingOfStore(
        "SELECT e.* FROM purchase_inbox e WHERE e.store_id = $1 AND e.cell = ANY ($2::bigint[])"
    )
    /// The same as `foldShelves` for a store that is on one shard.
    static let foldShelvesOfStore: [PostgresStatement] = foldingOfStore(pending(onShelves))
    /// The fold of the pending purchases of some shelves, for a dry run.
    static let shelfFolds = OwnersForms(ofAll: [foldShelves], ofOne: foldShelvesOfStore)
    /// The fold of some cells.
    static let cellFolds = OwnersForms(
        ofAll: CellFold(first: fold, ofStore: []),
        ofOne: CellFold(first: eventCounts, ofStore: foldOfStore)
    )
    /// The number of events of each store in some cells, `$1`.
    static let eventCounts: PostgresStatement = """
        SELECT i.store_id, count(*) FROM purchase_inbox i WHERE i.cell = ANY ($1::bigint[]) GROUP BY i.store_id ORDER BY i.store_id
        """

    /// The purchases `e` that meet a condition and are not folded, with those of unknown products.
    static func pending(_ condition: SQL) -> SQL {
        """
        \(pendingInInbox(condition))
        UNION ALL SELECT e.store_id, e.sku, e.day, e.customer, e.quantity FROM purchase_stray e WHERE \(condition)
        """
    }

    private static func pendingInInbox(_ condition: SQL) -> SQL {
        """
        SELECT e.store_id, e.sku, e.day, e.customer, e.quantity FROM purchase_inbox e
        JOIN purchase_cell c ON c.cell = e.cell AND c.state IN ('open', 'sealed') WHERE \(condition)
        """
    }
    /// The number of events of a store, `$1`, that a fold would process.
    static let pendingCount: PostgresStatement = """
        SELECT (SELECT count(*) FROM (\(pendingInInbox("e.store_id = $1"))) i)
            + (SELECT count(*) FROM purchase_stray y JOIN product r ON r.store_id = $1 AND r.sku = y.sku WHERE y.store_id = $1)
        """

    // A customer's refund cancels the customer's latest purchases of the product before it, whatever the day. The rest of the refund
    // cancels the next purchases. `total` is the net quantity up to a day. A purchase raises the total from one level to a higher level.
    // The part of the rise above zero and below every later total is left.

    /// Returns SQL for the days of customers and products, `days`, with a column `is_counted`: whether anything is left of the day's
    /// purchases.
    private static func settled(_ days: SQL) -> SQL {
        """
        SELECT t.store_id, t.customer, t.sku, t.day, t.added, t.is_known, t.was_counted,
            t.quantity > 0 AND min(t.total) OVER (PARTITION BY t.store_id, t.customer, t.sku ORDER BY t.day DESC)
                > greatest(0, t.total - t.quantity) AS is_counted
        FROM (
            SELECT d.*, sum(d.quantity) OVER (PARTITION BY d.store_id, d.customer, d.sku ORDER BY d.day) AS total
            FROM (\(days)) d) t
        """
    }

    /// Returns the fold of some purchases. The purchases are sorted by customer, so that rows are found and inserted in the order
    /// of the index. The planner does not know the number of rows. Subqueries with a limit, and conflicts instead of joins, force
    /// this order. If the fold has not found a row, it inserts the row without a conflict clause, which writes a third less to
    /// the log. This is safe, because no other fold adds purchases of the same products meanwhile.
    ///
    /// All days of a customer and product are read only if there are refunds. An index finds the refunds.
    private static func folding(_ purchases: SQL) -> PostgresStatement {
        """
        WITH received AS MATERIALIZED (
            SELECT store_id, sku, day, customer, count(*) AS events,
                sum(CASE WHEN customer = '' THEN sign(quantity) ELSE quantity END) AS quantity
            FROM (\(purchases)) e GROUP BY store_id, customer, sku, day),
        compared AS MATERIALIZED (
            SELECT r.store_id, r.sku, r.day, r.customer, r.quantity, b.quantity AS earlier, b.is_counted AS was_counted,
                r.customer <> '' AND (count(f.has_refund) OVER product > 0
                    OR min(coalesce(b.quantity, 0) + r.quantity) OVER product < 0) AS is_refunded
            FROM received r
            LEFT JOIN LATERAL (
                SELECT h.quantity, h.is_counted FROM purchase_by_customer h WHERE h.store_id = r.store_id
                    AND h.customer = r.customer AND h.sku = r.sku AND h.day = r.day AND r.customer <> '' LIMIT 1) b ON true
            LEFT JOIN LATERAL (
                SELECT true AS has_refund FROM purchase_by_customer h WHERE h.store_id = r.store_id
                    AND h.customer = r.customer AND h.sku = r.sku AND h.quantity < 0 AND r.customer <> '' LIMIT 1) f ON true
            WINDOW product AS (PARTITION BY r.store_id, r.customer, r.sku)),
        days AS MATERIALIZED (
            SELECT n.store_id, n.customer, n.sku, n.day, sum(n.quantity) AS quantity, sum(n.added) AS added,
                bool_or(n.was_counted) AS was_counted, bool_or(n.is_known) AS is_known
            FROM (
                SELECT c.store_id, c.customer, c.sku, c.day, c.quantity, c.quantity AS added, false AS was_counted, false AS is_known
                FROM compared c WHERE c.is_refunded
                UNION ALL SELECT f.store_id, f.customer, f.sku, h.day, h.quantity, 0, h.is_counted, true
                FROM (SELECT DISTINCT store_id, customer, sku FROM compared WHERE is_refunded) f CROSS JOIN LATERAL (
                    SELECT b.day, b.quantity, b.is_counted FROM purchase_by_customer b
                    WHERE b.store_id = f.store_id AND b.customer = f.customer AND b.sku = f.sku OFFSET 0) h) n
            GROUP BY n.store_id, n.customer, n.sku, n.day),
        settled AS MATERIALIZED (
            SELECT c.store_id, c.customer, c.sku, c.day, c.quantity AS added, c.earlier IS NOT NULL AS is_known,
                coalesce(c.was_counted, false) AS was_counted, coalesce(c.earlier, 0) + c.quantity > 0 AS is_counted
            FROM compared c WHERE c.customer <> '' AND NOT c.is_refunded
            UNION ALL \(settled("SELECT * FROM days"))),
        changed AS (
            INSERT INTO purchase_by_customer AS b (store_id, day, quantity, is_counted, customer, sku)
            SELECT store_id, day, added, is_counted, customer, sku FROM settled
            WHERE is_known AND (added <> 0 OR is_counted <> was_counted) ORDER BY store_id, customer, sku, day
            ON CONFLICT (store_id, customer, sku, day) DO UPDATE SET quantity = b.quantity + excluded.quantity,
                is_counted = excluded.is_counted),
        added AS (
            INSERT INTO purchase_by_customer (store_id, day, quantity, is_counted, customer, sku)
            SELECT store_id, day, added, is_counted, customer, sku FROM settled WHERE NOT is_known
            ORDER BY store_id, customer, sku, day),
        counted AS MATERIALIZED (
            SELECT n.store_id, n.sku, n.day, n.count, c.is_known FROM (
                SELECT store_id, sku, day, sum(count)::bigint AS count FROM (
                    SELECT store_id, sku, day, is_counted::integer - was_counted::integer AS count FROM settled
                    UNION ALL SELECT store_id, sku, day, quantity FROM compared WHERE customer = '') s
                GROUP BY store_id, sku, day ORDER BY store_id, sku, day) n
            LEFT JOIN LATERAL (
                SELECT true AS is_known FROM purchase_count k WHERE k.store_id = n.store_id AND k.sku = n.sku AND k.day = n.day
                LIMIT 1) c ON true
            WHERE n.count <> 0),
        recounted AS (
            INSERT INTO purchase_count AS c (store_id, sku, day, count)
            SELECT store_id, sku, day, count FROM counted WHERE is_known ORDER BY store_id, sku, day
            ON CONFLICT (store_id, sku, day) DO UPDATE SET count = c.count + excluded.count),
        counts AS (
            INSERT INTO purchase_count (store_id, sku, day, count)
            SELECT store_id, sku, day, count FROM counted WHERE is_known IS NULL ORDER BY store_id, sku, day),
        queued AS (
            \(DueProductStatements.queueing("SELECT DISTINCT store_id, sku FROM counted")))
        SELECT store_id, sum(events)::bigint FROM received GROUP BY store_id
        """
    }

    /// Returns the statements that fold purchases of a store, `$1`. The first two count the purchases and queue the products. The last
    /// one adds the purchases to the customers' purchases. It runs last, because the first two must not see its rows. Citus inserts
    /// into one table per statement.
    private static func foldingOfStore(_ purchases: SQL) -> [PostgresStatement] {
        let received: SQL = """
            SELECT e.sku, e.day, e.customer,
                sum(CASE WHEN e.customer = '' THEN sign(e.quantity) ELSE e.quantity END) AS quantity
            FROM (\(purchases)) e GROUP BY e.sku, e.day, e.customer
            """
        let customers: SQL = settled(
            """
            SELECT n.store_id, n.customer, n.sku, n.day, sum(n.quantity) AS quantity, sum(n.added) AS added,
                bool_or(n.was_counted) AS was_counted, bool_or(n.is_known) AS is_known
            FROM (
                SELECT t.store_id, r.customer, r.sku, r.day, r.quantity, r.quantity AS added, false AS was_counted, false AS is_known
                FROM store_state t CROSS JOIN (\(received)) r WHERE t.store_id = $1 AND r.customer <> ''
                UNION ALL SELECT b.store_id, b.customer, b.sku, b.day, b.quantity, 0, b.is_counted, true
                FROM purchase_by_customer b
                JOIN (SELECT DISTINCT r.customer, r.sku FROM (\(received)) r) g ON g.customer = b.customer AND g.sku = b.sku
                WHERE b.store_id = $1) n
            GROUP BY n.store_id, n.customer, n.sku, n.day
            """
        )
        let counted: SQL = """
            SELECT s.store_id, s.sku, s.day, sum(s.count)::bigint AS count FROM (
                SELECT c.store_id, c.sku, c.day, c.is_counted::integer - c.was_counted::integer AS count FROM (\(customers)) c
                UNION ALL SELECT t.store_id, r.sku, r.day, r.quantity FROM store_state t CROSS JOIN (\(received)) r
                WHERE t.store_id = $1 AND r.customer = '') s
            GROUP BY s.store_id, s.sku, s.day
            """
        return [
            """
            INSERT INTO purchase_count AS c (store_id, sku, day, count)
            SELECT n.store_id, n.sku, n.day, n.count FROM (\(counted)) n WHERE n.count <> 0
            ON CONFLICT (store_id, sku, day) DO UPDATE SET count = c.count + excluded.count
            """,
            .init(
                DueProductStatements.queueing(
                    "SELECT DISTINCT c.store_id, c.sku FROM (\(counted)) c WHERE c.count <> 0"
                )
            ),
            """
            INSERT INTO purchase_by_customer AS b (store_id, day, quantity, is_counted, customer, sku)
            SELECT c.store_id, c.day, c.added, c.is_counted, c.customer, c.sku FROM (\(customers)) c
            WHERE NOT c.is_known OR c.added <> 0 OR c.is_counted <> c.was_counted
            ON CONFLICT (store_id, customer, sku, day) DO UPDATE SET quantity = b.quantity + excluded.quantity,
                is_counted = excluded.is_counted
            """,
        ]
    }

    // MARK: - Anonymizing and purging

    /// Requests that the next fold anonymizes a customer, `$1`.
    static let requestErasure: PostgresStatement = """
        INSERT INTO purchase_erasure AS e (customer, mark) VALUES ($1, 1) ON CONFLICT (customer) DO UPDATE SET mark = e.mark + 1
        """
    /// The customers to anonymize, at most 1,000 after `$1`, and the marks of their requests.
    static let requestedErasures: PostgresStatement = """
        SELECT customer, mark FROM purchase_erasure WHERE customer > $1 ORDER BY customer LIMIT 1000
        """
    /// Anonymizes the folded purchases of some customers, `$1`; the counts stay.
    static let anonymizeCustomers: PostgresStatement = """
        DELETE FROM purchase_by_customer b USING store s, unnest($1::bytea[]) AS e (customer)
        WHERE b.store_id = s.store_id AND b.customer = e.customer
        """
    static let anonymizeStrays: PostgresStatement = """
        UPDATE purchase_stray SET customer = '' WHERE customer = ANY ($1) AND customer <> ''
        """
    /// Deletes the requests of some customers, `$1`, without pending purchases. A request that was repeated after its mark,
    /// `$2`, was read is kept.
    static let endErasures: PostgresStatement = """
        DELETE FROM purchase_erasure e USING unnest($1::bytea[], $2::bigint[]) AS n (customer, mark)
        WHERE e.customer = n.customer AND e.mark = n.mark
            AND e.customer NOT IN (SELECT p.customer FROM (\(pending("e.customer = ANY ($1::bytea[])"))) p)
        """
    /// Prepares to anonymize the purchases of a store, `$1`, before a day, `$2`. These purchases and later ones may have cancelled
    /// each other. The cancelled quantity is subtracted from the later purchases, so that it does not count twice.
    static let settleBefore: PostgresStatement = """
        UPDATE purchase_by_customer b SET quantity = s.rest FROM (
            SELECT u.customer, u.sku, u.day, u.quantity, u.first_day, CASE WHEN u.quantity > 0
                THEN greatest(0, u.lowest - greatest(0, u.total - u.quantity))
                ELSE least(0, u.highest - least(0, u.total - u.quantity)) END AS rest
            FROM (
                SELECT t.*, min(t.total) OVER later AS lowest, max(t.total) OVER later AS highest FROM (
                    SELECT h.customer, h.sku, h.day, h.quantity, min(h.day) OVER (PARTITION BY h.customer, h.sku) AS first_day,
                        sum(h.quantity) OVER (PARTITION BY h.customer, h.sku ORDER BY h.day) AS total
                    FROM purchase_by_customer h WHERE h.store_id = $1 AND EXISTS (
                        SELECT FROM purchase_by_customer f WHERE f.store_id = $1 AND f.customer = h.customer AND f.sku = h.sku
                            AND f.quantity < 0)) t
                WINDOW later AS (PARTITION BY t.customer, t.sku ORDER BY t.day DESC)) u) s
        WHERE b.store_id = $1 AND b.customer = s.customer AND b.sku = s.sku AND b.day = s.day
            AND s.first_day < $2 AND s.day >= $2 AND s.rest <> s.quantity
        """
    /// Anonymizes the folded purchases of a store, `$1`, before a day, `$2`; the counts stay.
    static let anonymizeBefore: PostgresStatement = "DELETE FROM purchase_by_customer WHERE store_id = $1 AND day < $2"
    static let purgeEvents: PostgresStatement = "DELETE FROM purchase_event WHERE store_id = $1 AND day < $2"
    static let purgeStrays: PostgresStatement = "DELETE FROM purchase_stray WHERE store_id = $1 AND day < $2"
    /// Advances the retention day; does nothing if it is already that late.
    static let advanceRetentionStart: PostgresStatement = """
        UPDATE store_state SET customers_kept_from = $2
        WHERE store_id = $1 AND (customers_kept_from IS NULL OR customers_kept_from < $2)
        """
    /// A row if a customer, `$1`, is about to be anonymized.
    static let erasureOf: PostgresStatement = "SELECT 1 FROM purchase_erasure WHERE customer = $1"
    /// The purchases of a customer, `$1`, in all stores.
    static let ofCustomer: PostgresStatement = """
        SELECT s.key, b.sku, b.day - date '1970-01-01', sum(b.quantity)::text FROM (
            SELECT h.store_id, h.sku, h.day, h.quantity FROM store o
            JOIN purchase_by_customer h ON h.store_id = o.store_id AND h.customer = $1
            UNION ALL SELECT p.store_id, p.sku, p.day, p.quantity FROM (\(pending("e.customer = $1"))) p) b
        JOIN store s ON s.store_id = b.store_id GROUP BY s.key, b.sku, b.day ORDER BY s.key, b.day, b.sku
        """
}

/// The statements that fold purchases of some cells.
struct CellFold: Sendable {
    /// Returns the number of events of each store in some cells, `$1`. On one server, it folds them, too.
    let first: PostgresStatement
    /// The statements that then fold some cells, `$2`, of one of these stores, `$1`.
    let ofStore: [PostgresStatement]
}
