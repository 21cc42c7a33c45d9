-- The values are those of a run that is not alive, unless its lock is held.
ALTER TABLE import_run ADD COLUMN backend_pid integer NOT NULL DEFAULT 0,
    ADD COLUMN backend_start timestamptz NOT NULL DEFAULT now();
ALTER TABLE resort_run ADD COLUMN backend_pid integer NOT NULL DEFAULT 0,
    ADD COLUMN backend_start timestamptz NOT NULL DEFAULT now();
-- Rows of imports that have ended; the next import deletes them.
ALTER TABLE import_row ADD COLUMN store_key text COLLATE "C" NOT NULL DEFAULT '';
