-- Compatible with: 38
-- Products with the same group are shown as one card, if a request or its shelf wants that.
ALTER TABLE product ADD COLUMN product_group text COLLATE "C";
ALTER TABLE import_row ADD COLUMN product_group text COLLATE "C";
ALTER TABLE shelf ADD COLUMN collapses_groups boolean NOT NULL DEFAULT false;
