-- Compatible with: 16
-- The audit log: who changed what, when, from where, by which token. Entries are only added. Each month is a partition, which is dropped
-- as a whole. An entry is written by the transaction that it describes, so it is on the shard of what changed.
CREATE TABLE store_audit (
    store_id integer NOT NULL,
    -- When the transaction began.
    at timestamptz NOT NULL,
    audit_id uuid NOT NULL,
    action text COLLATE "C" NOT NULL,
    -- The interface: api, cli or server.
    source text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    -- The address of the client, or the host of a command.
    address text COLLATE "C",
    -- The id of the token or a hash of it, never the token.
    token text COLLATE "C",
    request_id text COLLATE "C",
    -- The key of the product or shelf; null for a change of several, or of the store.
    subject text COLLATE "C",
    detail json NOT NULL,
    CONSTRAINT store_audit_pkey PRIMARY KEY (store_id, at, audit_id),
    CONSTRAINT store_audit_source_known CHECK (source IN ('api', 'cli', 'server'))
) PARTITION BY RANGE (at);
-- The same about users' own data. It has no values of settings and no texts of lists. Erasing a user deletes the user's entries.
CREATE TABLE user_audit (
    user_id text COLLATE "C" NOT NULL,
    at timestamptz NOT NULL,
    audit_id uuid NOT NULL,
    action text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    actor text COLLATE "C" NOT NULL,
    address text COLLATE "C",
    token text COLLATE "C",
    request_id text COLLATE "C",
    subject text COLLATE "C",
    detail json NOT NULL,
    CONSTRAINT user_audit_pkey PRIMARY KEY (user_id, at, audit_id),
    CONSTRAINT user_audit_source_known CHECK (source IN ('api', 'cli', 'server'))
) PARTITION BY RANGE (at);
-- For entries of months without a partition, so that no write fails. They are moved when the partition is created.
CREATE TABLE store_audit_default PARTITION OF store_audit DEFAULT;
CREATE TABLE user_audit_default PARTITION OF user_audit DEFAULT;

-- Servers cannot create or drop tables, or change or delete entries. These functions do it for them with the rights of the owner.

-- Creates the partitions of the month of a day and of the next month; returns their number.
CREATE FUNCTION audit_create_partitions(today date) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET TimeZone = 'UTC' AS $$
DECLARE
    parent text;
    partition text;
    holder text;
    month timestamptz;
    created integer := 0;
BEGIN
    IF today NOT BETWEEN current_date - 366 AND current_date + 366 THEN
        RAISE EXCEPTION 'partitions can be created for days within a year of today';
    END IF;
    FOREACH parent IN ARRAY ARRAY['store_audit', 'user_audit'] LOOP
        FOR n IN 0..1 LOOP
            month := date_trunc('month', today::timestamptz) + n * interval '1 month';
            partition := parent || to_char(month, '_YYYYMM');
            CONTINUE WHEN to_regclass(partition) IS NOT NULL;
            -- Another server may be creating it.
            EXECUTE format('LOCK TABLE %I IN SHARE UPDATE EXCLUSIVE MODE', parent);
            CONTINUE WHEN to_regclass(partition) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', partition, parent);
            -- Default privileges would allow servers to change it directly.
            FOR holder IN
                SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
                FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = partition::regclass AND a.grantee <> c.relowner
            LOOP
                EXECUTE format('REVOKE ALL ON %I FROM %s', partition, holder);
            END LOOP;
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
            -- Citus would keep the rows of a table that is attached with rows on the coordinator, too.
            EXECUTE format('CREATE TEMPORARY TABLE moved AS SELECT * FROM %I WHERE at >= $1 AND at < $2', parent || '_default')
                USING month, month + interval '1 month';
            EXECUTE format('DELETE FROM %I WHERE at >= $1 AND at < $2', parent || '_default') USING month, month + interval '1 month';
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                parent, partition, month, month + interval '1 month');
            EXECUTE format('INSERT INTO %I SELECT * FROM pg_temp.moved', partition);
            DROP TABLE pg_temp.moved;
            created := created + 1;
        END LOOP;
    END LOOP;
    RETURN created;
END $$;

-- Drops the months that ended a number of days ago, by the clock of the database; returns their number. The last 30 days cannot be
-- dropped, not even by an intruder in a server.
CREATE FUNCTION audit_drop_partitions(kept_days integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET TimeZone = 'UTC' AS $$
DECLARE
    first_kept date := current_date - kept_days;
    partition text;
    dropped integer := 0;
BEGIN
    IF kept_days < 30 THEN
        RAISE EXCEPTION 'entries of the last 30 days cannot be dropped';
    END IF;
    FOR partition IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent IN ('store_audit'::regclass, 'user_audit'::regclass) AND c.relname ~ '_[0-9]{6}$' ORDER BY c.relname
    LOOP
        CONTINUE WHEN to_date(right(partition, 6), 'YYYYMM') + interval '1 month' > first_kept;
        EXECUTE format('DROP TABLE %I', partition);
        dropped := dropped + 1;
    END LOOP;
    DELETE FROM store_audit_default WHERE at < date_trunc('month', first_kept::timestamptz);
    DELETE FROM user_audit_default WHERE at < date_trunc('month', first_kept::timestamptz);
    RETURN dropped;
END $$;

-- Deletes the entries of a user without an account, and adds one under a hash of the user's id, so that no deletion goes
-- unnoticed; returns the number of deleted entries. Without entries, one is added only if there was an account.
CREATE FUNCTION audit_erase_user(erased text, erased_hash text, entry uuid, entry_action text, entry_source text, entry_request text,
    had_account boolean)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    deleted bigint;
BEGIN
    -- A user who did not exist may be created meanwhile. One who was deleted cannot, before the end of the transaction.
    IF EXISTS (SELECT FROM user_account WHERE user_id = erased) THEN
        RETURN 0;
    END IF;
    IF entry_action NOT IN ('user.erase', 'user.merge') THEN
        RAISE EXCEPTION 'entries are deleted only by an erasure or a merge';
    END IF;
    DELETE FROM user_audit WHERE user_id = erased;
    GET DIAGNOSTICS deleted = ROW_COUNT;
    IF deleted = 0 AND NOT had_account THEN
        RETURN 0;
    END IF;
    INSERT INTO user_audit (user_id, at, audit_id, action, source, actor, request_id, detail)
    VALUES (erased_hash, now(), entry, entry_action, entry_source, erased_hash, entry_request, format('{"entries":%s}', deleted)::json);
    RETURN deleted;
END $$;

DO $$
DECLARE
    signature text;
    holder text;
BEGIN
    FOREACH signature IN ARRAY ARRAY['audit_create_partitions(date)', 'audit_drop_partitions(integer)',
        'audit_erase_user(text, text, uuid, text, text, text, boolean)']
    LOOP
        -- With the rights of the owner, only names of this schema and of the system are looked up.
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
    FOR holder IN
        SELECT DISTINCT quote_ident(pg_get_userbyid(a.grantee)) FROM pg_class c, aclexplode(c.relacl) a
        WHERE c.oid = 'purchase_event'::regclass AND a.privilege_type = 'DELETE' AND a.grantee NOT IN (0, c.relowner)
    LOOP
        EXECUTE format('REVOKE ALL ON store_audit, user_audit, store_audit_default, user_audit_default FROM %s', holder);
        EXECUTE format('GRANT SELECT, INSERT ON store_audit, user_audit TO %s', holder);
        EXECUTE format('GRANT EXECUTE ON FUNCTION audit_create_partitions, audit_drop_partitions, audit_erase_user TO %s', holder);
    END LOOP;
    PERFORM audit_create_partitions((now() AT TIME ZONE 'UTC')::date);
END $$;
