-- Takes about: 25 s, 200 MB per million rows of purchase_by_customer
-- Quantities may have decimals, and a customer's day records whether it counts: a refund cancels purchases of earlier days. Rows of a
-- customer and product are adjacent. Meanwhile, folds and exports of purchases wait, and reports of purchases go on.
ALTER TABLE purchase_by_customer DROP CONSTRAINT purchase_by_customer_pkey;
ALTER TABLE purchase_by_customer ALTER COLUMN quantity TYPE numeric;
ALTER TABLE purchase_by_customer ADD CONSTRAINT purchase_by_customer_pkey PRIMARY KEY (store_id, customer, sku, day);
-- Whether purchase_count includes the customer on this day.
ALTER TABLE purchase_by_customer ADD COLUMN is_counted boolean NOT NULL DEFAULT true;
UPDATE purchase_by_customer SET is_counted = false WHERE quantity <= 0;
ALTER TABLE purchase_by_customer ALTER COLUMN is_counted DROP DEFAULT;
-- A fold reads all days of a customer and product only if there is a refund.
CREATE INDEX purchase_refund ON purchase_by_customer (store_id, customer, sku) WHERE quantity < 0;
-- Reports of purchases write these tables, so they are last.
ALTER TABLE purchase_stray ALTER COLUMN quantity TYPE numeric;
ALTER TABLE purchase_inbox ALTER COLUMN quantity TYPE numeric;
