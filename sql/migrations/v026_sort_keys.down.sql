ALTER TABLE deployment DROP COLUMN collator;
ALTER TABLE import_row DROP COLUMN name_key, DROP COLUMN brand_key;
ALTER TABLE product DROP COLUMN name_key, DROP COLUMN brand_key;
