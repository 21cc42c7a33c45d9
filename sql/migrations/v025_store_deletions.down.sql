ALTER TABLE store_state DROP COLUMN deletions;
