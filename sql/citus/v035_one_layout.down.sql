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
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'purchase_event'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON purchase_row TO ' || holder;
    END LOOP;
END $$;
CREATE INDEX user_list_place_by_list ON user_list_place (owner_id, list_id);
CREATE INDEX user_list_share_by_digest ON user_list_share (digest);
CREATE INDEX user_ticket_by_digest ON user_ticket (digest);
-- NULL until the settings are counted.
ALTER TABLE user_account ADD COLUMN live_settings integer;
