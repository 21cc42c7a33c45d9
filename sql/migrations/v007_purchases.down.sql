DROP TABLE resort_run, purchase_row, popularity_due, purchase_day, purchase_stray, purchase_inbox, purchase_event;
DROP FUNCTION popularity_on(double precision, date, integer);
DROP FUNCTION popularity_sum(double precision, double precision, double precision);
ALTER TABLE shelf DROP COLUMN resorted_version;
ALTER TABLE product DROP COLUMN purchases_log2;
ALTER TABLE store DROP COLUMN counted_metric, DROP COLUMN counted_half_life_days, DROP COLUMN counted_newcomer_boost,
    DROP COLUMN counted_on, DROP COLUMN customers_kept_from;
ALTER TABLE deployment DROP COLUMN customer_key;
