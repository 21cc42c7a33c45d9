-- What is a user's own. Without foreign keys: between this migration and the next the tables may be distributed by
-- user_id (distribute_users.sql).

-- The row is the lock of everything that is the user's, and counts its changes: the order of events.
CREATE TABLE user_account (
    user_id text COLLATE "C" CONSTRAINT user_account_pkey PRIMARY KEY,
    -- Of the last change.
    revision bigint NOT NULL,
    -- Deletions up to this one are forgotten: who knows less reads everything anew.
    horizon bigint NOT NULL,
    CONSTRAINT user_account_id_length CHECK (octet_length(user_id) BETWEEN 1 AND 255),
    CONSTRAINT user_account_horizon_bounds CHECK (horizon <= revision)
) WITH (fillfactor = 70);

CREATE TABLE user_setting (
    user_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    -- As it was written: jsonb would write out the digits of 1e4000. Null for one that was deleted.
    value json,
    revision bigint NOT NULL,
    -- When it was changed, on the device where that was; the later change wins.
    modified_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT user_setting_pkey PRIMARY KEY (user_id, key),
    -- The log of a user's changes, each setting where it changed last.
    CONSTRAINT user_setting_revision_unique UNIQUE (user_id, revision),
    CONSTRAINT user_setting_key_length CHECK (octet_length(key) BETWEEN 1 AND 256),
    CONSTRAINT user_setting_value_length CHECK (octet_length(value::text) <= 4096),
    CONSTRAINT user_setting_value_or_deleted CHECK ((value IS NULL) = (deleted_at IS NOT NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- What a browser opens its events with, once.
CREATE TABLE user_ticket (
    user_id text COLLATE "C" NOT NULL,
    -- A hash: what is read from here opens nothing.
    digest bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    token_expires_at timestamptz NOT NULL,
    CONSTRAINT user_ticket_pkey PRIMARY KEY (user_id, digest),
    CONSTRAINT user_ticket_digest_length CHECK (octet_length(digest) = 32)
);

-- As idempotency_record, for the calls about a user's own.
CREATE TABLE user_idempotency_record (
    user_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    status smallint NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT user_idempotency_record_pkey PRIMARY KEY (user_id, key),
    CONSTRAINT user_idempotency_record_key_length CHECK (octet_length(key) BETWEEN 1 AND 255)
);

-- What the sweeps look for.
CREATE INDEX user_setting_deleted ON user_setting (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX user_ticket_by_age ON user_ticket (expires_at);
-- A ticket does not tell whose it is.
CREATE INDEX user_ticket_by_digest ON user_ticket (digest);
CREATE INDEX user_idempotency_record_by_age ON user_idempotency_record (created_at);
