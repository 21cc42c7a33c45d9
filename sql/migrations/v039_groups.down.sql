ALTER TABLE shelf DROP COLUMN collapses_groups;
ALTER TABLE import_row DROP COLUMN product_group;
ALTER TABLE product DROP COLUMN product_group;
