-- Compatible with: 20
-- Names, brands, tags and titles are stored in Unicode's composed form, as requests and imports now are, so that equal texts have equal
-- bytes. A text whose composed form exceeds the limit of its column stays as it is.

-- Batches: texts of products
DROP TABLE IF EXISTS composed_product;
CREATE TABLE composed_product AS
SELECT store_id, sku FROM product
WHERE (name IS NOT NFC NORMALIZED AND octet_length(normalize(name, NFC)) <= 500)
    OR (brand IS NOT NFC NORMALIZED AND octet_length(normalize(brand, NFC)) <= 200)
    OR EXISTS (SELECT FROM unnest(tags) AS t (tag) WHERE tag IS NOT NFC NORMALIZED AND octet_length(normalize(tag, NFC)) <= 64)
ORDER BY store_id, sku LIMIT 5000;
UPDATE product SET name = CASE WHEN octet_length(normalize(name, NFC)) <= 500 THEN normalize(name, NFC) ELSE name END,
    brand = CASE WHEN octet_length(normalize(brand, NFC)) <= 200 THEN normalize(brand, NFC) ELSE brand END,
    tags = ARRAY(SELECT n.tag FROM (
        SELECT CASE WHEN octet_length(normalize(t.tag, NFC)) <= 64 THEN normalize(t.tag, NFC) ELSE t.tag END AS tag, min(t.number) AS number
        FROM unnest(tags) WITH ORDINALITY AS t (tag, number) GROUP BY 1) n ORDER BY n.number)
WHERE (store_id, sku) IN (SELECT store_id, sku FROM composed_product);

-- Batches: texts of placements, and versions of their shelves
DROP TABLE IF EXISTS composed_placement;
CREATE TABLE composed_placement AS
SELECT store_id, shelf_id, sku FROM placement
WHERE (name IS NOT NFC NORMALIZED AND octet_length(normalize(name, NFC)) <= 500)
    OR (brand IS NOT NFC NORMALIZED AND octet_length(normalize(brand, NFC)) <= 200)
    OR EXISTS (SELECT FROM unnest(tags) AS t (tag) WHERE tag IS NOT NFC NORMALIZED AND octet_length(normalize(tag, NFC)) <= 64)
ORDER BY store_id, sku, shelf_id LIMIT 5000;
UPDATE shelf SET version = greatest(version + 1, (extract(epoch FROM now()) * 1000000)::bigint)
WHERE (store_id, shelf_id) IN (SELECT store_id, shelf_id FROM composed_placement);
UPDATE placement_popularity SET name = normalize(name, NFC)
WHERE (store_id, sku, shelf_id) IN (SELECT store_id, sku, shelf_id FROM composed_placement)
    AND name IS NOT NFC NORMALIZED AND octet_length(normalize(name, NFC)) <= 500;
UPDATE placement SET name = CASE WHEN octet_length(normalize(name, NFC)) <= 500 THEN normalize(name, NFC) ELSE name END,
    brand = CASE WHEN octet_length(normalize(brand, NFC)) <= 200 THEN normalize(brand, NFC) ELSE brand END,
    tags = ARRAY(SELECT n.tag FROM (
        SELECT CASE WHEN octet_length(normalize(t.tag, NFC)) <= 64 THEN normalize(t.tag, NFC) ELSE t.tag END AS tag, min(t.number) AS number
        FROM unnest(tags) WITH ORDINALITY AS t (tag, number) GROUP BY 1) n ORDER BY n.number)
WHERE (store_id, sku, shelf_id) IN (SELECT store_id, sku, shelf_id FROM composed_placement);

-- Step: titles of shelves and stores
DROP TABLE IF EXISTS composed_product, composed_placement;
UPDATE store_state SET version = greatest(version + 1, (extract(epoch FROM now()) * 1000000)::bigint)
WHERE store_id IN (SELECT store_id FROM store WHERE title IS NOT NFC NORMALIZED AND octet_length(normalize(title, NFC)) <= 200);
UPDATE store SET title = normalize(title, NFC) WHERE title IS NOT NFC NORMALIZED AND octet_length(normalize(title, NFC)) <= 200;
UPDATE shelf SET title = normalize(title, NFC), version = greatest(version + 1, (extract(epoch FROM now()) * 1000000)::bigint)
WHERE title IS NOT NFC NORMALIZED AND octet_length(normalize(title, NFC)) <= 200;
