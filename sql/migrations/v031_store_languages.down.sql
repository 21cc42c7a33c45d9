-- Names, brands and titles are ordered by the root's collation again. Computing the keys of products again is left to the earlier program.
CREATE COLLATION IF NOT EXISTS catalog (provider = icu, locale = 'und-u-kn-true', deterministic = true);
DROP INDEX shelf_by_title_key;
ALTER TABLE store ALTER COLUMN title TYPE text COLLATE catalog;
ALTER TABLE shelf ALTER COLUMN title TYPE text COLLATE catalog;
ALTER TABLE product ALTER COLUMN name TYPE text COLLATE catalog, ALTER COLUMN brand TYPE text COLLATE catalog;
ALTER TABLE import_row ALTER COLUMN name TYPE text COLLATE catalog, ALTER COLUMN brand TYPE text COLLATE catalog;
ALTER TABLE user_list ALTER COLUMN name TYPE text COLLATE catalog;
ALTER TABLE user_list_item ALTER COLUMN text TYPE text COLLATE catalog, ALTER COLUMN note TYPE text COLLATE catalog;
CREATE INDEX shelf_by_title ON shelf (store_id, title, key) WHERE deleted_at IS NULL;
ALTER TABLE shelf DROP CONSTRAINT shelf_has_title_key;
ALTER TABLE shelf DROP COLUMN title_key;
ALTER TABLE store DROP COLUMN sort_language;
