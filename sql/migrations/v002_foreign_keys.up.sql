-- One named foreign key per statement, each inside the distribution key or to a reference table.
ALTER TABLE shelf ADD CONSTRAINT shelf_store_fkey FOREIGN KEY (store_id) REFERENCES store (store_id);
ALTER TABLE shelf ADD CONSTRAINT shelf_parent_fkey FOREIGN KEY (store_id, parent_id) REFERENCES shelf (store_id, shelf_id);
ALTER TABLE product ADD CONSTRAINT product_store_fkey FOREIGN KEY (store_id) REFERENCES store (store_id);
ALTER TABLE placement ADD CONSTRAINT placement_shelf_fkey FOREIGN KEY (store_id, shelf_id) REFERENCES shelf (store_id, shelf_id);
ALTER TABLE placement ADD CONSTRAINT placement_product_fkey FOREIGN KEY (store_id, sku) REFERENCES product (store_id, sku);
ALTER TABLE placement_position ADD CONSTRAINT placement_position_shelf_fkey FOREIGN KEY (store_id, shelf_id) REFERENCES shelf (store_id, shelf_id);
ALTER TABLE order_change ADD CONSTRAINT order_change_shelf_fkey FOREIGN KEY (store_id, shelf_id) REFERENCES shelf (store_id, shelf_id);
