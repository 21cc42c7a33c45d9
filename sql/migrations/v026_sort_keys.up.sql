-- Sort keys of names and brands, which the program computes: compared byte by byte, they have the order of a language without a collation
-- in the database. Servers of earlier versions do not write them, so these stop before the next migration computes the missing ones.
ALTER TABLE product ADD COLUMN name_key bytea, ADD COLUMN brand_key bytea;
ALTER TABLE import_row ADD COLUMN name_key bytea, ADD COLUMN brand_key bytea;
-- The version of the collator that computed the keys of all products. Null before the first computation.
ALTER TABLE deployment ADD COLUMN collator text COLLATE "C";
