-- One index per sort key: what never turns (availability, a unit price's dimension), the key in its natural direction,
-- and the tail. Read forwards or backwards it serves both directions; values that are missing stand at its end.
CREATE INDEX placement_by_price ON placement (store_id, shelf_id, availability, price_minor, name, sku);
CREATE INDEX placement_by_unit_price ON placement (store_id, shelf_id, availability, unit_dimension, unit_price, name, sku);
CREATE INDEX placement_by_popularity ON placement (store_id, shelf_id, availability, popularity_log2 DESC, name, sku);
CREATE INDEX placement_by_brand ON placement (store_id, shelf_id, availability, brand, name, sku);
CREATE INDEX placement_by_name ON placement (store_id, shelf_id, availability, name, sku);
CREATE INDEX placement_by_created ON placement (store_id, shelf_id, availability, created_at DESC, name, sku);
CREATE INDEX placement_by_modified ON placement (store_id, shelf_id, availability, modified_at DESC, name, sku);
CREATE INDEX placement_by_tags ON placement (store_id, shelf_id, availability, tag_count DESC, name, sku);
-- Without products that were taken off, which may be many, and keep their keys.
CREATE INDEX placement_by_position ON placement_position (store_id, shelf_id, key) WHERE removed_at IS NULL;

-- The shelves of a product.
CREATE INDEX placement_by_sku ON placement (store_id, sku);
-- The shelves of a store, as they are listed.
CREATE INDEX shelf_by_title ON shelf (store_id, title, key) WHERE deleted_at IS NULL;
CREATE INDEX shelf_by_modified ON shelf (store_id, modified_at, key) WHERE deleted_at IS NULL;
CREATE INDEX shelf_by_parent ON shelf (store_id, parent_id) WHERE parent_id IS NOT NULL;

-- Keys that are due for compaction: none, nearly always.
CREATE INDEX placement_position_long_key ON placement_position (store_id, shelf_id, sku) WHERE octet_length(key) > 64;
-- What the sweep of old answers looks for.
CREATE INDEX idempotency_record_by_age ON idempotency_record (created_at);
