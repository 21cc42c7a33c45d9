-- What a version of a shelf changed, so that a server that has an earlier one in memory reads only the changed products. Rows of one shelf form
-- a chain by their versions. Where one is missing, because too much changed or it was trimmed, the shelf is read as a whole. Servers of earlier
-- versions compact ordering keys without a new version, so they must stop.
CREATE TABLE shelf_change (
    store_id integer NOT NULL,
    shelf_id integer NOT NULL,
    version bigint NOT NULL,
    previous_version bigint NOT NULL,
    -- The products whose values, place in the manual order or presence on the shelf changed; empty if only settings of the shelf did.
    skus text[] COLLATE "C" NOT NULL,
    CONSTRAINT shelf_change_pkey PRIMARY KEY (store_id, shelf_id, version)
);
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'placement'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON shelf_change TO ' || holder;
    END LOOP;
END $$;
