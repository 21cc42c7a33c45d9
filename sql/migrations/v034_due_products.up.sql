-- Takes about: 1 s, 20 MB per million rows of popularity_due
-- Products whose scores are due are queued as sets: a fold adds a row for each thousand products, instead of one for each product, which
-- wrote more to the log than the scores. Servers of earlier schemas queue single products, so they must stop.
CREATE TABLE due_products (
    store_id integer NOT NULL,
    first_sku text COLLATE "C" NOT NULL,
    -- The time of the transaction that added the row, in microseconds.
    mark bigint NOT NULL,
    last_sku text COLLATE "C" NOT NULL,
    -- The number of SKUs.
    size integer NOT NULL,
    -- Whether the products' scores are computed; then they are still to be copied to the placements.
    is_counted boolean NOT NULL,
    skus text[] COLLATE "C" NOT NULL,
    CONSTRAINT due_products_pkey PRIMARY KEY (store_id, first_sku, mark)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
LOCK TABLE popularity_due IN ACCESS EXCLUSIVE MODE;
INSERT INTO due_products (store_id, first_sku, mark, last_sku, size, is_counted, skus)
SELECT store_id, min(sku), max(abs(mark)), max(sku), count(*), is_counted, array_agg(sku ORDER BY sku)
FROM (
    SELECT store_id, sku, mark, mark < 0 AS is_counted, (row_number() OVER (PARTITION BY store_id, mark < 0 ORDER BY sku) - 1) / 1000 AS piece
    FROM popularity_due) d
GROUP BY store_id, is_counted, piece;
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'popularity_due'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON due_products TO ' || holder;
    END LOOP;
END $$;
DROP TABLE popularity_due;
