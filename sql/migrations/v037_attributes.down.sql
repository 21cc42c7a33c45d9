ALTER TABLE deployment DROP COLUMN attribute_revision;
DROP TABLE store_attribute;
DROP TABLE attribute;
