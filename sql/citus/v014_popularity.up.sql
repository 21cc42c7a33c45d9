-- Takes about: 20 s, 240 MB per million rows of placement
-- Replaces the migration of this name where the tables are distributed. The new table is distributed before
-- it is filled, and no statement joins a local table.
-- Popularity apart from the placement: a changed score writes two entries of this table's indexes instead of all of the placement's.
-- A placement keeps its score, too, because every page shows it, but without an index. And a placement is found by product first,
-- so that its primary key also serves changes of a product.

-- Step: table of popularity
CREATE TABLE IF NOT EXISTS placement_popularity (
    store_id integer NOT NULL,
    shelf_id integer NOT NULL,
    -- As in placement, and changed with it.
    popularity_log2 double precision NOT NULL,
    availability smallint NOT NULL,
    sku text COLLATE "C" NOT NULL,
    name text COLLATE catalog NOT NULL,
    CONSTRAINT placement_popularity_pkey PRIMARY KEY (store_id, sku, shelf_id)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02);
-- An earlier run has switched if its list of copied shelves is gone. Older programs may have written placements since then.
DO $$
BEGIN
    IF to_regclass('popularity_copy') IS NULL THEN
        DELETE FROM placement_popularity;
    END IF;
END $$;
-- The shelves that were copied, with their versions before.
CREATE TABLE IF NOT EXISTS popularity_copy (
    store_id integer NOT NULL,
    shelf_id integer NOT NULL,
    version bigint NOT NULL,
    is_done boolean NOT NULL,
    CONSTRAINT popularity_copy_pkey PRIMARY KEY (store_id, shelf_id)
);
DO $$
BEGIN
    IF EXISTS (SELECT FROM citus_tables WHERE table_name = 'shelf'::regclass AND citus_table_type = 'distributed') THEN
        IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'placement_popularity'::regclass AND citus_table_type = 'distributed') THEN
            PERFORM create_distributed_table('placement_popularity', 'store_id', colocate_with => 'shelf');
        END IF;
        IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'popularity_copy'::regclass AND citus_table_type = 'distributed') THEN
            PERFORM create_distributed_table('popularity_copy', 'store_id', colocate_with => 'shelf');
        END IF;
    END IF;
END $$;

-- Batches: popularity of placements
UPDATE popularity_copy SET is_done = true WHERE NOT is_done;
INSERT INTO popularity_copy (store_id, shelf_id, version, is_done)
SELECT h.store_id, h.shelf_id, h.version, false FROM shelf h
WHERE NOT EXISTS (SELECT FROM popularity_copy c WHERE c.store_id = h.store_id AND c.shelf_id = h.shelf_id)
    AND EXISTS (SELECT FROM placement p WHERE p.store_id = h.store_id AND p.shelf_id = h.shelf_id)
ORDER BY h.store_id, h.shelf_id LIMIT 100;
INSERT INTO placement_popularity (store_id, shelf_id, popularity_log2, availability, sku, name)
SELECT p.store_id, p.shelf_id, p.popularity_log2, p.availability, p.sku, p.name
FROM popularity_copy c JOIN placement p ON p.store_id = c.store_id AND p.shelf_id = c.shelf_id WHERE NOT c.is_done
ORDER BY p.store_id, p.shelf_id, p.sku ON CONFLICT (store_id, sku, shelf_id) DO NOTHING;

-- Step: order of popularity
CREATE INDEX CONCURRENTLY IF NOT EXISTS placement_popularity_order ON placement_popularity (store_id, shelf_id, availability, popularity_log2 DESC, name, sku);

-- Step: key of placements
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS placement_key ON placement (store_id, sku, shelf_id);

-- Step: room for changed rows, which then need no new index entries
ALTER TABLE product SET (fillfactor = 90);

-- Step: shelves that changed meanwhile, and the switch
LOCK TABLE placement IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM placement_popularity r USING popularity_copy c JOIN shelf h ON h.store_id = c.store_id AND h.shelf_id = c.shelf_id
WHERE h.version <> c.version AND r.store_id = c.store_id AND r.shelf_id = c.shelf_id;
INSERT INTO placement_popularity (store_id, shelf_id, popularity_log2, availability, sku, name)
SELECT p.store_id, p.shelf_id, p.popularity_log2, p.availability, p.sku, p.name
FROM shelf h LEFT JOIN popularity_copy c ON c.store_id = h.store_id AND c.shelf_id = h.shelf_id
JOIN placement p ON p.store_id = h.store_id AND p.shelf_id = h.shelf_id
WHERE c.version IS DISTINCT FROM h.version ON CONFLICT (store_id, sku, shelf_id) DO NOTHING;
DROP TABLE popularity_copy;
ALTER TABLE placement DROP CONSTRAINT placement_pkey;
ALTER TABLE placement ADD CONSTRAINT placement_pkey PRIMARY KEY USING INDEX placement_key;
DROP INDEX IF EXISTS placement_by_sku;
DROP INDEX IF EXISTS placement_by_popularity;
