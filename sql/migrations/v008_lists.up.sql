-- Users' lists. Without foreign keys: between this migration and the next the tables may be distributed by user_id
-- (distribute_lists.sql).

-- A list is its owner's: the row is the lock of all that stands on it, and of who has it.
CREATE TABLE user_list (
    user_id text COLLATE "C" NOT NULL,
    list_id uuid NOT NULL,
    name text COLLATE catalog NOT NULL,
    -- Whether a checked item sinks below those that are not.
    auto_sort boolean NOT NULL,
    sort text COLLATE "C" NOT NULL,
    -- Grows with every change of the list or its items.
    version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    modified_at timestamptz NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT user_list_pkey PRIMARY KEY (user_id, list_id),
    CONSTRAINT user_list_name_length CHECK (octet_length(name) BETWEEN 1 AND 200),
    CONSTRAINT user_list_sort_known CHECK (
        sort IN ('position', 'name', '-name', 'shelf', 'price', '-price', 'unit_price', '-unit_price'))
) WITH (fillfactor = 70);

CREATE TABLE user_list_item (
    user_id text COLLATE "C" NOT NULL,
    list_id uuid NOT NULL,
    item_id uuid NOT NULL,
    -- A product of a store, which may be gone; or neither.
    store_id integer,
    sku text COLLATE "C",
    text text COLLATE catalog NOT NULL,
    quantity numeric NOT NULL,
    note text COLLATE catalog,
    is_checked boolean NOT NULL,
    -- Its place in the manual order: a path key.
    key bytea NOT NULL,
    -- The list's version when it changed last.
    version bigint NOT NULL,
    created_at timestamptz NOT NULL,
    modified_at timestamptz NOT NULL,
    deleted_at timestamptz,
    -- When each field was changed last, in microseconds since 1970, on the device where that was.
    changes jsonb NOT NULL,
    CONSTRAINT user_list_item_pkey PRIMARY KEY (user_id, list_id, item_id),
    CONSTRAINT user_list_item_key_unique UNIQUE (user_id, list_id, key) DEFERRABLE INITIALLY IMMEDIATE,
    CONSTRAINT user_list_item_key_length CHECK (octet_length(key) BETWEEN 1 AND 1024),
    CONSTRAINT user_list_item_product_whole CHECK ((store_id IS NULL) = (sku IS NULL)),
    CONSTRAINT user_list_item_text_length CHECK (octet_length(text) BETWEEN 1 AND 500),
    CONSTRAINT user_list_item_note_length CHECK (octet_length(note) BETWEEN 1 AND 1000),
    CONSTRAINT user_list_item_quantity_bounds CHECK (
        quantity > 0 AND quantity < 1000000 AND quantity <> 'NaN' AND scale(quantity) <= 3)
) WITH (fillfactor = 80);

-- A way into a list for others.
CREATE TABLE user_list_share (
    user_id text COLLATE "C" NOT NULL,
    list_id uuid NOT NULL,
    share_id uuid NOT NULL,
    -- A hash: what is read from here opens nothing.
    digest bytea NOT NULL,
    role text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT user_list_share_pkey PRIMARY KEY (user_id, list_id, share_id),
    CONSTRAINT user_list_share_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT user_list_share_role_known CHECK (role IN ('editor', 'reader'))
);

-- A list as one of those who have it does: its owner, or who has joined. The user is who has it.
CREATE TABLE user_list_place (
    user_id text COLLATE "C" NOT NULL,
    list_id uuid NOT NULL,
    owner_id text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    -- By which they joined.
    share_id uuid,
    -- Its place in the user's own order of lists: a path key.
    key bytea NOT NULL,
    -- The user's, when the list changed last for them.
    revision bigint NOT NULL,
    -- When they left, or were put out; it is remembered for a while, for their other devices.
    left_at timestamptz,
    CONSTRAINT user_list_place_pkey PRIMARY KEY (user_id, list_id),
    CONSTRAINT user_list_place_key_unique UNIQUE (user_id, key) DEFERRABLE INITIALLY IMMEDIATE,
    CONSTRAINT user_list_place_role_known CHECK (role IN ('owner', 'editor', 'reader'))
) WITH (fillfactor = 70);

-- What a user's devices were told of lists, by the user's revision.
CREATE TABLE user_event (
    user_id text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    -- Null where their order changed.
    list_id uuid,
    data text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT user_event_pkey PRIMARY KEY (user_id, revision)
);

-- Who has a list.
CREATE INDEX user_list_place_by_list ON user_list_place (owner_id, list_id);
-- A token does not tell whose list it opens.
CREATE INDEX user_list_share_by_digest ON user_list_share (digest);
-- What the sweeps look for.
CREATE INDEX user_list_deleted ON user_list (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX user_list_item_deleted ON user_list_item (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX user_list_place_left ON user_list_place (left_at) WHERE left_at IS NOT NULL;
CREATE INDEX user_event_by_age ON user_event (created_at);
