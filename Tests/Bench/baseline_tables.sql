-- The table and the indexes from which version 0.2.0 read pages before servers had shelves in memory, as a copy of a catalog.
BEGIN;
CREATE SCHEMA baseline;
CREATE COLLATION baseline.catalog (provider = icu, locale = 'und-u-kn-true');
CREATE TABLE baseline.placement (
    store_id integer NOT NULL, shelf_id integer NOT NULL, sku text COLLATE "C" NOT NULL, availability smallint NOT NULL,
    name text COLLATE baseline.catalog NOT NULL, brand text COLLATE baseline.catalog, price_minor bigint, regular_price_minor bigint, size_amount numeric,
    size_unit text COLLATE "C", size_packs integer, size_drained numeric, size_approximate boolean, size_dimension smallint,
    base_quantity numeric, barcode text COLLATE "C", image_url text COLLATE "C", attributes jsonb NOT NULL, in_stock boolean NOT NULL,
    tags text[] COLLATE "C" NOT NULL, popularity_log2 double precision NOT NULL, created_at timestamptz NOT NULL, modified_at timestamptz NOT NULL,
    unit_dimension smallint GENERATED ALWAYS AS (CASE WHEN price_minor IS NOT NULL THEN size_dimension END) STORED,
    unit_price numeric(50, 33) GENERATED ALWAYS AS (price_minor::numeric(46, 33) / base_quantity) STORED,
    tag_count smallint GENERATED ALWAYS AS (cardinality(tags)) STORED
) WITH (fillfactor = 90);
INSERT INTO baseline.placement
SELECT p.store_id, p.shelf_id, p.sku, CASE WHEN r.in_stock OR coalesce(h.sold_out, s.sold_out) = 'mixed' THEN 0 ELSE 1 END, r.name, r.brand,
    r.price_minor, r.regular_price_minor, r.size_amount, r.size_unit, r.size_packs, r.size_drained, r.size_approximate, r.size_dimension,
    r.base_quantity, r.barcode, r.image_url, r.attributes, r.in_stock, r.tags, p.popularity_log2, r.created_at, r.modified_at
FROM placement p JOIN product r USING (store_id, sku) JOIN shelf h USING (store_id, shelf_id) JOIN store s USING (store_id)
ORDER BY p.store_id, p.shelf_id, r.name;
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, price_minor, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, unit_dimension, unit_price, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, popularity_log2 DESC, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, brand, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, created_at DESC, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, modified_at DESC, name, sku);
CREATE INDEX ON baseline.placement (store_id, shelf_id, availability, tag_count DESC, name, sku);
COMMIT;
VACUUM ANALYZE baseline.placement;
