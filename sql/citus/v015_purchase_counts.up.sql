-- Takes about: 11 s, 210 MB per million rows of purchase_day
-- Replaces the migration of this name where the tables are distributed. The new tables are distributed before
-- they are filled, and no statement joins local tables with distributed ones.
-- Purchases are counted per product and day, apart from what each customer bought, so that customers can be forgotten without changing
-- a count. Pending purchases are divided into cells, which are sealed, folded as a whole, and emptied.

-- Step: tables
-- How often a product was bought on a UTC day: each customer counts once, an event without a customer counts 1, its refund -1.
CREATE TABLE IF NOT EXISTS purchase_count (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    day date NOT NULL,
    count bigint NOT NULL,
    CONSTRAINT purchase_count_pkey PRIMARY KEY (store_id, sku, day)
);
-- How many pieces of a product a customer, a keyed hash, bought on a UTC day, without those that were returned.
CREATE TABLE IF NOT EXISTS purchase_by_customer (
    store_id integer NOT NULL,
    day date NOT NULL,
    quantity bigint NOT NULL,
    customer bytea NOT NULL,
    sku text COLLATE "C" NOT NULL,
    CONSTRAINT purchase_by_customer_pkey PRIMARY KEY (store_id, customer, day, sku)
);
-- The cells of the inbox: 0 to 3 and 4 to 7 take turns. All purchases of a product that are pending at the same time are in one cell.
CREATE TABLE IF NOT EXISTS purchase_cell (
    cell smallint CONSTRAINT purchase_cell_pkey PRIMARY KEY,
    -- New purchases go to open cells. A sealed cell does not change, until its purchases are folded and deleted.
    state text COLLATE "C" NOT NULL,
    CONSTRAINT purchase_cell_state CHECK (state IN ('open', 'sealed', 'folded', 'empty'))
);
INSERT INTO purchase_cell (cell, state) SELECT n, CASE WHEN n < 4 THEN 'open' ELSE 'empty' END FROM generate_series(0, 7) AS n
ON CONFLICT (cell) DO NOTHING;
-- Customers whose purchases the next fold anonymizes.
CREATE TABLE IF NOT EXISTS purchase_erasure (
    customer bytea CONSTRAINT purchase_erasure_pkey PRIMARY KEY,
    -- Grows with each request: a fold deletes only the requests that it has read.
    mark bigint NOT NULL
);
DO $$
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = to_regclass('purchase_inbox')) = 'r' THEN
        ALTER TABLE purchase_inbox RENAME TO purchase_inbox_moved;
        -- Citus renames no constraints; the new table has none of this name.
    END IF;
    IF to_regclass('purchase_day') IS NOT NULL THEN
        ALTER TABLE purchase_day RENAME TO purchase_day_moved;
    END IF;
    -- An earlier run has moved everything if these are gone.
    CREATE TABLE IF NOT EXISTS purchase_inbox_moved (
        store_id integer, sku text COLLATE "C", inbox_id bigint, day date, customer bytea, quantity integer);
    CREATE TABLE IF NOT EXISTS purchase_day_moved (
        store_id integer, sku text COLLATE "C", day date, customer bytea, quantity bigint);
    -- Where the next batch starts.
    IF to_regclass('purchase_day_progress') IS NULL THEN
        CREATE TABLE purchase_day_progress (store_id integer, sku text COLLATE "C", day date, customer bytea);
        INSERT INTO purchase_day_progress VALUES (0, '', date '0001-01-01', '');
    END IF;
END $$;
-- Purchases that were reported and are not folded yet.
CREATE TABLE IF NOT EXISTS purchase_inbox (
    cell smallint NOT NULL,
    store_id integer NOT NULL,
    day date NOT NULL,
    quantity integer NOT NULL,
    -- A keyed hash; empty for an unknown customer.
    customer bytea NOT NULL,
    sku text COLLATE "C" NOT NULL
) PARTITION BY LIST (cell);
DO $$
DECLARE
    holder text;
BEGIN
    FOR n IN 0..7 LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF purchase_inbox FOR VALUES IN (%s)', 'purchase_inbox_' || n, n);
    END LOOP;
    -- Roles that may delete rows of other tables may also empty a cell.
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'purchase_event'::regclass AND a.privilege_type = 'DELETE' AND a.grantee <> 0
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON purchase_count, purchase_by_customer, purchase_cell, purchase_erasure, purchase_inbox TO '
            || holder;
        FOR n IN 0..7 LOOP
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON %I TO %s', 'purchase_inbox_' || n, holder);
        END LOOP;
    END LOOP;
END $$;
DO $$
BEGIN
    IF EXISTS (SELECT FROM citus_tables WHERE table_name = 'shelf'::regclass AND citus_table_type = 'distributed') THEN
        IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'purchase_count'::regclass AND citus_table_type = 'distributed') THEN
            PERFORM create_distributed_table('purchase_count', 'store_id', colocate_with => 'shelf');
        END IF;
        IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'purchase_by_customer'::regclass AND citus_table_type = 'distributed') THEN
            PERFORM create_distributed_table('purchase_by_customer', 'store_id', colocate_with => 'shelf');
        END IF;
        IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'purchase_inbox'::regclass AND citus_table_type = 'distributed') THEN
            PERFORM create_distributed_table('purchase_inbox', 'store_id', colocate_with => 'shelf');
        END IF;
    END IF;
END $$;

-- Batches: days of purchases
DO $$
DECLARE
    last_row record;
BEGIN
    SELECT * INTO last_row FROM purchase_day_progress;
    CREATE TEMPORARY TABLE purchase_day_piece ON COMMIT DROP AS
    SELECT d.* FROM purchase_day_moved d
    WHERE (d.store_id, d.sku, d.day, d.customer) > (last_row.store_id, last_row.sku, last_row.day, last_row.customer)
    ORDER BY d.store_id, d.sku, d.day, d.customer LIMIT 20000;
    UPDATE purchase_day_progress p SET store_id = l.store_id, sku = l.sku, day = l.day, customer = l.customer
    FROM (SELECT * FROM purchase_day_piece ORDER BY store_id DESC, sku DESC, day DESC, customer DESC LIMIT 1) l;
END $$;
INSERT INTO purchase_by_customer (store_id, customer, day, sku, quantity)
SELECT store_id, customer, day, sku, quantity FROM purchase_day_piece WHERE customer <> '' ORDER BY store_id, customer, day, sku;
INSERT INTO purchase_count AS c (store_id, sku, day, count)
SELECT store_id, sku, day, sum(CASE WHEN customer = '' THEN quantity WHEN quantity > 0 THEN 1 ELSE 0 END) FROM purchase_day_piece
GROUP BY store_id, sku, day ORDER BY store_id, sku, day
ON CONFLICT (store_id, sku, day) DO UPDATE SET count = c.count + excluded.count;

-- Step: purchases that were not folded, and the end
DO $$
DECLARE
    first_cell smallint := (SELECT min(cell) FROM purchase_cell WHERE state = 'open');
BEGIN
    INSERT INTO purchase_inbox (cell, store_id, day, quantity, customer, sku)
    SELECT first_cell + get_byte(sha256(convert_to(sku, 'UTF8')), 0) % 4, store_id, day, quantity, customer, sku FROM purchase_inbox_moved;
END $$;
DROP INDEX IF EXISTS purchase_day_by_customer;
DROP TABLE purchase_inbox_moved;
DROP TABLE purchase_day_moved;
DROP TABLE purchase_day_progress;
