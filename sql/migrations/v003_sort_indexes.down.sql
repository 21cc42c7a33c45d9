DROP INDEX idempotency_record_by_age, placement_position_long_key;
DROP INDEX shelf_by_parent, shelf_by_modified, shelf_by_title, placement_by_sku;
DROP INDEX placement_by_position, placement_by_tags, placement_by_modified, placement_by_created, placement_by_name,
    placement_by_brand, placement_by_popularity, placement_by_unit_price, placement_by_price;
