ALTER TABLE import_row DROP COLUMN attributes, DROP COLUMN part;
DROP TABLE import_profile;
