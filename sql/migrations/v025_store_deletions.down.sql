ALTER TABLE import_row DROP COLUMN keeps_attributes, DROP COLUMN keeps_stock;
ALTER TABLE store_state DROP COLUMN deletions;
