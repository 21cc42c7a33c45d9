-- Replaces the script of this name where the tables are distributed. Requests to forget customers are
-- distributed by customer, so no statement joins them with purchases.
CREATE TABLE purchase_day (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    day date NOT NULL,
    customer bytea NOT NULL,
    quantity bigint NOT NULL,
    CONSTRAINT purchase_day_pkey PRIMARY KEY (store_id, sku, day, customer)
);
ALTER TABLE purchase_inbox RENAME TO purchase_inbox_cells;
CREATE TABLE purchase_inbox (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    inbox_id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    customer bytea NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT purchase_inbox_pkey PRIMARY KEY (store_id, sku, inbox_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
-- Without their customer, purchases stay counted.
DO $$
DECLARE
    erased bytea[] := ARRAY(SELECT customer FROM purchase_erasure);
BEGIN
    DELETE FROM purchase_by_customer WHERE customer = ANY (erased);
    UPDATE purchase_inbox_cells SET customer = '' WHERE customer = ANY (erased);
    UPDATE purchase_stray SET customer = '' WHERE customer = ANY (erased) AND customer <> '';
END $$;
INSERT INTO purchase_inbox (store_id, sku, day, customer, quantity)
SELECT i.store_id, i.sku, i.day, i.customer, i.quantity FROM purchase_inbox_cells i
JOIN purchase_cell c ON c.cell = i.cell AND c.state IN ('open', 'sealed');
INSERT INTO purchase_day (store_id, sku, day, customer, quantity)
SELECT store_id, sku, day, customer, quantity FROM purchase_by_customer;
INSERT INTO purchase_day (store_id, sku, day, customer, quantity)
SELECT store_id, sku, day, '', coalesce(c.count, 0) - coalesce(b.customers, 0) FROM purchase_count c FULL JOIN (
    SELECT store_id, sku, day, count(*) FILTER (WHERE quantity > 0) AS customers FROM purchase_by_customer
    GROUP BY store_id, sku, day) b USING (store_id, sku, day)
WHERE coalesce(c.count, 0) <> coalesce(b.customers, 0);
CREATE INDEX purchase_day_by_customer ON purchase_day (store_id, customer) WHERE customer <> '';
DROP TABLE purchase_inbox_cells;
DROP TABLE purchase_by_customer;
DROP TABLE purchase_count;
DROP TABLE purchase_cell;
DROP TABLE purchase_erasure;
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'purchase_event'::regclass AND a.privilege_type = 'DELETE' AND a.grantee <> 0
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON purchase_day, purchase_inbox TO ' || holder;
    END LOOP;
END $$;
