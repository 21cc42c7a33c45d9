ALTER TABLE order_change DROP COLUMN placed;
