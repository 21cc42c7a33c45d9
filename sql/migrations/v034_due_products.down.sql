CREATE TABLE popularity_due (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    -- Grows each time: who has counted takes away only what was due then.
    mark bigint NOT NULL,
    CONSTRAINT popularity_due_pkey PRIMARY KEY (store_id, sku)
) WITH (autovacuum_vacuum_scale_factor = 0.05, fillfactor = 50);
LOCK TABLE due_products IN ACCESS EXCLUSIVE MODE;
INSERT INTO popularity_due (store_id, sku, mark)
SELECT d.store_id, n.sku, CASE WHEN bool_and(d.is_counted) THEN -max(d.mark) ELSE max(d.mark) END
FROM due_products d CROSS JOIN LATERAL unnest(d.skus) AS n (sku) GROUP BY d.store_id, n.sku;
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'due_products'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON popularity_due TO ' || holder;
    END LOOP;
END $$;
DROP TABLE due_products;
