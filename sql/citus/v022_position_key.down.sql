ALTER TABLE placement_position DROP CONSTRAINT placement_position_pkey;
ALTER TABLE placement_position ADD CONSTRAINT placement_position_pkey PRIMARY KEY (store_id, shelf_id, sku);
