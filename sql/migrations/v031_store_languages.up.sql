-- Takes about: 60 s, 400 MB per million rows of product
-- Names, brands and titles are ordered by sort keys in the language of each store, with decimals by value, and no longer by a collation of the
-- database. Stores of a database whose collation has a language keep it; others have that of their locale. Servers of earlier schemas write
-- keys of the collation, so they must stop.

-- Step: languages
ALTER TABLE store ADD COLUMN IF NOT EXISTS sort_language text COLLATE "C";
ALTER TABLE shelf ADD COLUMN IF NOT EXISTS title_key bytea;
DO $$
DECLARE
    language text;
BEGIN
    -- PostgreSQL 17 has renamed the column.
    SELECT regexp_replace(coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale'), '-u-kn-true$', '') INTO language
    FROM pg_collation c WHERE c.collname = 'catalog' AND pg_collation_is_visible(c.oid);
    IF language NOT IN ('und', 'root') THEN
        EXECUTE format('UPDATE store SET sort_language = %L WHERE sort_language IS NULL', language);
    END IF;
END $$;

-- Program: sort keys in the languages of stores

-- Step: the rule of titles
ALTER TABLE shelf DROP CONSTRAINT IF EXISTS shelf_has_title_key;
ALTER TABLE shelf ADD CONSTRAINT shelf_has_title_key CHECK (title_key IS NOT NULL) NOT VALID;

-- Step: the check of the rule
ALTER TABLE shelf VALIDATE CONSTRAINT shelf_has_title_key;

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
