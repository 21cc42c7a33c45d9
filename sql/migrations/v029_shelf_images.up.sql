-- Shelves as they are in memory, in one value each: servers read shelves from them, because rows would cost them and the database six times as
-- much. A server that read a shelf without an image writes it later. An image is used with the changes since its version; without a complete
-- chain of these, or with another format, the shelf is read as a whole. So a missing or old image costs time only, and backups need none.
CREATE TABLE shelf_image (
    store_id integer NOT NULL,
    shelf_id integer NOT NULL,
    version bigint NOT NULL,
    -- A number for the layout and for the collator whose keys the image contains.
    format bigint NOT NULL,
    -- When a server used the shelf last, to the hour.
    used_at timestamptz NOT NULL,
    image bytea NOT NULL,
    CONSTRAINT shelf_image_pkey PRIMARY KEY (store_id, shelf_id)
);
-- Reading LZ4 takes a fifth of the time of the default. Not every PostgreSQL has it.
DO $$
BEGIN
    ALTER TABLE shelf_image ALTER COLUMN image SET COMPRESSION lz4;
EXCEPTION
    WHEN feature_not_supported THEN NULL;
END $$;
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'placement'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON shelf_image TO ' || holder;
    END LOOP;
END $$;
