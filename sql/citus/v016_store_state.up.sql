-- Replaces the migration of this name where the tables are distributed. The new table is distributed before it
-- is filled, and the identity of shelf ids is dropped on each node, because Citus does not propagate that.
-- The state of a store, apart from its settings: it changes with the catalog, and transactions lock it. On Citus, it is on the shard
-- of the store's shelves, while the settings are a reference table.

-- Step: table of states
SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
CREATE TABLE IF NOT EXISTS store_state (
    store_id integer CONSTRAINT store_state_pkey PRIMARY KEY,
    -- Grows with every change of the store's settings, of the rule by which popularity was counted, and of the settings that shelves
    -- inherit from each other.
    version bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000000)::bigint,
    -- Grows with every change of the manual order of the store's shelves.
    shelf_order_version bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000000)::bigint,
    -- The rule by which popularity was counted last, and the day.
    counted_metric text COLLATE "C" NOT NULL DEFAULT 'decay',
    counted_half_life_days integer NOT NULL DEFAULT 14,
    counted_newcomer_boost double precision NOT NULL DEFAULT 0,
    counted_on date,
    -- The first day whose purchases have customers; purchases of earlier days are rejected. Null if all days have customers.
    customers_kept_from date
);
DO $$
BEGIN
    IF EXISTS (SELECT FROM citus_tables WHERE table_name = 'shelf'::regclass AND citus_table_type = 'distributed') THEN
        IF NOT EXISTS (SELECT FROM citus_tables WHERE table_name = 'store_state'::regclass AND citus_table_type = 'distributed') THEN
            PERFORM create_distributed_table('store_state', 'store_id', colocate_with => 'shelf');
        END IF;
    END IF;
END $$;
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'store_state_store_fkey' AND conrelid = 'store_state'::regclass) THEN
        ALTER TABLE store_state ADD CONSTRAINT store_state_store_fkey FOREIGN KEY (store_id) REFERENCES store (store_id);
    END IF;
END $$;

-- The columns of these names in store have no meaning from here on. Servers of 0.1 read them, so a later migration drops them.
LOCK TABLE store IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO store_state (store_id, version, shelf_order_version, counted_metric, counted_half_life_days, counted_newcomer_boost,
    counted_on, customers_kept_from)
SELECT store_id, version, shelf_order_version, counted_metric, counted_half_life_days, counted_newcomer_boost, counted_on,
    customers_kept_from FROM store ON CONFLICT (store_id) DO NOTHING;

-- Step: ids of shelves
-- The program assigns the ids of shelves, from 1 in each store, under the lock of the store's state.
SET LOCAL citus.enable_ddl_propagation TO off;
ALTER TABLE shelf ALTER COLUMN shelf_id DROP IDENTITY IF EXISTS;
DO $$
DECLARE
    failure text;
BEGIN
    -- Shards have no identity. Workers have a definition of the table, where it is distributed.
    SELECT format('%s:%s: %s', nodename, nodeport, result) INTO failure FROM run_command_on_workers($command$
        DO $worker$
        BEGIN
            IF to_regclass('shelf') IS NOT NULL THEN
                SET LOCAL citus.enable_ddl_propagation TO off;
                ALTER TABLE shelf ALTER COLUMN shelf_id DROP IDENTITY IF EXISTS;
            END IF;
        END $worker$ $command$) WHERE NOT success;
    IF FOUND THEN
        RAISE EXCEPTION 'the identity of shelf ids was not dropped on %', failure;
    END IF;
END $$;

-- Step: indexes and room
-- A shelf's time changes with every price. Without an index of it, and with room on its page, the row needs no new index entries; the
-- shelves of a store are few enough to sort.
DROP INDEX IF EXISTS shelf_by_modified;
ALTER TABLE shelf SET (fillfactor = 50);

-- A row of this queue is marked twice before it is deleted. With room on its page, this needs no new index entries.
ALTER TABLE popularity_due SET (fillfactor = 50);
