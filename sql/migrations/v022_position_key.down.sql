ALTER TABLE placement ALTER COLUMN shelf_id RESET (n_distinct);
ALTER TABLE placement_popularity ALTER COLUMN shelf_id RESET (n_distinct);
ALTER TABLE placement_position ALTER COLUMN shelf_id RESET (n_distinct);
ALTER TABLE placement_position DROP CONSTRAINT placement_position_pkey;
ALTER TABLE placement_position ADD CONSTRAINT placement_position_pkey PRIMARY KEY (store_id, shelf_id, sku);
