-- Compatible with: 36
-- Attributes of the deployment, which all stores have. Like stores, they are on every node of Citus.
CREATE TABLE attribute (
    name text COLLATE "C" CONSTRAINT attribute_pkey PRIMARY KEY,
    -- As the program writes it.
    document json NOT NULL,
    CONSTRAINT attribute_document_object CHECK (json_typeof(document) = 'object')
);
-- Attributes of a store, and its titles for those of the deployment.
CREATE TABLE store_attribute (
    store_id integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    document json NOT NULL,
    CONSTRAINT store_attribute_pkey PRIMARY KEY (store_id, name),
    CONSTRAINT store_attribute_document_object CHECK (json_typeof(document) = 'object')
);
-- Grows with each change of attributes of the deployment, and never repeats.
ALTER TABLE deployment ADD COLUMN attribute_revision bigint NOT NULL DEFAULT 0;
DO $$
DECLARE
    holder text;
BEGIN
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'placement'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE 'GRANT SELECT, INSERT, UPDATE, DELETE ON attribute, store_attribute TO ' || holder;
    END LOOP;
END $$;
