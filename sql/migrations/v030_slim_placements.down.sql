ALTER TABLE placement ADD COLUMN availability smallint, ADD COLUMN name text COLLATE catalog, ADD COLUMN brand text COLLATE catalog,
    ADD COLUMN price_minor bigint, ADD COLUMN regular_price_minor bigint, ADD COLUMN size_amount numeric,
    ADD COLUMN size_unit text COLLATE "C", ADD COLUMN size_packs integer, ADD COLUMN size_drained numeric,
    ADD COLUMN size_approximate boolean, ADD COLUMN size_dimension smallint, ADD COLUMN base_quantity numeric,
    ADD COLUMN barcode text COLLATE "C", ADD COLUMN image_url text COLLATE "C", ADD COLUMN attributes jsonb, ADD COLUMN in_stock boolean,
    ADD COLUMN tags text[] COLLATE "C", ADD COLUMN created_at timestamptz, ADD COLUMN modified_at timestamptz;
UPDATE placement p SET availability = CASE WHEN r.in_stock OR coalesce(h.sold_out, s.sold_out) = 'mixed' THEN 0 ELSE 1 END,
    name = r.name, brand = r.brand, price_minor = r.price_minor, regular_price_minor = r.regular_price_minor, size_amount = r.size_amount,
    size_unit = r.size_unit, size_packs = r.size_packs, size_drained = r.size_drained, size_approximate = r.size_approximate,
    size_dimension = r.size_dimension, base_quantity = r.base_quantity, barcode = r.barcode, image_url = r.image_url,
    attributes = r.attributes, in_stock = r.in_stock, tags = r.tags, created_at = r.created_at, modified_at = r.modified_at
FROM product r, shelf h, store s
WHERE r.store_id = p.store_id AND r.sku = p.sku AND h.store_id = p.store_id AND h.shelf_id = p.shelf_id AND s.store_id = p.store_id;
ALTER TABLE placement ALTER COLUMN availability SET NOT NULL, ALTER COLUMN name SET NOT NULL, ALTER COLUMN attributes SET NOT NULL,
    ALTER COLUMN in_stock SET NOT NULL, ALTER COLUMN tags SET NOT NULL, ALTER COLUMN created_at SET NOT NULL,
    ALTER COLUMN modified_at SET NOT NULL;
ALTER TABLE placement ADD COLUMN unit_dimension smallint GENERATED ALWAYS AS (CASE WHEN price_minor IS NOT NULL THEN size_dimension END) STORED;
ALTER TABLE placement ADD COLUMN unit_price numeric(50, 33) GENERATED ALWAYS AS (price_minor::numeric(46, 33) / base_quantity) STORED;
ALTER TABLE placement ADD COLUMN tag_count smallint GENERATED ALWAYS AS (cardinality(tags)) STORED;
CREATE INDEX placement_by_price ON placement (store_id, shelf_id, availability, price_minor, name, sku);
CREATE INDEX placement_by_unit_price ON placement (store_id, shelf_id, availability, unit_dimension, unit_price, name, sku);
CREATE INDEX placement_by_brand ON placement (store_id, shelf_id, availability, brand, name, sku);
CREATE INDEX placement_by_name ON placement (store_id, shelf_id, availability, name, sku);
CREATE INDEX placement_by_created ON placement (store_id, shelf_id, availability, created_at DESC, name, sku);
CREATE INDEX placement_by_modified ON placement (store_id, shelf_id, availability, modified_at DESC, name, sku);
CREATE INDEX placement_by_tags ON placement (store_id, shelf_id, availability, tag_count DESC, name, sku);
DROP INDEX placement_by_shelf;
CREATE TABLE placement_popularity (
    store_id integer NOT NULL,
    shelf_id integer NOT NULL,
    popularity_log2 double precision NOT NULL,
    availability smallint NOT NULL,
    sku text COLLATE "C" NOT NULL,
    name text COLLATE catalog NOT NULL,
    CONSTRAINT placement_popularity_pkey PRIMARY KEY (store_id, sku, shelf_id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE placement_popularity ALTER COLUMN shelf_id SET (n_distinct = 1);
INSERT INTO placement_popularity (store_id, shelf_id, popularity_log2, availability, sku, name)
SELECT store_id, shelf_id, popularity_log2, availability, sku, name FROM placement;
CREATE INDEX placement_popularity_order ON placement_popularity (store_id, shelf_id, availability, popularity_log2 DESC, name, sku);
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'placement'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON placement_popularity TO ' || holder;
    END LOOP;
END $$;
