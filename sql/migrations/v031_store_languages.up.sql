-- Each store has a language, by whose rules its names, brands and titles are ordered. Stores of a database whose collation has a language
-- keep that; others have the language of their locale. Servers of earlier schemas write sort keys of the collation, so stop them before the
-- next migration, which computes those of the languages.
ALTER TABLE store ADD COLUMN sort_language text COLLATE "C";
ALTER TABLE shelf ADD COLUMN title_key bytea;
DO $$
DECLARE
    language text;
BEGIN
    -- PostgreSQL 16 shortens tags, and 17 has renamed the column.
    SELECT regexp_replace(coalesce(to_jsonb(c) ->> 'colllocale', to_jsonb(c) ->> 'colliculocale'), '-u-kn(-true)?$', '')
    INTO language FROM pg_collation c WHERE c.collname = 'catalog' AND pg_collation_is_visible(c.oid);
    IF language NOT IN ('und', 'root') THEN
        EXECUTE format('UPDATE store SET sort_language = %L WHERE locale <> %L AND locale NOT LIKE %L', language, language, language || '-%');
    END IF;
END $$;
