-- Quantities with decimals are rounded up to pieces.
ALTER TABLE purchase_inbox ALTER COLUMN quantity TYPE integer USING (sign(quantity) * ceil(abs(quantity)))::integer;
ALTER TABLE purchase_stray ALTER COLUMN quantity TYPE integer USING (sign(quantity) * ceil(abs(quantity)))::integer;
DROP INDEX purchase_refund;
ALTER TABLE purchase_by_customer DROP COLUMN is_counted;
ALTER TABLE purchase_by_customer DROP CONSTRAINT purchase_by_customer_pkey;
ALTER TABLE purchase_by_customer ALTER COLUMN quantity TYPE bigint USING (sign(quantity) * ceil(abs(quantity)))::bigint;
ALTER TABLE purchase_by_customer ADD CONSTRAINT purchase_by_customer_pkey PRIMARY KEY (store_id, customer, day, sku);
