ALTER TABLE placement DROP CONSTRAINT placement_pkey;
ALTER TABLE placement ADD CONSTRAINT placement_pkey PRIMARY KEY (store_id, shelf_id, sku);
CREATE INDEX placement_by_popularity ON placement (store_id, shelf_id, availability, popularity_log2 DESC, name, sku);
CREATE INDEX placement_by_sku ON placement (store_id, sku);
DROP TABLE placement_popularity;
ALTER TABLE product RESET (fillfactor);
