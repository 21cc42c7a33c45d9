internal import LibPQ

/// The statements that store purchases, count them, and anonymize customers.
enum PurchaseStatements {
    // MARK: - Events

    static let stage: PostgresStatement = """
        COPY purchase_row (batch, line, event_id, sku, day, customer, quantity) FROM STDIN
        """
    /// The day since which a store, `$1`, accepts purchases, and the first open cell.
    static let intake: PostgresStatement = """
        SELECT t.customers_kept_from - date '1970-01-01', (\(openCell)) FROM store_state t WHERE t.store_id = $1
        """
    static let firstOpenCell: PostgresStatement = .init(openCell)
    private static let openCell: SQL = "SELECT min(cell) FROM purchase_cell WHERE state = 'open'"
    /// Accepts a batch, `$2`, of a store, `$1`: each event once; events of unknown products are stored separately. `$3` is
    /// the first open cell.
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
            INSERT INTO purchase_inbox (cell, store_id, day, quantity, customer, sku)
            SELECT $3 + \(PurchaseCells.offset("sku")), $1, day, quantity, customer, sku FROM new_events WHERE is_known),
        apart AS (
            INSERT INTO purchase_stray (store_id, event_id, sku, day, customer, quantity)
            SELECT $1, event_id, sku, day, customer, quantity FROM new_events WHERE NOT is_known)
        SELECT (SELECT count(*) FROM received), (SELECT count(*) FROM new_events WHERE is_known),
            (SELECT count(*) FROM new_events WHERE NOT is_known),
            ARRAY(SELECT DISTINCT sku FROM new_events WHERE NOT is_known LIMIT 1000)
        """
    /// Moves purchases of products that now exist to the inbox, at most 20,000. `$1` is the first open cell.
    static let moveStraysToInbox: PostgresStatement = """
        WITH chosen AS (
            SELECT y.store_id, y.event_id FROM purchase_stray y
            JOIN product r ON r.store_id = y.store_id AND r.sku = y.sku LIMIT 20000),
        back AS (
            DELETE FROM purchase_stray y USING chosen c WHERE y.store_id = c.store_id AND y.event_id = c.event_id
            RETURNING y.store_id, y.sku, y.day, y.customer, y.quantity)
        INSERT INTO purchase_inbox (cell, store_id, day, quantity, customer, sku)
        SELECT $1 + \(PurchaseCells.offset("sku")), store_id, day, quantity, customer, sku FROM back
        """

    // MARK: - Folding

    /// Locks all cells until the transaction ends, and returns their states. Waits for cells that are being folded, before it
    /// locks the open ones.
    static let lockCells: PostgresStatement = "SELECT state FROM purchase_cell ORDER BY state = 'open', cell FOR UPDATE"
    /// Prevents folding until the transaction ends. Waits for cells that are being folded.
    static let holdCells: PostgresStatement = "SELECT state FROM purchase_cell ORDER BY state = 'open', cell FOR SHARE"
    static let hasOpenEvents: PostgresStatement = """
        SELECT EXISTS (SELECT FROM purchase_inbox i JOIN purchase_cell c ON c.cell = i.cell AND c.state = 'open')
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
    /// Folds some cells, `$1`: adds their purchases to what their customers bought and to the counts, and marks the
    /// products whose counts change. Returns the number of events of each store.
    static let fold: PostgresStatement = folding("SELECT i.* FROM purchase_inbox i WHERE i.cell = ANY ($1::bigint[])")
    /// Folds the pending purchases of the products of some shelves, `$2`, of a store, `$1`, in a dry run.
    static let foldShelves: PostgresStatement = folding(
        """
        SELECT e.* FROM (\(pending)) e WHERE e.store_id = $1
            AND e.sku IN (SELECT p.sku FROM placement p WHERE p.store_id = $1 AND p.shelf_id = ANY ($2))
        """
    )
    /// The purchases that are not folded, with those of unknown products.
    static let pending: SQL = """
        \(pendingInInbox)
        UNION ALL SELECT y.store_id, y.sku, y.day, y.customer, y.quantity FROM purchase_stray y
        """

    private static let pendingInInbox: SQL = """
        SELECT i.store_id, i.sku, i.day, i.customer, i.quantity FROM purchase_inbox i
        JOIN purchase_cell c ON c.cell = i.cell AND c.state IN ('open', 'sealed')
        """
    /// The number of events of a store, `$1`, that a fold would process.
    static let pendingCount: PostgresStatement = """
        SELECT (SELECT count(*) FROM (\(pendingInInbox)) e WHERE e.store_id = $1)
            + (SELECT count(*) FROM purchase_stray y JOIN product r ON r.store_id = $1 AND r.sku = y.sku WHERE y.store_id = $1)
        """

    /// Returns the fold of some purchases. They are sorted by customer, so that their rows are found and inserted in the
    /// order of the index; a subquery with a limit and conflicts instead of joins leave the planner, which does not know how many
    /// rows there are, no other way. A row is inserted without regard to a conflict, which writes a third less to the log, if the
    /// fold has not found it: no other fold adds purchases of the same products meanwhile.
    private static func folding(_ purchases: SQL) -> PostgresStatement {
        """
        WITH received AS MATERIALIZED (
            SELECT store_id, sku, day, customer, count(*) AS events,
                sum(CASE WHEN customer = '' THEN sign(quantity) ELSE quantity END)::bigint AS quantity
            FROM (\(purchases)) e GROUP BY store_id, customer, day, sku),
        compared AS MATERIALIZED (
            SELECT r.store_id, r.sku, r.day, r.customer, r.quantity, b.quantity AS earlier FROM received r
            LEFT JOIN LATERAL (
                SELECT h.quantity FROM purchase_by_customer h WHERE h.store_id = r.store_id AND h.customer = r.customer
                    AND h.day = r.day AND h.sku = r.sku AND r.customer <> '' LIMIT 1) b ON true),
        changed AS (
            INSERT INTO purchase_by_customer AS b (store_id, day, quantity, customer, sku)
            SELECT store_id, day, quantity, customer, sku FROM compared WHERE earlier IS NOT NULL AND quantity <> 0
            ON CONFLICT (store_id, customer, day, sku) DO UPDATE SET quantity = b.quantity + excluded.quantity),
        added AS (
            INSERT INTO purchase_by_customer (store_id, day, quantity, customer, sku)
            SELECT store_id, day, quantity, customer, sku FROM compared WHERE earlier IS NULL AND customer <> ''
            ORDER BY store_id, customer, day, sku),
        counted AS MATERIALIZED (
            SELECT n.store_id, n.sku, n.day, n.count, c.is_known FROM (
                SELECT store_id, sku, day, sum(CASE WHEN customer = '' THEN quantity
                    ELSE (coalesce(earlier, 0) + quantity > 0)::integer - (coalesce(earlier, 0) > 0)::integer END)::bigint AS count
                FROM compared GROUP BY store_id, sku, day ORDER BY store_id, sku, day) n
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
        marked AS (
            INSERT INTO popularity_due AS u (store_id, sku, mark)
            SELECT DISTINCT store_id, sku, \(SQL.microseconds) FROM counted ORDER BY store_id, sku
            ON CONFLICT (store_id, sku) DO UPDATE SET mark = abs(u.mark) + 1)
        SELECT store_id, sum(events)::bigint FROM received GROUP BY store_id
        """
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
    /// Deletes the requests of some customers, `$1`, that were not repeated since their marks, `$2`, were read, and who have no
    /// pending purchases.
    static let endErasures: PostgresStatement = """
        DELETE FROM purchase_erasure e USING unnest($1::bytea[], $2::bigint[]) AS n (customer, mark)
        WHERE e.customer = n.customer AND e.mark = n.mark
            AND e.customer NOT IN (SELECT p.customer FROM (\(pending)) p WHERE p.customer = ANY ($1::bytea[]))
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
    /// The purchases of a customer, `$1`, in all stores; none if they are about to be anonymized.
    static let ofCustomer: PostgresStatement = """
        SELECT s.key, b.sku, b.day - date '1970-01-01', sum(b.quantity)::bigint FROM (
            SELECT h.store_id, h.sku, h.day, h.quantity FROM store o
            JOIN purchase_by_customer h ON h.store_id = o.store_id AND h.customer = $1
            UNION ALL SELECT e.store_id, e.sku, e.day, e.quantity FROM (\(pending)) e WHERE e.customer = $1) b
        JOIN store s ON s.store_id = b.store_id
        WHERE NOT EXISTS (SELECT FROM purchase_erasure WHERE customer = $1)
        GROUP BY s.key, b.sku, b.day ORDER BY s.key, b.day, b.sku
        """
}
