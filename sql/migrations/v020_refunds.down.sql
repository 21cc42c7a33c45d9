-- A refund cancels purchases of its own day only.
INSERT INTO purchase_count AS c (store_id, sku, day, count)
SELECT store_id, sku, day, count(*) FROM purchase_by_customer WHERE quantity > 0 AND NOT is_counted
GROUP BY store_id, sku, day
ON CONFLICT (store_id, sku, day) DO UPDATE SET count = c.count + excluded.count;
INSERT INTO popularity_due AS u (store_id, sku, mark)
SELECT DISTINCT store_id, sku, (extract(epoch FROM now()) * 1000000)::bigint FROM purchase_by_customer
WHERE quantity > 0 AND NOT is_counted
ON CONFLICT (store_id, sku) DO UPDATE SET mark = abs(u.mark) + 1;
UPDATE purchase_by_customer SET is_counted = true WHERE quantity > 0 AND NOT is_counted;
