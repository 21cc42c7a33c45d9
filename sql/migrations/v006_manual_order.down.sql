ALTER TABLE placement_position RESET (fillfactor);
ALTER TABLE placement_position ADD CONSTRAINT placement_position_shelf_fkey
    FOREIGN KEY (store_id, shelf_id) REFERENCES shelf (store_id, shelf_id);
CREATE INDEX placement_by_position ON placement_position (store_id, shelf_id, key) WHERE removed_at IS NULL;
ALTER TABLE placement_position DROP CONSTRAINT placement_position_key_unique;
ALTER TABLE placement_position ADD CONSTRAINT placement_position_key_unique
    UNIQUE (store_id, shelf_id, key) DEFERRABLE INITIALLY IMMEDIATE;
ALTER TABLE placement_position DROP COLUMN is_removed;
