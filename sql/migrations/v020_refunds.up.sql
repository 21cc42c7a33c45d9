-- Refunds that were folded before cancel their customer's latest purchases of earlier days, too. Repeating this changes nothing.
CREATE TABLE purchase_settled AS
SELECT t.store_id, t.customer, t.sku, t.day, t.quantity, t.was_counted,
    t.quantity > 0 AND min(t.total) OVER (PARTITION BY t.store_id, t.customer, t.sku ORDER BY t.day DESC)
        > greatest(0, t.total - t.quantity) AS is_counted
FROM (
    SELECT b.store_id, b.customer, b.sku, b.day, b.quantity, b.is_counted AS was_counted,
        sum(b.quantity) OVER (PARTITION BY b.store_id, b.customer, b.sku ORDER BY b.day) AS total
    FROM purchase_by_customer b
    JOIN (SELECT DISTINCT store_id, customer, sku FROM purchase_by_customer WHERE quantity < 0) f
        ON f.store_id = b.store_id AND f.customer = b.customer AND f.sku = b.sku) t;
INSERT INTO purchase_count AS c (store_id, sku, day, count)
SELECT store_id, sku, day, sum(is_counted::integer - was_counted::integer) FROM purchase_settled
WHERE is_counted <> was_counted GROUP BY store_id, sku, day ORDER BY store_id, sku, day
ON CONFLICT (store_id, sku, day) DO UPDATE SET count = c.count + excluded.count;
INSERT INTO popularity_due AS u (store_id, sku, mark)
SELECT DISTINCT store_id, sku, (extract(epoch FROM now()) * 1000000)::bigint FROM purchase_settled
WHERE is_counted <> was_counted ORDER BY store_id, sku
ON CONFLICT (store_id, sku) DO UPDATE SET mark = abs(u.mark) + 1;
INSERT INTO purchase_by_customer AS b (store_id, customer, sku, day, quantity, is_counted)
SELECT store_id, customer, sku, day, quantity, is_counted FROM purchase_settled
WHERE is_counted <> was_counted ORDER BY store_id, customer, sku, day
ON CONFLICT (store_id, customer, sku, day) DO UPDATE SET is_counted = excluded.is_counted;
DROP TABLE purchase_settled;
