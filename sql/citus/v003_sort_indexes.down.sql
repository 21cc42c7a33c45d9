-- Replaces the script of this name where the tables are distributed. Citus drops one index per statement.
DROP INDEX idempotency_record_by_age;
DROP INDEX placement_position_long_key;
DROP INDEX shelf_by_parent;
DROP INDEX shelf_by_modified;
DROP INDEX shelf_by_title;
DROP INDEX placement_by_sku;
DROP INDEX placement_by_position;
DROP INDEX placement_by_tags;
DROP INDEX placement_by_modified;
DROP INDEX placement_by_created;
DROP INDEX placement_by_name;
DROP INDEX placement_by_brand;
DROP INDEX placement_by_popularity;
DROP INDEX placement_by_unit_price;
DROP INDEX placement_by_price;
