-- Compatible with: 22
-- A deleted store keeps its row, its state and its shelves, which are deleted, too: if it is created again, its versions go on, and no
-- version repeats. Its audit log stays readable.
ALTER TABLE store ADD COLUMN deleted_at timestamptz;
