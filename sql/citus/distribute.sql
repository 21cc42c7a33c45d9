-- Distributes the tables that are not distributed yet, with their rows, in one transaction. Run it on the coordinator after
-- CREATE EXTENSION citus, and again after each migration that creates tables. It works on every version of the schema, and does nothing
-- if there is nothing to do. It replaces the procedures that comments of migrations 1, 4 and 8 describe.
--
-- Tables of stores are distributed by store_id, tables of users by user_id; each group is colocated. The table
-- user_token is distributed by the token's digest, purchase_erasure by the customer. The tables import_run,
-- resort_run and schema_migration stay local on the coordinator, before version 35 purchase_row, and before version 18 import_row. Writers
-- wait while the rows are copied.
DO $$
DECLARE
    of_stores constant text[] := ARRAY['shelf', 'store_state', 'product', 'placement', 'placement_popularity', 'placement_position',
        'shelf_change', 'shelf_image', 'order_change', 'idempotency_record', 'purchase_event', 'purchase_inbox', 'purchase_stray', 'purchase_day', 'purchase_count',
        'purchase_by_customer', 'popularity_due', 'due_products', 'store_attribute', 'store_synonyms', 'store_audit', 'import_row'];
    of_users constant text[] := ARRAY['user_account', 'user_setting', 'user_ticket', 'user_idempotency_record', 'user_list',
        'user_list_item', 'user_list_share', 'user_list_place', 'user_list_member', 'user_event', 'user_audit'];
    -- The rows of these are on every node.
    references_of_all constant text[] := ARRAY['deployment', 'database_life', 'store', 'purchase_cell',
        'import_profile', 'attribute', 'deployment_synonyms'];
    -- Citus distributes functions automatically only if they are created after the extension.
    functions constant text[] := ARRAY['popularity_sum(double precision, double precision, double precision)',
        'popularity_on(double precision, date, integer)', 'audit_create_partitions(date)', 'audit_drop_partitions(integer)',
        'audit_erase_user(text, text, uuid, text, text, text, boolean)'];
    name text;
    pending text[] := '{}';
    key record;
    dropped text[] := '{}';
    added text[] := '{}';
    statement text;
BEGIN
    -- In a cluster without workers, Citus adds the coordinator automatically.
    IF EXISTS (SELECT FROM pg_dist_node) AND NOT EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0) THEN
        RAISE EXCEPTION 'the coordinator is not a node of the cluster'
            USING HINT = 'Run SELECT citus_set_coordinator_host(''<host>'', <port>) first.';
    END IF;
    PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);

    FOREACH name IN ARRAY references_of_all || of_stores || of_users || ARRAY['purchase_erasure', 'user_token'] LOOP
        CONTINUE WHEN to_regclass(name) IS NULL;
        CONTINUE WHEN name = 'import_row' AND NOT EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = 'import_row'::regclass AND attname = 'store_id' AND NOT attisdropped);
        -- A local table that a foreign key connects to a reference table is known to Citus, too, without being distributed.
        CONTINUE WHEN EXISTS (SELECT FROM citus_tables
            WHERE table_name = to_regclass(name) AND citus_table_type IN ('distributed', 'reference'));
        pending := pending || name;
    END LOOP;

    -- Before version 35, these tables are empty without Citus.
    IF 'user_list_member' = ANY (pending) THEN
        INSERT INTO user_list_member (user_id, list_id, member_id, share_id, left_at)
        SELECT owner_id, list_id, user_id, share_id, left_at FROM user_list_place WHERE role = 'owner' OR owner_id <> user_id
        ON CONFLICT DO NOTHING;
    END IF;
    IF 'user_token' = ANY (pending) THEN
        INSERT INTO user_token (digest, user_id, expires_at)
        SELECT digest, user_id, expires_at FROM user_list_share UNION SELECT digest, user_id, expires_at FROM user_ticket
        ON CONFLICT DO NOTHING;
    END IF;

    IF pending <> '{}' THEN
        -- Citus does not distribute a table while a local table has a foreign key to it, or it has one to a local table.
        FOR key IN
            SELECT conrelid::regclass AS of_table, conname, pg_get_constraintdef(oid) AS definition FROM pg_constraint
            WHERE contype = 'f' AND connamespace = current_schema()::regnamespace
                AND (conrelid::regclass::text = ANY (pending) OR confrelid::regclass::text = ANY (pending))
            ORDER BY conrelid::regclass::text, conname
        LOOP
            dropped := dropped || format('ALTER TABLE %s DROP CONSTRAINT %I', key.of_table, key.conname);
            added := added || format('ALTER TABLE %s ADD CONSTRAINT %I %s', key.of_table, key.conname, key.definition);
        END LOOP;
        FOREACH statement IN ARRAY dropped LOOP
            EXECUTE statement;
        END LOOP;

        -- Shards move by logical replication, which copies no unlogged table, and finds rows by a key.
        IF 'import_row' = ANY (pending) THEN
            ALTER TABLE import_row SET LOGGED;
            -- Before version 23, a row of a file is one row here.
            EXECUTE format('ALTER TABLE import_row ADD CONSTRAINT import_row_pkey PRIMARY KEY (store_id, import_id, line%s)',
                (SELECT ', part' FROM pg_attribute
                    WHERE attrelid = 'import_row'::regclass AND attname = 'part' AND NOT attisdropped));
        END IF;

        FOREACH name IN ARRAY pending LOOP
            IF name = ANY (references_of_all) THEN
                PERFORM create_reference_table(name);
            ELSIF name = 'purchase_erasure' THEN
                PERFORM create_distributed_table(name, 'customer', colocate_with => 'none');
            ELSIF name = 'user_token' THEN
                PERFORM create_distributed_table(name, 'digest', colocate_with => 'none');
            ELSIF name IN ('shelf', 'user_account') THEN
                PERFORM create_distributed_table(name, CASE name WHEN 'shelf' THEN 'store_id' ELSE 'user_id' END,
                    colocate_with => 'none');
            ELSIF name = ANY (of_stores) THEN
                PERFORM create_distributed_table(name, 'store_id', colocate_with => 'shelf');
            ELSE
                PERFORM create_distributed_table(name, 'user_id', colocate_with => 'user_account');
            END IF;
        END LOOP;
        -- The rows are in the shards now; without this, the coordinator keeps a second copy, which no statement sees.
        FOREACH name IN ARRAY pending LOOP
            PERFORM truncate_local_data_after_distributing_table(name);
        END LOOP;

        FOREACH statement IN ARRAY added LOOP
            EXECUTE statement;
        END LOOP;
    END IF;

    -- The same for the cells of purchases. A key would slow reports down, and cells have few rows.
    FOR name IN
        SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = to_regclass('purchase_inbox') AND c.relreplident <> 'f'
    LOOP
        EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', name);
    END LOOP;

    FOREACH name IN ARRAY functions LOOP
        CONTINUE WHEN to_regprocedure(name) IS NULL;
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_dist_object
            WHERE classid = 'pg_proc'::regclass AND objid = to_regprocedure(name));
        PERFORM create_distributed_function(name::regprocedure);
    END LOOP;
END $$;
