-- Compatible with: 16
-- Columns and tables that let each statement use one shard on Citus.

-- Staged rows of imports name their store by its id, too. Servers of version 17 do not write it.
ALTER TABLE import_row ADD COLUMN store_id integer NOT NULL DEFAULT 0;

-- The members of lists by owner. On Citus, rows of user_list_place are on the shards of the members; elsewhere, this table is empty.
CREATE TABLE user_list_member (
    -- The owner of the list.
    user_id text COLLATE "C" NOT NULL,
    list_id uuid NOT NULL,
    member_id text COLLATE "C" NOT NULL,
    -- The share through which the member joined; null for the owner.
    share_id uuid,
    -- When the member left the list.
    left_at timestamptz,
    CONSTRAINT user_list_member_pkey PRIMARY KEY (user_id, list_id, member_id)
);
CREATE INDEX user_list_member_left ON user_list_member (left_at) WHERE left_at IS NOT NULL;
-- The owner of each ticket and share by the digest of its token, which is all that its bearer has. Elsewhere than on Citus, this table
-- is empty.
CREATE TABLE user_token (
    digest bytea CONSTRAINT user_token_pkey PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX user_token_by_user ON user_token (user_id);
CREATE INDEX user_token_expiry ON user_token (expires_at);
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'user_list_place'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON user_list_member, user_token TO ' || holder;
    END LOOP;
END $$;
