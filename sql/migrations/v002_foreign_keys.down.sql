ALTER TABLE order_change DROP CONSTRAINT order_change_shelf_fkey;
ALTER TABLE placement_position DROP CONSTRAINT placement_position_shelf_fkey;
ALTER TABLE placement DROP CONSTRAINT placement_product_fkey;
ALTER TABLE placement DROP CONSTRAINT placement_shelf_fkey;
ALTER TABLE product DROP CONSTRAINT product_store_fkey;
ALTER TABLE shelf DROP CONSTRAINT shelf_parent_fkey;
ALTER TABLE shelf DROP CONSTRAINT shelf_store_fkey;
