-- Takes about: 60 s, 400 MB per million rows of product
-- Sort keys follow the languages of stores, with decimals by value, and titles of shelves have them, too. Nothing needs the collation of the
-- database any more.

-- Program: sort keys in the languages of stores

-- Step: the rule of titles
ALTER TABLE shelf ALTER COLUMN title_key SET NOT NULL;

-- Program: sort keys in the languages of stores, written meanwhile

-- Step: columns without the collation
DROP INDEX IF EXISTS shelf_by_title;
ALTER TABLE store ALTER COLUMN title TYPE text COLLATE "C";
ALTER TABLE shelf ALTER COLUMN title TYPE text COLLATE "C";
ALTER TABLE product ALTER COLUMN name TYPE text COLLATE "C", ALTER COLUMN brand TYPE text COLLATE "C";
ALTER TABLE import_row ALTER COLUMN name TYPE text COLLATE "C", ALTER COLUMN brand TYPE text COLLATE "C";
ALTER TABLE user_list ALTER COLUMN name TYPE text COLLATE "C";
ALTER TABLE user_list_item ALTER COLUMN text TYPE text COLLATE "C", ALTER COLUMN note TYPE text COLLATE "C";
DROP COLLATION IF EXISTS catalog;

-- Step: index of titles
CREATE INDEX CONCURRENTLY IF NOT EXISTS shelf_by_title_key ON shelf (store_id, title_key, title, key) WHERE deleted_at IS NULL;
