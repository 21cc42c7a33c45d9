-- The collation has no language again. Sort keys of products stay as they are: the earlier program computes those of the collation with
-- `aisle db recollate`.
CREATE COLLATION IF NOT EXISTS catalog (provider = icu, locale = 'und-u-kn-true', deterministic = true);
DROP INDEX shelf_by_title_key;
ALTER TABLE store ALTER COLUMN title TYPE text COLLATE catalog;
ALTER TABLE shelf ALTER COLUMN title TYPE text COLLATE catalog, ALTER COLUMN title_key DROP NOT NULL;
ALTER TABLE product ALTER COLUMN name TYPE text COLLATE catalog, ALTER COLUMN brand TYPE text COLLATE catalog;
ALTER TABLE import_row ALTER COLUMN name TYPE text COLLATE catalog, ALTER COLUMN brand TYPE text COLLATE catalog;
ALTER TABLE user_list ALTER COLUMN name TYPE text COLLATE catalog;
ALTER TABLE user_list_item ALTER COLUMN text TYPE text COLLATE catalog, ALTER COLUMN note TYPE text COLLATE catalog;
CREATE INDEX shelf_by_title ON shelf (store_id, title, key) WHERE deleted_at IS NULL;
