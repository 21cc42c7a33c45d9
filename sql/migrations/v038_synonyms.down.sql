DROP INDEX product_by_barcode;
ALTER TABLE deployment DROP COLUMN synonym_revision;
DROP TABLE store_synonyms;
DROP TABLE deployment_synonyms;
