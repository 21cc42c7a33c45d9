ALTER TABLE product DROP CONSTRAINT product_has_sort_keys;
