-- The statements with which version 0.2.0 reads the first range of a shelf's first page, in the mix that the load generator requests:
-- `shelves` shelves in ten sorts, of which the popular ones are read more often (Zipf).
--
-- The benchmarks compare pages over HTTP with pgbench running this script. It does not change with the program; the tables of version 0.2.0
-- are those of baseline_tables.sql.
-- Variables: store, first (the id of the first shelf), shelves, skew.
\set rank random_zipfian(1, :shelves * 10, :skew) - 1
\set shelf :first + (77 + :rank / 10 * 7919) % :shelves
\set sort (:rank + :rank / 10) % 10
\if :sort = 0
-- price
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0 AND p.price_minor IS NOT NULL
    ORDER BY p.price_minor, p.name, p.sku LIMIT 25;
\elif :sort = 1
-- -price
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0 AND p.price_minor IS NOT NULL
    ORDER BY p.price_minor DESC, p.name DESC, p.sku DESC LIMIT 25;
\elif :sort = 2
-- unit_price
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0 AND p.unit_dimension = 0
    ORDER BY p.unit_dimension, p.unit_price, p.name, p.sku LIMIT 25;
\elif :sort = 3
-- -unit_price
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0 AND p.unit_dimension = 0
    ORDER BY p.unit_dimension DESC, p.unit_price DESC, p.name DESC, p.sku DESC LIMIT 25;
\elif :sort = 4
-- -popularity
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0
    ORDER BY p.popularity_log2 DESC, p.name, p.sku LIMIT 25;
\elif :sort = 5
-- popularity
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0
    ORDER BY p.popularity_log2, p.name DESC, p.sku DESC LIMIT 25;
\elif :sort = 6
-- brand
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0 AND p.brand IS NOT NULL
    ORDER BY p.brand, p.name, p.sku LIMIT 25;
\elif :sort = 7
-- name
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0
    ORDER BY p.name, p.sku LIMIT 25;
\elif :sort = 8
-- -created
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0
    ORDER BY p.created_at DESC, p.name, p.sku LIMIT 25;
\elif :sort = 9
-- tags
SELECT p.sku, p.name, p.brand, p.price_minor, p.regular_price_minor, p.size_amount::text, p.size_unit, p.size_packs,
    p.size_drained::text, p.size_approximate, p.barcode, p.image_url, p.attributes::text, p.in_stock, p.tags,
    p.popularity_log2, p.created_at, p.modified_at, p.availability
    FROM baseline.placement p WHERE p.store_id = :store AND p.shelf_id = :shelf AND p.availability = 0
    ORDER BY p.tag_count, p.name DESC, p.sku DESC LIMIT 25;
\endif
