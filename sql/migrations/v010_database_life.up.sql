-- A version grows with the clock, so that a database that lost its last commits never assigns a lost version again.
ALTER TABLE store
    ALTER COLUMN version SET DEFAULT (extract(epoch FROM now()) * 1000000)::bigint,
    ALTER COLUMN shelf_order_version SET DEFAULT (extract(epoch FROM now()) * 1000000)::bigint;
ALTER TABLE shelf
    ALTER COLUMN version SET DEFAULT (extract(epoch FROM now()) * 1000000)::bigint,
    ALTER COLUMN order_version SET DEFAULT (extract(epoch FROM now()) * 1000000)::bigint;

-- The lives of the database: after a failover or a restore it has another identity, and may have lost commits. Devices that
-- synced before the start of its present life resync.
CREATE TABLE database_life (
    identity text COLLATE "C" CONSTRAINT database_life_pkey PRIMARY KEY,
    -- Microseconds since 1970.
    started_at bigint NOT NULL
);
-- The present life began before all that is stored.
INSERT INTO database_life (identity, started_at)
SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/'
    || (SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || 'database_life'::regclass::oid, 0
FROM pg_control_system();
