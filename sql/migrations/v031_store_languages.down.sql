ALTER TABLE shelf DROP COLUMN title_key;
ALTER TABLE store DROP COLUMN sort_language;
