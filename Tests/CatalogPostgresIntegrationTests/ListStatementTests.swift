import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Each condition of the statements of lists, by a row that only this condition leaves out.
///
/// Ann's list 1 is the one that statements name. Her other lists, and a list of Tim with the same id, have equal rows.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the texts of rows are read in one query"),
    .timeLimit(.minutes(15))
) struct ListStatementTests {
    private static let day: Int64 = 86_400
    private static let one = "00000000-0000-0000-0000-000000000001"
    private static let two = "00000000-0000-0000-0000-000000000002"
    private static let six = "00000000-0000-0000-0000-000000000006"
    private static let four = "00000000-0000-0000-0000-000000000004"
    private static let nine = "00000000-0000-0000-0000-000000000009"

    /// Rows are inserted in another order than queries return them.
    private static let rows = """
        CREATE TEMPORARY TABLE made AS SELECT n, ('00000000-0000-0000-0000-00000000000' || n)::uuid AS id,
            decode(repeat('0' || n, 32), 'hex') AS digest FROM generate_series(1, 9) n;
        INSERT INTO user_account (user_id, revision, horizon)
        SELECT u, 1000, 100 FROM unnest('{zoe,tim,kim,eve,bob,ann}'::text[]) u;
        INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
            popularity_half_life_days, newcomer_boost)
        OVERRIDING SYSTEM VALUE VALUES (1, 'shop', 'S', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0);
        INSERT INTO store_state (store_id) VALUES (1);
        INSERT INTO user_list (user_id, list_id, name, auto_sort, sort, version, created_at, modified_at, deleted_at)
        SELECT l.u, m.id, l.u || l.n, true, 'position', 1, now(), now(), now() - l.days * interval '1 day'
        FROM (VALUES ('kim', 5, NULL), ('tim', 6, NULL), ('tim', 5, 50), ('tim', 2, NULL), ('tim', 1, NULL), ('ann', 4, 20), ('ann', 3, 40), ('ann', 2, NULL), ('ann', 1, NULL))
            AS l (u, n, days) JOIN made m ON m.n = l.n;
        INSERT INTO user_list_item (user_id, list_id, item_id, store_id, sku, text, quantity, is_checked, key, version, created_at,
            modified_at, deleted_at, changes)
        SELECT i.u, m.id, p.id, CASE WHEN i.n = 2 THEN 1 END, CASE WHEN i.n = 2 THEN 'p' END, i.u || i.l || i.n, 1, i.n > 1,
            int4send(i.n), 1, now(), now(), now() - i.days * interval '1 day', '{}'
        FROM (VALUES ('tim', 1, 2, 50), ('tim', 1, 1, NULL), ('ann', 2, 2, NULL), ('ann', 1, 4, 20), ('ann', 1, 3, 40), ('ann', 1, 2, NULL),
            ('ann', 1, 1, NULL)) AS i (u, l, n, days) JOIN made m ON m.n = i.l JOIN made p ON p.n = i.n;
        INSERT INTO user_list_share (user_id, list_id, share_id, digest, role, created_at, expires_at)
        SELECT s.u, m.id, p.id, d.digest, 'editor', now() - s.n % 2 * interval '1 day', now() + s.days * interval '1 day'
        FROM (VALUES ('tim', 1, 1, 1, 1), ('ann', 2, 7, 7, 1), ('ann', 2, 1, 9, 1), ('ann', 4, 6, 6, 1), ('ann', 1, 8, 8, -50),
            ('ann', 1, 5, 5, -50), ('ann', 1, 4, 4, -50), ('ann', 1, 3, 3, -20), ('ann', 1, 2, 2, -1), ('ann', 1, 1, 1, 1))
            AS s (u, l, n, digest, days) JOIN made m ON m.n = s.l JOIN made p ON p.n = s.n JOIN made d ON d.n = s.digest
        ORDER BY s.n DESC;
        INSERT INTO user_list_member (user_id, list_id, member_id, share_id, left_at)
        SELECT x.u, m.id, x.member, p.id, now() - x.days * interval '1 day'
        FROM (VALUES ('tim', 1, 'tim', NULL, NULL), ('tim', 1, 'bob', 1, NULL), ('tim', 1, 'eve', 8, NULL), ('ann', 2, 'max', 5, NULL),
            ('ann', 2, 'lea', 1, NULL), ('ann', 2, 'bob', 7, NULL), ('ann', 1, 'zoe', 4, 20),
            ('ann', 1, 'kim', 2, NULL), ('ann', 1, 'lea', 1, NULL), ('ann', 1, 'eve', 1, 40), ('ann', 1, 'bob', 1, NULL),
            ('ann', 1, 'ann', NULL, NULL)) AS x (u, l, member, share, days)
            JOIN made m ON m.n = x.l LEFT JOIN made p ON p.n = x.share;
        INSERT INTO user_list_place (user_id, list_id, owner_id, role, share_id, key, revision, left_at)
        SELECT x.u, m.id, x.owner, x.role, p.id, int4send(x.k), x.revision, now() - x.days * interval '1 day'
        FROM (VALUES ('tim', 1, 'tim', 'owner', NULL, 10, 14, NULL), ('zoe', 1, 'ann', 'reader', 4, 60, 13, 20),
            ('eve', 4, 'ann', 'reader', 1, 40, 51, NULL), ('eve', 2, 'kim', 'reader', 1, 30, 41, NULL), ('eve', 1, 'ann', 'reader', 1, 20, 31, 40),
            ('kim', 1, 'ann', 'reader', 2, 50, 12, NULL), ('bob', 1, 'ann', 'editor', 1, 20, 11, NULL),
            ('bob', 2, 'ann', 'reader', 7, 10, 21, NULL), ('bob', 5, 'bob', 'owner', NULL, 40, 6, 50),
            ('bob', 4, 'bob', 'owner', NULL, 30, 5, 50), ('ann', 2, 'ann', 'owner', NULL, 10, 20, NULL), ('ann', 3, 'ann', 'owner', NULL, 30, 30, NULL),
            ('ann', 1, 'ann', 'owner', NULL, 20, 10, NULL))
            AS x (u, l, owner, role, share, k, revision, days) JOIN made m ON m.n = x.l LEFT JOIN made p ON p.n = x.share;
        INSERT INTO user_event (user_id, revision, list_id, data, created_at)
        SELECT e.u, e.revision, m.id, e.u || e.revision, now() - e.days * interval '1 day'
        FROM (VALUES ('kim', 50, 1, 50), ('tim', 460, 1, 1), ('tim', 450, 1, 1), ('tim', 110, 1, 50), ('eve', 130, 1, 20), ('ann', 400, 1, 1), ('ann', 300, 2, 20),
            ('ann', 200, 1, 45), ('ann', 150, 1, 50)) AS e (u, revision, l, days) JOIN made m ON m.n = e.l;
        INSERT INTO user_token (digest, user_id, expires_at) SELECT digest, 'ann', now() + (n - 3.5) * interval '1 hour' FROM made;
        """
    private static let places: SQL = """
        SELECT user_id, list_id, owner_id, role, share_id, encode(key, 'hex'), revision, left_at IS NULL FROM user_list_place
        """
    private static let members: SQL =
        "SELECT user_id, list_id, member_id, share_id, left_at IS NULL FROM user_list_member"
    private static let items: SQL = "SELECT text FROM user_list_item"
    private static let shares: SQL = "SELECT user_id, list_id, share_id FROM user_list_share"
    private static let lists: SQL = "SELECT name, deleted_at IS NULL FROM user_list"
    private static let events: SQL = "SELECT data FROM user_event"
    private static let horizons: SQL = "SELECT user_id, horizon FROM user_account"

    private static let readsCases: [StatementCase] = [
        .finds(ListStatements.placeOfList, [.text("bob"), .text(one)], [#"(1,ann,editor,"\\x00000014",11,)"#]),
        .finds(ListStatements.list, [.text("ann"), .text(one)], ["(1,ann,ann1,t,position,1,time,time,)"]),
        .finds(
            ListStatements.items,
            [.text("ann"), .text(one)],
            [
                #"(1,,,ann11,1,,f,"\\x00000001",1,time,time,,{})"#,
                #"(2,shop,p,ann12,1,,t,"\\x00000002",1,time,time,,{})"#,
                #"(3,,,ann13,1,,t,"\\x00000003",1,time,time,time,{})"#,
                #"(4,,,ann14,1,,t,"\\x00000004",1,time,time,time,{})"#,
            ]
        ),
        // All places, those after a revision, and all again for one that is unknown or too old.
        .lists(
            ListStatements.places,
            [.text("ann"), .int8(nil)],
            [
                #"(1000,f,1,ann,owner,"\\x00000014",10,)"#, #"(1000,f,2,ann,owner,"\\x0000000a",20,)"#,
                #"(1000,f,3,ann,owner,"\\x0000001e",30,)"#,
            ]
        ),
        .lists(
            ListStatements.places,
            [.text("bob"), .int8(100)],
            ["(1000,f,,,,,,)"]
        ),
        .lists(
            ListStatements.places,
            [.text("bob"), .int8(99)],
            [
                #"(1000,t,4,bob,owner,"\\x0000001e",5,time)"#, #"(1000,t,5,bob,owner,"\\x00000028",6,time)"#,
                #"(1000,t,1,ann,editor,"\\x00000014",11,)"#, #"(1000,t,2,ann,reader,"\\x0000000a",21,)"#,
            ]
        ),
        .lists(ListStatements.places, [.text("kim"), .int8(1001)], [#"(1000,t,1,ann,reader,"\\x00000032",12,)"#]),
        .lists(ListStatements.places, [.text("kim"), .int8(1000)], ["(1000,f,,,,,,)"]),
        .lists(ListStatements.places, [.text("joe"), .int8(nil)], []),
        .finds(
            ListStatements.listsOfOwner,
            [.text("ann"), .textArray([one, nine])],
            ["(1,ann,ann1,t,position,1,time,time,,2,1)"]
        ),
        .finds(
            ListStatements.currentListsOfOwner,
            [.text("ann"), .textArray([two, four, six])],
            ["(2)"]
        ),
        .lists(
            ListStatements.changes,
            [.text("ann"), .int8(150), .int8(2)],
            ["(100,200,ann200)", "(100,300,ann300)"]
        ),
        .lists(ListStatements.changes, [.text("ann"), .int8(400), .int8(2)], ["(100,,)"]),
        .finds(ListStatements.owner, [.text("eve"), .text(two)], ["(kim)"]),
        .finds(ListStatements.activeMembership, [.text("bob"), .text(one)], ["(1)"]),
        .finds(ListStatements.activeMembership, [.text("eve"), .text(one)], []),
        .finds(ListStatements.activeMembership, [.text("bob"), .text(nine)], []),
        .lists(
            ListStatements.members,
            [.text("ann"), .text(one), .bool(false)],
            ["(ann)", "(bob)", "(kim)", "(lea)"]
        ),
        .lists(
            ListStatements.members,
            [.text("ann"), .text(one), .bool(true)],
            ["(ann)", "(bob)", "(eve)", "(kim)", "(lea)", "(zoe)"]
        ),
        .lists(
            ListStatements.membersByShare,
            [.text("ann"), .text(one), .text(one)],
            ["(bob)", "(lea)"]
        ),
        .finds(ListStatements.memberCounts, [.text("ann"), .text(one)], ["(1,2)", "(2,1)"]),
        .finds(ListStatements.itemCount, [.text("ann"), .int8(100)], ["(5)"]),
        .finds(ListStatements.itemCount, [.text("ann"), .int8(3)], ["(3)"]),
        .finds(ListStatements.lastKey, [.text("bob")], [#"("\\x00000028")"#]),
        .lists(
            ListStatements.shares,
            [.text("ann"), .text(one)],
            [
                "(1,editor,time,time)", "(3,editor,time,time)", "(5,editor,time,time)", "(2,editor,time,time)",
                "(4,editor,time,time)", "(8,editor,time,time)",
            ]
        ),
        .finds(ListStatements.shareCount, [.text("ann"), .text(one)], ["(1)"]),
        // The share of the digest; then an expired share, a share of a deleted list and a share of another owner.
        .finds(
            ListStatements.shareByDigest,
            [.text("ann"), .bytea([UInt8](repeating: 1, count: 32))],
            ["(ann,1,1,editor)"]
        ),
        .finds(ListStatements.shareByDigest, [.text("ann"), .bytea([UInt8](repeating: 2, count: 32))], []),
        .finds(ListStatements.shareByDigest, [.text("ann"), .bytea([UInt8](repeating: 6, count: 32))], []),
        .finds(ListStatements.shareByDigest, [.text("tim"), .bytea([UInt8](repeating: 7, count: 32))], []),
        .finds(
            ListStatements.shareDigests,
            [.text("ann"), .text(four)],
            [#"("\\x0606060606060606060606060606060606060606060606060606060606060606")"#]
        ),
        .finds(
            ListStatements.shareDigests,
            [.text("tim"), .text(one)],
            [#"("\\x0101010101010101010101010101010101010101010101010101010101010101")"#]
        ),
        .lists(ListStatements.ownLists, [.text("ann")], ["(2,ann)", "(1,ann)", "(3,ann)", "(4,ann)"]),
        .lists(ListStatements.joinedLists, [.text("bob")], ["(2,ann)", "(1,ann)"]),
        .finds(ListStatements.shareOfPlace, [.text("bob"), .text(one)], ["(1)"]),
        .finds(UserStatements.tokenOwner, [.bytea([UInt8](repeating: 3, count: 32))], ["(ann)"]),
    ]

    @Test("Each query of lists returns the rows of its user, list and time only, in its order")
    func reads() async throws { try await StatementCase.check(Self.readsCases, on: Self.rows) }

    private static let changesCases: [StatementCase] = [
        .changes(
            ListStatements.ensureAccount,
            [.text("ann"), .int8(2000)],
            in: "SELECT user_id, revision, horizon FROM user_account",
            []
        ),
        .changes(
            ListStatements.ensureAccount,
            [.text("joe"), .int8(2000)],
            in: "SELECT user_id, revision, horizon FROM user_account",
            ["+ (joe,2000,2000)"]
        ),
        .changes(
            ListStatements.purgeItems,
            [.text("ann"), .text(one), .textArray([two, nine])],
            in: items,
            ["- (ann12)"]
        ),
        .changes(
            ListStatements.addMember,
            [.text("ann"), .text(one), .text("eve"), .text(two)],
            in: members,
            ["- (ann,1,eve,1,f)", "+ (ann,1,eve,2,t)"]
        ),
        .changes(
            ListStatements.addMember,
            [.text("ann"), .text(one), .text("joe"), .text(nil)],
            in: members,
            ["+ (ann,1,joe,,t)"]
        ),
        .changes(
            ListStatements.removeMember,
            [.text("ann"), .text(one), .text("bob")],
            in: members,
            ["- (ann,1,bob,1,t)", "+ (ann,1,bob,1,f)"]
        ),
        .changes(
            ListStatements.deleteMember,
            [.text("ann"), .text(one), .text("bob")],
            in: members,
            ["- (ann,1,bob,1,t)"]
        ),
        .changes(
            ListStatements.deleteMembers,
            [.text("tim"), .text(one)],
            in: members,
            ["- (tim,1,bob,1,t)", "- (tim,1,eve,8,t)", "- (tim,1,tim,,t)"]
        ),
        .changes(
            ListStatements.deleteMembers,
            [.text("ann"), .text(two)],
            in: members,
            ["- (ann,2,bob,7,t)", "- (ann,2,lea,1,t)", "- (ann,2,max,5,t)"]
        ),
        .changes(
            ListStatements.setRevision,
            [.text("bob"), .text(one), .int8(77)],
            in: places,
            ["- (bob,1,ann,editor,1,00000014,11,t)", "+ (bob,1,ann,editor,1,00000014,77,t)"]
        ),
        .changes(
            ListStatements.leave,
            [.text("bob"), .text(one), .int8(77)],
            in: places,
            ["- (bob,1,ann,editor,1,00000014,11,t)", "+ (bob,1,ann,editor,1,00000014,77,f)"]
        ),
        .changes(
            ListStatements.deleteEventsOfList,
            [.text("ann"), .text(two)],
            in: events,
            ["- (ann300)"]
        ),
        .changes(
            ListStatements.deleteEventsOfList,
            [.text("ann"), .text(one)],
            in: events,
            ["- (ann150)", "- (ann200)", "- (ann400)"]
        ),
        // A former member of a list keeps the key, and a new one gets the key at the end.
        .changes(
            ListStatements.place,
            [.text("eve"), .text(one), .text("tim"), .text("editor"), .text(two), .bytea([9])],
            in: places,
            ["- (eve,1,ann,reader,1,00000014,31,f)", "+ (eve,1,tim,editor,2,00000014,31,t)"]
        ),
        .changes(
            ListStatements.place,
            [.text("eve"), .text(nine), .text("tim"), .text("editor"), .text(two), .bytea([9])],
            in: places,
            ["+ (eve,9,tim,editor,2,09,0,t)"]
        ),
        .changes(
            ListStatements.movePlaces,
            [.text("ann"), .textArray([one, two]), .byteaArray([[7], [8]])],
            in: places,
            [
                "- (ann,1,ann,owner,,00000014,10,t)", "+ (ann,1,ann,owner,,07,10,t)",
                "- (ann,2,ann,owner,,0000000a,20,t)", "+ (ann,2,ann,owner,,08,20,t)",
            ]
        ),
        .changes(
            ListStatements.revoke,
            [.text("ann"), .text(one), .text(one)],
            in: shares,
            ["- (ann,1,1)"]
        ),
        .changes(
            ListStatements.clearOwner,
            [.text("eve"), .text(one), .text("ann")],
            in: places,
            ["- (eve,1,ann,reader,1,00000014,31,f)", "+ (eve,1,eve,reader,1,00000014,31,f)"]
        ),
        .changes(ListStatements.clearOwner, [.text("eve"), .text(one), .text("tim")], in: places, []),
        .changes(
            ListStatements.deleteItems,
            [.text("tim"), .text(one)],
            in: items,
            ["- (tim11)", "- (tim12)"]
        ),
        .changes(ListStatements.deleteItems, [.text("ann"), .text(two)], in: items, ["- (ann22)"]),
        .changes(ListStatements.deleteShares, [.text("tim"), .text(one)], in: shares, ["- (tim,1,1)"]),
        .changes(ListStatements.deleteShares, [.text("ann"), .text(two)], in: shares, ["- (ann,2,1)", "- (ann,2,7)"]),
        // Lists without rows that refer to them.
        .changes(
            ListStatements.deleteList,
            [.text("tim"), .text("00000000-0000-0000-0000-000000000005")],
            in: lists,
            ["- (tim5,f)"]
        ),
        .changes(
            ListStatements.deletePlace,
            [.text("bob"), .text(one)],
            in: places,
            ["- (bob,1,ann,editor,1,00000014,11,t)"]
        ),
        .returns(ListStatements.deletePlace, [.text("bob"), .text(one)], ["(ann)"]),
        .changes(
            ListStatements.transferPlace,
            [.text("eve"), .text(one), .text("tim"), .text(nine), .text("ann")],
            in: places,
            ["- (eve,1,ann,reader,1,00000014,31,f)", "+ (eve,9,tim,reader,1,00000014,31,f)"]
        ),
        .changes(
            ListStatements.transferPlace,
            [.text("kim"), .text(one), .text("tim"), .text(nine), .text("bob")],
            in: places,
            []
        ),
        .changes(
            ListStatements.placeDeparture,
            [.text("kim"), .text(nine), .bytea([9])],
            in: places,
            ["+ (kim,9,kim,reader,,09,0,f)"]
        ),
        .changes(
            UserStatements.transferToken,
            [.bytea([UInt8](repeating: 3, count: 32)), .text("kim")],
            in: "SELECT user_id, encode(substr(digest, 1, 1), 'hex') FROM user_token",
            ["- (ann,03)", "+ (kim,03)"]
        ),
    ]

    @Test("Each change of lists affects the rows of its user and list only, and sets its columns")
    func changes() async throws { try await StatementCase.check(Self.changesCases, on: Self.rows) }

    private static let transferRows =
        rows + """
            INSERT INTO user_list SELECT 'kim', '\(nine)', 'taken', auto_sort, sort, version, created_at, modified_at, deleted_at
            FROM user_list WHERE name = 'ann1';
            """

    private static let transferred: [PostgresValue] = [.text("ann"), .text(one), .text("kim"), .text(nine)]
    private static let transferCases: [StatementCase] = [
        .changes(
            ListStatements.transferOwnership[0],
            [.text("ann"), .text(two), .text("kim"), .text(one)],
            in: "SELECT user_id, list_id, name, auto_sort, sort, version, deleted_at FROM user_list",
            ["+ (kim,1,ann2,t,position,1,)"]
        ),
        .changes(
            ListStatements.transferOwnership[1],
            transferred,
            in: "SELECT user_id, list_id, item_id, text, sku, is_checked, deleted_at IS NULL FROM user_list_item",
            [
                "+ (kim,9,1,ann11,,f,t)", "+ (kim,9,2,ann12,p,t,t)", "+ (kim,9,3,ann13,,t,f)",
                "+ (kim,9,4,ann14,,t,f)",
            ]
        ),
        .changes(
            ListStatements.transferOwnership[2],
            transferred,
            in: shares,
            ["+ (kim,9,1)", "+ (kim,9,2)", "+ (kim,9,3)", "+ (kim,9,4)", "+ (kim,9,5)", "+ (kim,9,8)"]
        ),
        // Neither the former owner nor the new one becomes a member by this.
        .changes(
            ListStatements.transferOwnership[3],
            transferred,
            in: members,
            ["+ (kim,9,bob,1,t)", "+ (kim,9,eve,1,f)", "+ (kim,9,lea,1,t)", "+ (kim,9,zoe,4,f)"]
        ),
    ]

    @Test("A list that is transferred takes its own items, shares and members to the new owner")
    func transfer() async throws { try await StatementCase.check(Self.transferCases, on: Self.transferRows) }

    private static let sweepsCases: [StatementCase] = [
        .lists(
            ListStatements.expiredLists,
            [.ago(30 * day)],
            ["(tim,5)", "(ann,3)"]
        ),
        .lists(ListStatements.expiredLists, [.ago(45 * day)], ["(tim,5)"]),
        .changes(ListStatements.sweepItems, [.ago(30 * day)], in: items, ["- (ann13)", "- (tim12)"]),
        .finds(ListStatements.expiredPlaces, [.ago(30 * day)], ["(bob)", "(eve)"]),
        .changes(
            ListStatements.deleteExpiredPlaces,
            [.text("eve"), .ago(30 * day)],
            in: places,
            ["- (eve,1,ann,reader,1,00000014,31,f)"]
        ),
        // Their revisions are before the horizon.
        .changes(
            ListStatements.deleteExpiredPlaces,
            [.text("eve"), .ago(30 * day)],
            in: horizons,
            []
        ),
        .changes(
            ListStatements.expirePlace,
            [.text("bob"), .text(one)],
            in: places,
            ["- (bob,1,ann,editor,1,00000014,11,t)"]
        ),
        .changes(ListStatements.expirePlace, [.text("bob"), .text(one)], in: horizons, []),
        .changes(
            ListStatements.sweepMembers,
            [.ago(30 * day)],
            in: members,
            ["- (ann,1,eve,1,f)"]
        ),
        // Of two expired ones that are old enough, one has a former member.
        .changes(ListStatements.sweepShares, [.ago(30 * day)], in: shares, ["- (ann,1,5)", "- (ann,1,8)"]),
        .finds(ListStatements.expiredEvents, [.ago(30 * day)], ["(ann)", "(kim)", "(tim)"]),
        .changes(
            ListStatements.deleteExpiredEvents,
            [.text("ann"), .ago(30 * day)],
            in: events,
            ["- (ann150)", "- (ann200)"]
        ),
        .changes(
            ListStatements.deleteExpiredEvents,
            [.text("ann"), .ago(30 * day)],
            in: horizons,
            ["- (ann,100)", "+ (ann,200)"]
        ),
        .changes(
            ListStatements.trimEvents,
            [.text("ann"), .int8(2)],
            in: events,
            ["- (ann150)", "- (ann200)"]
        ),
        .changes(
            ListStatements.trimEvents,
            [.text("ann"), .int8(2)],
            in: horizons,
            ["- (ann,100)", "+ (ann,200)"]
        ),
        .changes(
            ListStatements.deleteExpiredEvents,
            [.text("kim"), .ago(30 * day)],
            in: horizons,
            []
        ),
        .changes(ListStatements.trimEvents, [.text("kim"), .int8(0)], in: events, ["- (kim50)"]),
        .changes(ListStatements.trimEvents, [.text("kim"), .int8(0)], in: horizons, []),
        .changes(ListStatements.trimEvents, [.text("ann"), .int8(4)], in: events, []),
        .changes(ListStatements.trimEvents, [.text("ann"), .int8(4)], in: horizons, []),
        .changes(
            UserStatements.sweepTokens,
            [],
            in: "SELECT encode(substr(digest, 1, 1), 'hex') FROM user_token",
            ["- (01)", "- (02)", "- (03)"]
        ),
    ]

    @Test("Each sweep of lists finds the rows that are old enough, and raises the horizon of their user only")
    func sweeps() async throws { try await StatementCase.check(Self.sweepsCases, on: Self.rows) }

    private static let horizonsOfPlacesRows =
        rows + """
            UPDATE user_list_place SET revision = revision + 500;
            """

    private static let horizonsOfPlacesCases: [StatementCase] = [
        // A place at the revision of the device is known to it.
        .lists(
            ListStatements.places,
            [.text("bob"), .int8(511)],
            [#"(1000,f,2,ann,reader,"\\x0000000a",521,)"#]
        ),
        .changes(
            ListStatements.deleteExpiredPlaces,
            [.text("eve"), .ago(30 * day)],
            in: horizons,
            ["- (eve,100)", "+ (eve,531)"]
        ),
        .changes(
            ListStatements.expirePlace,
            [.text("bob"), .text(one)],
            in: horizons,
            ["- (bob,100)", "+ (bob,511)"]
        ),
    ]

    @Test("The place of a list or a departure that is purged raises the horizon to its revision")
    func horizonsOfPlaces() async throws {
        try await StatementCase.check(Self.horizonsOfPlacesCases, on: Self.horizonsOfPlacesRows)
    }

    /// More rows than a sweep takes. The oldest ones were inserted neither first nor last.
    private static let manyRows = """
        CREATE TEMPORARY TABLE old AS SELECT 37 * n % 1009 + 1 AS n FROM generate_series(1, 1009) n;
        INSERT INTO user_account (user_id, revision, horizon) VALUES ('ann', 1000, 100);
        INSERT INTO user_account (user_id, revision, horizon) SELECT 'u' || n, 1000, 100 FROM old;
        INSERT INTO user_list (user_id, list_id, name, auto_sort, sort, version, created_at, modified_at, deleted_at)
        SELECT 'ann', ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, n, true, 'position', 1, now(), now(),
            now() - interval '40 days' - n * interval '1 minute' FROM old WHERE n > 600;
        INSERT INTO user_list_item (user_id, list_id, item_id, text, quantity, is_checked, key, version, created_at, modified_at,
            deleted_at, changes)
        SELECT 'ann', '00000000-0000-0000-0000-000000000601', md5(n::text)::uuid, n, 1, false, int4send(n), 1, now(), now(),
            now() - interval '40 days' - n * interval '1 minute', '{}' FROM old;
        INSERT INTO user_list_member (user_id, list_id, member_id, left_at)
        SELECT 'ann', '00000000-0000-0000-0000-000000000601', n, now() - interval '40 days' - n * interval '1 minute' FROM old;
        INSERT INTO user_list_place (user_id, list_id, owner_id, role, key, revision, left_at)
        SELECT 'u' || n, '00000000-0000-0000-0000-000000000601', 'ann', 'reader', '\\x01', n,
            now() - interval '40 days' - n * interval '1 minute' FROM old;
        INSERT INTO user_event (user_id, revision, data, created_at)
        SELECT 'u' || n, n, '{}', now() - interval '40 days' - n * interval '1 minute' FROM old;
        INSERT INTO user_token (digest, user_id, expires_at)
        SELECT int4send(n), 'ann', now() - n * interval '1 minute' FROM old;
        INSERT INTO user_ticket (user_id, digest, expires_at, token_expires_at)
        SELECT 'ann', decode(repeat('00', 28), 'hex') || int4send(n), now() - n * interval '1 minute', now() FROM old;
        INSERT INTO user_setting (user_id, key, revision, modified_at, deleted_at)
        SELECT 'u' || n, 'k', n, now(), now() - interval '40 days' - n * interval '1 minute' FROM old;
        """
    private static let manyCases: [StatementCase] = [
        .changes(
            ListStatements.sweepItems,
            [.ago(30 * day)],
            in: "SELECT count(*), max(text::integer) FROM user_list_item",
            ["- (1009,1009)", "+ (9,9)"]
        ),
        .changes(
            ListStatements.sweepMembers,
            [.ago(30 * day)],
            in: "SELECT count(*), max(member_id::integer) FROM user_list_member",
            ["- (1009,1009)", "+ (9,9)"]
        ),
        .changes(
            UserStatements.sweepTokens,
            [],
            in:
                "SELECT count(*), max(expires_at) > now() - interval '90 seconds', min(expires_at) < now() - interval '630 seconds' FROM user_token",
            ["- (1009,t,t)", "+ (9,t,f)"]
        ),
        .changes(
            PostgresUserStore.sweepTickets,
            [],
            in:
                "SELECT count(*), max(expires_at) > now() - interval '90 seconds', min(expires_at) < now() - interval '630 seconds' FROM user_ticket",
            ["- (1009,t,t)", "+ (9,t,f)"]
        ),
    ]

    @Test("A sweep takes the oldest thousand rows of a table")
    func batches() async throws { try await StatementCase.check(Self.manyCases, on: Self.manyRows) }

    @Test(
        "A sweep of lists names the oldest 200 lists, and the users of the oldest thousand events, places and settings"
    )
    func batchesOfUsers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (lists, others) = try await catalog.database.writes.perform { connection in
                try connection.run(script: Self.manyRows)
                let lists = try connection.query(ListStatements.expiredLists, [.ago(30 * Self.day)]) {
                    try $0.map { Int(try $0.text(1).suffix(12)) }
                }
                let users = [
                    ListStatements.expiredPlaces, ListStatements.expiredEvents,
                    PostgresUserStore.usersWithOldTombstones,
                ]
                let others = try users.map { statement in
                    try connection.query(statement, [.ago(30 * Self.day)]) { Set(try $0.map { try $0.text(0) }) }
                }
                return (lists, others)
            }
            #expect(lists == (810...1009).reversed().map { $0 })
            let oldest = Set((10...1009).map { "u\($0)" })
            for users in others { #expect(users == oldest) }
        }
    }

    /// Rows of one moment, which begins on the first day of 2026, and of one microsecond before it.
    private static let edgeRows = """
        CREATE TEMPORARY TABLE edge AS SELECT n, timestamptz '2026-01-01 00:00:00Z' - n * interval '1 microsecond' AS at
        FROM generate_series(0, 1) n;
        INSERT INTO user_account (user_id, revision, horizon) SELECT 'u' || n, 1000, 100 FROM edge;
        INSERT INTO user_list (user_id, list_id, name, auto_sort, sort, version, created_at, modified_at, deleted_at)
        SELECT 'u' || n, '\(one)', n, true, 'position', 1, at, at, at FROM edge;
        INSERT INTO user_list_item (user_id, list_id, item_id, text, quantity, is_checked, key, version, created_at, modified_at,
            deleted_at, changes)
        SELECT 'u' || n, '\(one)', '\(one)', n, 1, false, '\\x01', 1, at, at, at, '{}' FROM edge;
        INSERT INTO user_list_share (user_id, list_id, share_id, digest, role, created_at, expires_at)
        SELECT 'u' || n, '\(one)', '\(one)', decode(repeat('01', 32), 'hex'), 'editor', at, at FROM edge;
        INSERT INTO user_list_member (user_id, list_id, member_id, left_at) SELECT 'u' || n, '\(one)', n, at FROM edge;
        INSERT INTO user_list_place (user_id, list_id, owner_id, role, key, revision, left_at)
        SELECT 'u' || n, '\(one)', 'ann', 'reader', '\\x01', 500, at FROM edge;
        INSERT INTO user_event (user_id, revision, data, created_at) SELECT 'u' || n, 600, n, at FROM edge;
        INSERT INTO user_setting (user_id, key, revision, modified_at, deleted_at) SELECT 'u' || n, key, 700 - length(key), at, at FROM edge CROSS JOIN unnest('{k,kk}'::text[]) AS key;
        """
    private static let edge: Int64 = 1_767_225_600_000_000
    private static let edgeCases: [StatementCase] = [
        .lists(ListStatements.expiredLists, [.timestamptz(edge)], ["(u1,1)"]),
        .changes(ListStatements.sweepItems, [.timestamptz(edge)], in: items, ["- (1)"]),
        .changes(ListStatements.sweepShares, [.timestamptz(edge)], in: shares, ["- (u1,1,1)"]),
        .changes(ListStatements.sweepMembers, [.timestamptz(edge)], in: members, ["- (u1,1,1,,f)"]),
        .finds(ListStatements.expiredPlaces, [.timestamptz(edge)], ["(u1)"]),
        .finds(ListStatements.expiredEvents, [.timestamptz(edge)], ["(u1)"]),
        .finds(PostgresUserStore.usersWithOldTombstones, [.timestamptz(edge)], ["(u1)"]),
        .changes(
            ListStatements.deleteExpiredPlaces,
            [.text("u0"), .timestamptz(edge)],
            in: horizons,
            []
        ),
        .changes(
            ListStatements.deleteExpiredPlaces,
            [.text("u1"), .timestamptz(edge)],
            in: horizons,
            ["- (u1,100)", "+ (u1,500)"]
        ),
        .changes(
            ListStatements.deleteExpiredEvents,
            [.text("u0"), .timestamptz(edge)],
            in: horizons,
            []
        ),
        .changes(
            ListStatements.deleteExpiredEvents,
            [.text("u1"), .timestamptz(edge)],
            in: horizons,
            ["- (u1,100)", "+ (u1,600)"]
        ),
        .changes(
            PostgresUserStore.purgeTombstones,
            [.text("u0"), .timestamptz(edge)],
            in: horizons,
            []
        ),
        .changes(
            PostgresUserStore.purgeTombstones,
            [.text("u1"), .timestamptz(edge)],
            in: horizons,
            ["- (u1,100)", "+ (u1,699)"]
        ),
    ]

    @Test("A row of the moment of a limit is kept, and one of a microsecond before is not")
    func edges() async throws { try await StatementCase.check(Self.edgeCases, on: Self.edgeRows) }
}
