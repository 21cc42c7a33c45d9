-- Replaces the migration of this name where the tables are distributed. Only the statement that sets customer_key differs.
-- Purchases: what came in, what it adds up to, and whose popularity it changes. Without foreign keys, as in migration 1.

-- The key of the hashes that replace customers.
ALTER TABLE deployment ADD COLUMN customer_key bytea;
-- Each node would compute another key, so Citus refuses volatile functions here.
DO $$
DECLARE
    random_key bytea := decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
BEGIN
    UPDATE deployment SET customer_key = random_key;
END $$;
ALTER TABLE deployment ALTER COLUMN customer_key SET NOT NULL;

-- The rule by which popularity was counted last, and the day; a changed rule holds from the next count on.
ALTER TABLE store ADD COLUMN counted_metric text COLLATE "C" NOT NULL DEFAULT 'decay';
ALTER TABLE store ADD COLUMN counted_half_life_days integer NOT NULL DEFAULT 14;
ALTER TABLE store ADD COLUMN counted_newcomer_boost double precision NOT NULL DEFAULT 0;
ALTER TABLE store ADD COLUMN counted_on date;
-- Purchases of earlier days have no customers any more, so they cannot be distinguished from counted ones.
ALTER TABLE store ADD COLUMN customers_kept_from date;
UPDATE store SET counted_half_life_days = popularity_half_life_days;

-- log₂ of what purchases alone add up to, each doubled every half-life since 2020-01-01, not rounded; −∞ for none.
ALTER TABLE product ADD COLUMN purchases_log2 double precision NOT NULL DEFAULT '-Infinity';
ALTER TABLE product ADD CONSTRAINT product_purchases_number CHECK (purchases_log2 <> 'NaN' AND purchases_log2 <> 'Infinity');

-- The version that the last re-sort left; null before the first.
ALTER TABLE shelf ADD COLUMN resorted_version bigint;

-- log₂(2ᵃ + 2ᵇ + 2ᶜ), to 10⁻⁶; −∞ means nothing. Differences beyond 1000 do not count, and would underflow.
CREATE FUNCTION popularity_sum(a double precision, b double precision, c double precision)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN greatest(a, b, c) = '-Infinity' THEN '-Infinity'
    ELSE round((greatest(a, b, c) + ln(power(2, greatest(a - greatest(a, b, c), -1000))
        + power(2, greatest(b - greatest(a, b, c), -1000)) + power(2, greatest(c - greatest(a, b, c), -1000)))
        / ln(2::double precision)) * 1e6) / 1e6 END;

-- log₂ of so many purchases on one day, each doubled every half-life since 2020-01-01.
CREATE FUNCTION popularity_on(purchases double precision, day date, half_life integer)
RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN purchases > 0 THEN ln(purchases) / ln(2::double precision)
    + (day - date '2020-01-01')::double precision / half_life ELSE '-Infinity' END;

-- The ids of the events that came: each counts once. Forgotten with the days themselves.
CREATE TABLE purchase_event (
    store_id integer NOT NULL,
    event_id uuid NOT NULL,
    day date NOT NULL,
    CONSTRAINT purchase_event_pkey PRIMARY KEY (store_id, event_id)
);

-- Purchases that came and are not folded into days yet.
CREATE TABLE purchase_inbox (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    inbox_id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    -- A keyed hash; empty for nobody.
    customer bytea NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT purchase_inbox_pkey PRIMARY KEY (store_id, sku, inbox_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- The same of products that the store does not have: they wait for them.
CREATE TABLE purchase_stray (
    store_id integer NOT NULL,
    event_id uuid NOT NULL,
    sku text COLLATE "C" NOT NULL,
    day date NOT NULL,
    customer bytea NOT NULL,
    quantity integer NOT NULL,
    CONSTRAINT purchase_stray_pkey PRIMARY KEY (store_id, event_id)
);

-- The quantity of a product that a customer bought on a UTC day, without refunds; the row without a customer counts events, refunds as −1.
CREATE TABLE purchase_day (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    day date NOT NULL,
    customer bytea NOT NULL,
    quantity bigint NOT NULL,
    CONSTRAINT purchase_day_pkey PRIMARY KEY (store_id, sku, day, customer)
);
-- For the erasure and the export of a customer.
CREATE INDEX purchase_day_by_customer ON purchase_day (store_id, customer) WHERE customer <> '';

-- Products whose popularity must be counted again, or copied to their shelves.
CREATE TABLE popularity_due (
    store_id integer NOT NULL,
    sku text COLLATE "C" NOT NULL,
    -- Grows each time: who has counted takes away only what was due then.
    mark bigint NOT NULL,
    CONSTRAINT popularity_due_pkey PRIMARY KEY (store_id, sku)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Events on their way in, of many at once.
CREATE UNLOGGED TABLE purchase_row (
    batch uuid NOT NULL,
    line integer NOT NULL,
    event_id uuid NOT NULL,
    sku text COLLATE "C" NOT NULL,
    day date NOT NULL,
    customer bytea NOT NULL,
    quantity integer NOT NULL
);
CREATE INDEX purchase_row_by_batch ON purchase_row (batch);

-- The re-sorts that were run.
CREATE TABLE resort_run (
    run_id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT resort_run_pkey PRIMARY KEY,
    backend_pid integer NOT NULL,
    backend_start timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz,
    -- The request, as JSON.
    request text NOT NULL,
    failure text,
    events bigint NOT NULL DEFAULT 0,
    products bigint NOT NULL DEFAULT 0,
    shelves bigint NOT NULL DEFAULT 0,
    changed bigint NOT NULL DEFAULT 0,
    moved bigint NOT NULL DEFAULT 0
);
