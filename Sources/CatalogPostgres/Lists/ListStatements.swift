internal import LibPQ

/// The statements of users' lists. `$1` is the user, or a list's owner, and `$2` the list, unless noted.
enum ListStatements {
    static let listColumns: SQL = """
        l.list_id::text, l.user_id, l.name, l.auto_sort, l.sort, l.version, l.created_at, l.modified_at, l.deleted_at
        """
    static let placeColumns: SQL = "p.list_id::text, p.owner_id, p.role, p.key, p.revision, p.left_at"

    // MARK: - Reading

    // A shared list is reached in two steps: the member's row names the owner, and the owner's rows have the list. On Citus, each step
    // is on one shard.

    /// A user's place in a list, and the list's owner.
    static let placeOfList: PostgresStatement = """
        SELECT \(placeColumns) FROM user_list_place p WHERE p.user_id = $1 AND p.list_id = $2::uuid
        """
    static let list: PostgresStatement = """
        SELECT \(listColumns) FROM user_list l WHERE l.user_id = $1 AND l.list_id = $2::uuid
        """
    static let items: PostgresStatement = """
        SELECT i.item_id::text, s.key, i.sku, i.text, i.quantity::text, i.note, i.is_checked, i.key, i.version,
            i.created_at, i.modified_at, i.deleted_at, i.changes::text
        FROM user_list_item i LEFT JOIN store s ON s.store_id = i.store_id
        WHERE i.user_id = $1 AND i.list_id = $2::uuid
        """
    /// The places of a user's lists: those changed after a revision, `$2`, or all. Each row has the account, from the same snapshot.
    static let places: PostgresStatement = """
        SELECT a.revision, a.is_resync, \(placeColumns)
        FROM \(SettingRow.account) AS a
        LEFT JOIN user_list_place p ON p.user_id = $1
            AND p.revision > CASE WHEN a.is_resync THEN 0 ELSE coalesce($2, 0) END
        ORDER BY p.revision
        """
    /// Some lists of an owner, `$2`, with the numbers of their items and of the checked ones.
    static let listsOfOwner: PostgresStatement = """
        SELECT \(listColumns), n.items, n.checked FROM user_list l
        LEFT JOIN LATERAL (
            SELECT count(*) AS items, count(*) FILTER (WHERE i.is_checked) AS checked FROM user_list_item i
            WHERE i.user_id = $1 AND i.list_id = l.list_id AND i.deleted_at IS NULL) n ON true
        WHERE l.user_id = $1 AND l.list_id = ANY ($2::text[]::uuid[])
        """
    /// Some lists of an owner, `$2`, that are not deleted.
    static let currentListsOfOwner: PostgresStatement = """
        SELECT list_id::text FROM user_list WHERE user_id = $1 AND list_id = ANY ($2::text[]::uuid[]) AND deleted_at IS NULL
        """
    /// A user's list settings, with the keys `$2` and `$3`.
    static let settings: PostgresStatement = """
        SELECT key, value::text FROM user_setting WHERE user_id = $1 AND key IN ($2, $3) AND deleted_at IS NULL
        """
    /// The place of products, `$2`, of the store `$1`, in the walking order of its shelves.
    static let aisles: PostgresStatement = """
        SELECT f.sku, row_number() OVER (ORDER BY f.position, f.key) FROM (
            SELECT DISTINCT ON (s.sku) s.sku, h.position, o.key
            FROM \(PlacementStatements.rows("placement", "shelf_id", store: "$1", skus: "$2"))
            JOIN shelf h ON h.store_id = $1 AND h.shelf_id = p.shelf_id AND h.deleted_at IS NULL
            CROSS JOIN LATERAL (SELECT q.key FROM placement_position q
                WHERE \(PlacementStatements.key("q", store: "$1", shelf: "p.shelf_id", sku: "s.sku")) OFFSET 0) o
            ORDER BY s.sku, h.position, o.key) AS f
        """
    /// A user's events after a revision, `$2`, and the horizon of purged events, from one snapshot.
    static let changes: PostgresStatement = """
        SELECT a.horizon, e.revision, e.data FROM user_account a
        LEFT JOIN user_event e ON e.user_id = a.user_id AND e.user_id = $1 AND e.revision > $2
        WHERE a.user_id = $1 ORDER BY e.revision LIMIT $3
        """

    // MARK: - Writing

    static let ensureAccount: PostgresStatement = """
        INSERT INTO user_account (user_id, revision, horizon) VALUES ($1, $2, $2)
        ON CONFLICT (user_id) DO NOTHING
        """
    /// The owner of a list of the user `$1`.
    static let owner: PostgresStatement = """
        SELECT owner_id FROM user_list_place WHERE user_id = $1 AND list_id = $2::uuid
        """
    static let activeMembership: PostgresStatement = """
        SELECT 1 FROM user_list_place WHERE user_id = $1 AND list_id = $2::uuid AND left_at IS NULL
        """
    static let lock: PostgresStatement = """
        SELECT 1 FROM user_list WHERE user_id = $1 AND list_id = $2::uuid FOR UPDATE
        """
    static let insert: PostgresStatement = """
        INSERT INTO user_list (user_id, list_id, name, auto_sort, sort, version, created_at, modified_at, deleted_at)
        VALUES ($1, $2::uuid, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (user_id, list_id) DO NOTHING
        """
    static let update: PostgresStatement = """
        UPDATE user_list SET name = $3, auto_sort = $4, sort = $5, version = $6, modified_at = $7, deleted_at = $8
        WHERE user_id = $1 AND list_id = $2::uuid
        """
    /// Items as a JSON array, `$3`; times in microseconds since 1970, keys as hexadecimal digits.
    static let writeItems: PostgresStatement = """
        INSERT INTO user_list_item (user_id, list_id, item_id, store_id, sku, text, quantity, note, is_checked, key, version,
            created_at, modified_at, deleted_at, changes)
        SELECT l.user_id, l.list_id, x.id, x.store_id, x.sku, x.text, x.quantity, x.note, x.checked, decode(x.key, 'hex'), x.version,
            timestamptz 'epoch' + x.created * interval '1 microsecond',
            timestamptz 'epoch' + x.modified * interval '1 microsecond',
            timestamptz 'epoch' + x.deleted * interval '1 microsecond', x.changes
        FROM user_list l CROSS JOIN jsonb_to_recordset($3) AS x (id uuid, store_id integer, sku text, text text, quantity numeric,
            note text, checked boolean, key text, version bigint, created bigint, modified bigint, deleted bigint, changes jsonb)
        WHERE l.user_id = $1 AND l.list_id = $2::uuid
        ON CONFLICT (user_id, list_id, item_id) DO UPDATE SET text = excluded.text, quantity = excluded.quantity,
            note = excluded.note, is_checked = excluded.is_checked, key = excluded.key, version = excluded.version,
            modified_at = excluded.modified_at, deleted_at = excluded.deleted_at, changes = excluded.changes
        """
    static let purgeItems: PostgresStatement = """
        DELETE FROM user_list_item WHERE user_id = $1 AND list_id = $2::uuid AND item_id = ANY ($3::uuid[])
        """
    // The members of an owner's list. They are in a table by owner, because on Citus, the places are on the shards of the members.

    /// The members, in the order in which accounts are locked; with `$3` those who left, too.
    static let members: PostgresStatement = """
        SELECT member_id FROM user_list_member
        WHERE user_id = $1 AND list_id = $2::uuid AND ($3 OR left_at IS NULL) ORDER BY member_id
        """
    /// The members who joined through a share, `$3`.
    static let membersByShare: PostgresStatement = """
        SELECT member_id FROM user_list_member
        WHERE user_id = $1 AND list_id = $2::uuid AND share_id = $3::uuid AND left_at IS NULL ORDER BY member_id
        """
    /// The numbers of members by the share through which they joined.
    static let memberCounts: PostgresStatement = """
        SELECT share_id::text, count(*) FROM user_list_member
        WHERE user_id = $1 AND list_id = $2::uuid AND share_id IS NOT NULL AND left_at IS NULL GROUP BY share_id
        """

    /// Adds a member, `$3`, who joined through a share, `$4`.
    static let addMember: PostgresStatement = """
        INSERT INTO user_list_member (user_id, list_id, member_id, share_id) VALUES ($1, $2::uuid, $3, $4::uuid)
        ON CONFLICT (user_id, list_id, member_id) DO UPDATE SET share_id = excluded.share_id, left_at = NULL
        """
    /// Records that a member, `$3`, leaves. The time is that of `leave` in the same transaction.
    static let removeMember: PostgresStatement = """
        UPDATE user_list_member SET left_at = now() WHERE user_id = $1 AND list_id = $2::uuid AND member_id = $3
        """
    static let deleteMember: PostgresStatement = """
        DELETE FROM user_list_member WHERE user_id = $1 AND list_id = $2::uuid AND member_id = $3
        """
    static let deleteMembers: PostgresStatement =
        "DELETE FROM user_list_member WHERE user_id = $1 AND list_id = $2::uuid"
    /// Records the revision, `$3`, of a user's last event about a list.
    static let setRevision: PostgresStatement = """
        UPDATE user_list_place SET revision = $3 WHERE user_id = $1 AND list_id = $2::uuid
        """
    /// The same when the user leaves the list.
    static let leave: PostgresStatement = """
        UPDATE user_list_place SET revision = $3, left_at = now() WHERE user_id = $1 AND list_id = $2::uuid
        """
    /// Deletes a user's events about a list.
    static let deleteEventsOfList: PostgresStatement =
        "DELETE FROM user_event WHERE user_id = $1 AND list_id = $2::uuid"
    /// Stores an event about a list, `$2`, with a revision, `$3`, and data, `$4`.
    static let recordEvent: PostgresStatement = """
        INSERT INTO user_event (user_id, revision, list_id, data, created_at) VALUES ($1, $3, $2::uuid, $4, now())
        """
    /// Increments a user's revision, and locks the account.
    static let incrementRevision: PostgresStatement = """
        UPDATE user_account SET revision = \(SQL.nextVersion(after: "revision")) WHERE user_id = $1 RETURNING revision
        """
    /// Stores an event about the order of a user's lists.
    static let recordMoveEvent: PostgresStatement = """
        INSERT INTO user_event (user_id, revision, data, created_at) VALUES ($1, $2, $3, now())
        """
    /// Deletes all but a user's last `$2` events; clients with an older revision must resync.
    static let trimEvents: PostgresStatement = """
        WITH gone AS (DELETE FROM user_event WHERE user_id = $1 AND revision <= (
            SELECT revision FROM user_event WHERE user_id = $1 ORDER BY revision DESC OFFSET $2 LIMIT 1) RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
            AND EXISTS (SELECT FROM gone)
        """
    /// The number of items of a user's own lists, at most `$2`.
    static let itemCount: PostgresStatement = """
        SELECT count(*) FROM (SELECT FROM user_list_item WHERE user_id = $1 LIMIT $2) AS items
        """
    static let lastKey: PostgresStatement =
        "SELECT key FROM user_list_place WHERE user_id = $1 ORDER BY key DESC LIMIT 1"
    /// Adds a user to a list: `$3` owner, `$4` role, `$5` share, `$6` key at the end; a former member keeps its key.
    static let place: PostgresStatement = """
        INSERT INTO user_list_place (user_id, list_id, owner_id, role, share_id, key, revision)
        VALUES ($1, $2::uuid, $3, $4, $5::uuid, $6, 0)
        ON CONFLICT (user_id, list_id) DO UPDATE SET owner_id = excluded.owner_id, role = excluded.role,
            share_id = excluded.share_id, left_at = NULL
        """
    static let movePlaces: PostgresStatement = """
        UPDATE user_list_place p SET key = m.key FROM unnest($2, $3) AS m (id, key)
        WHERE p.user_id = $1 AND p.list_id = m.id::uuid
        """

    // MARK: - Sharing

    static let share: PostgresStatement = """
        INSERT INTO user_list_share (user_id, list_id, share_id, digest, role, created_at, expires_at)
        VALUES ($1, $2::uuid, $3::uuid, $4, $5, $6, $7)
        """
    static let shares: PostgresStatement = """
        SELECT s.share_id::text, s.role, s.created_at, s.expires_at FROM user_list_share s
        WHERE s.user_id = $1 AND s.list_id = $2::uuid ORDER BY s.created_at, s.share_id
        """
    static let shareCount: PostgresStatement =
        "SELECT count(*) FROM user_list_share WHERE user_id = $1 AND list_id = $2::uuid AND expires_at > now()"
    static let revoke: PostgresStatement = """
        DELETE FROM user_list_share WHERE user_id = $1 AND list_id = $2::uuid AND share_id = $3::uuid
        """
    /// The share of an owner with a token digest, `$2`.
    static let shareByDigest: PostgresStatement = """
        SELECT s.user_id, s.list_id::text, s.share_id::text, s.role FROM user_list_share s
        JOIN user_list l ON l.user_id = $1 AND l.list_id = s.list_id AND l.deleted_at IS NULL
        WHERE s.user_id = $1 AND s.digest = $2 AND s.expires_at > now()
        """
    static let shareDigests: PostgresStatement =
        "SELECT digest FROM user_list_share WHERE user_id = $1 AND list_id = $2::uuid"

    // MARK: - Leaving and sweeping

    /// A user's own lists, and those that they have joined.
    static let ownLists: PostgresStatement = """
        SELECT l.list_id::text, l.user_id FROM user_list l
        LEFT JOIN user_list_place p ON p.user_id = l.user_id AND p.list_id = l.list_id WHERE l.user_id = $1 ORDER BY p.key
        """
    static let joinedLists: PostgresStatement = """
        SELECT list_id::text, owner_id FROM user_list_place WHERE user_id = $1 AND role <> 'owner' ORDER BY key
        """
    /// Removes the owner's id, `$3`, from the place of a former member, `$1`.
    static let clearOwner: PostgresStatement = """
        UPDATE user_list_place SET owner_id = user_id WHERE user_id = $1 AND list_id = $2::uuid AND owner_id = $3
        """
    static let shareOfPlace: PostgresStatement = """
        SELECT share_id::text FROM user_list_place WHERE user_id = $1 AND list_id = $2::uuid
        """
    static let deleteItems: PostgresStatement = "DELETE FROM user_list_item WHERE user_id = $1 AND list_id = $2::uuid"
    static let deleteShares: PostgresStatement = "DELETE FROM user_list_share WHERE user_id = $1 AND list_id = $2::uuid"
    static let deleteList: PostgresStatement = "DELETE FROM user_list WHERE user_id = $1 AND list_id = $2::uuid"
    /// Deletes a user's place in a list; returns the owner.
    static let deletePlace: PostgresStatement = """
        DELETE FROM user_list_place WHERE user_id = $1 AND list_id = $2::uuid RETURNING owner_id
        """
    /// Transfers a list to another owner, `$3`, with an id, `$4`, that is new to them.
    static let transferOwnership: [PostgresStatement] = [
        """
        INSERT INTO user_list SELECT $3, $4::uuid, name, auto_sort, sort, version, created_at, modified_at, deleted_at
        FROM user_list WHERE user_id = $1 AND list_id = $2::uuid
        """,
        """
        INSERT INTO user_list_item SELECT $3, $4::uuid, item_id, store_id, sku, text, quantity, note, is_checked, key, version,
            created_at, modified_at, deleted_at, changes
        FROM user_list_item WHERE user_id = $1 AND list_id = $2::uuid
        """,
        """
        INSERT INTO user_list_share SELECT $3, $4::uuid, share_id, digest, role, created_at, expires_at
        FROM user_list_share WHERE user_id = $1 AND list_id = $2::uuid
        """,
        """
        INSERT INTO user_list_member SELECT $3, $4::uuid, member_id, share_id, left_at
        FROM user_list_member WHERE user_id = $1 AND list_id = $2::uuid AND member_id NOT IN ($1, $3)
        """,
    ]
    /// Transfers the place of a member, `$1`, in a list of `$5` to a new owner, `$3`, and the list's new id, `$4`.
    static let transferPlace: PostgresStatement = """
        UPDATE user_list_place SET owner_id = $3, list_id = $4::uuid WHERE user_id = $1 AND list_id = $2::uuid AND owner_id = $5
        """
    /// Adds the place of a list that a member, `$1`, no longer has, with a key, `$3`, at the end. `leave` sets its revision.
    static let placeDeparture: PostgresStatement = """
        INSERT INTO user_list_place (user_id, list_id, owner_id, role, key, revision, left_at)
        VALUES ($1, $2::uuid, $1, 'reader', $3, 0, now())
        """
    /// Lists, items and memberships that were deleted before `$1`, in batches.
    static let expiredLists: PostgresStatement = """
        SELECT user_id, list_id::text FROM user_list WHERE deleted_at < $1 ORDER BY deleted_at LIMIT 200
        """
    static let sweepItems: PostgresStatement = """
        DELETE FROM user_list_item WHERE deleted_at < $1 AND (user_id, list_id, item_id) IN (SELECT user_id, list_id, item_id
            FROM user_list_item WHERE deleted_at < $1 ORDER BY deleted_at LIMIT 1000)
        """
    static let expiredPlaces: PostgresStatement = """
        SELECT DISTINCT user_id FROM (
            SELECT user_id FROM user_list_place WHERE left_at < $1 ORDER BY left_at LIMIT 1000) AS old
        """
    /// Deletes the places that a user left before `$2`; clients with an older revision must resync.
    static let deleteExpiredPlaces: PostgresStatement = """
        WITH gone AS (DELETE FROM user_list_place WHERE user_id = $1 AND left_at < $2 RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
        """
    /// The same for the place of a list that expires.
    static let expirePlace: PostgresStatement = """
        WITH gone AS (DELETE FROM user_list_place WHERE user_id = $1 AND list_id = $2::uuid RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
        """
    static let sweepMembers: PostgresStatement = """
        DELETE FROM user_list_member WHERE left_at < $1 AND (user_id, list_id, member_id) IN (SELECT user_id, list_id, member_id
            FROM user_list_member WHERE left_at < $1 ORDER BY left_at LIMIT 1000)
        """
    /// Expired shares without members.
    static let sweepShares: PostgresStatement = """
        DELETE FROM user_list_share s WHERE s.expires_at < $1 AND NOT EXISTS (SELECT FROM user_list_member m
            WHERE m.user_id = s.user_id AND m.list_id = s.list_id AND m.share_id = s.share_id)
        """
    static let expiredEvents: PostgresStatement = """
        SELECT DISTINCT user_id FROM (
            SELECT user_id FROM user_event WHERE created_at < $1 ORDER BY created_at LIMIT 1000) AS old
        """
    static let deleteExpiredEvents: PostgresStatement = """
        WITH gone AS (DELETE FROM user_event WHERE user_id = $1 AND created_at < $2 RETURNING revision)
        UPDATE user_account SET horizon = greatest(horizon, (SELECT max(revision) FROM gone)) WHERE user_id = $1
        """
}
