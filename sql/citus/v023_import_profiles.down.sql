DELETE FROM import_row;
ALTER TABLE import_row DROP CONSTRAINT import_row_pkey;
ALTER TABLE import_row ADD CONSTRAINT import_row_pkey PRIMARY KEY (store_id, import_id, line);
ALTER TABLE import_row DROP COLUMN attributes, DROP COLUMN part;
DROP TABLE import_profile;
