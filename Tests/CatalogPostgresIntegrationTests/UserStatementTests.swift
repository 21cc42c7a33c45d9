import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Each condition of the statements of settings, tickets, logs and erasures, by a row that only this condition leaves out.
///
/// Ann is the user that statements name; Bob has equal rows. Revisions are in the future, so that the next one does not depend on the clock.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the texts of rows are read in one query"),
    .timeLimit(.minutes(15))
) struct UserStatementTests {
    private static let day: Int64 = 86_400
    private static let revision: Int64 = 4_000_000_000_000_000

    private static let rows = """
        INSERT INTO user_account (user_id, revision, horizon)
        VALUES ('bob', \(revision) + 1, 100), ('ann', \(revision), 100), ('eve', 50, 20);
        INSERT INTO user_setting (user_id, key, value, revision, modified_at, deleted_at)
        SELECT s.u, s.key, CASE WHEN s.days IS NULL THEN to_json(s.value) END, s.revision, now(), now() - s.days * interval '1 day'
        FROM (VALUES ('bob', 'c', 'bobs', 210, NULL), ('bob', 'd', 'x', 240, 100), ('bob', 'e', 'x', 95, 1), ('bob', 'sort', 'name', 230, NULL),
            ('ann', 'd', 'x', 250, 100), ('ann', 'g', 'x', 240, 20), ('ann', 'old', 'x', 90, 95), ('ann', 'wide', '-price', 260, NULL),
            ('ann', 'sort', 'price', 200, NULL), ('ann', 'a', 'first', 230, NULL), ('ann', 'c', 'anns', 210, NULL))
            AS s (u, key, value, revision, days);
        INSERT INTO user_ticket (user_id, digest, expires_at, token_expires_at)
        SELECT t.u, decode(repeat(t.byte, 32), 'hex'), now() + t.hours * interval '1 hour', now() + interval '1 day'
        FROM (VALUES ('bob', '01', 1), ('bob', '09', -9), ('ann', '02', 2), ('ann', '01', 1), ('ann', '03', 3), ('ann', '04', -1))
            AS t (u, byte, hours);
        INSERT INTO user_token (digest, user_id, expires_at)
        SELECT decode(repeat(t.byte, 32), 'hex'), t.u, now() + interval '1 day' FROM (VALUES ('09', 'bob'), ('01', 'ann')) AS t (byte, u);
        INSERT INTO user_idempotency_record (user_id, key, fingerprint, status, content_type, body, created_at)
        SELECT r.u, r.key, '\\x0f', 200, 'old', '\\x0b', now() - r.hours * interval '1 hour'
        FROM (VALUES ('bob', 'fresh', 30), ('bob', 'old', 1), ('ann', 'old', 30), ('ann', 'other', 30), ('ann', 'fresh', 1)) AS r (u, key, hours);
        INSERT INTO user_event (user_id, revision, data, created_at) VALUES ('bob', 1, 'bob', now()), ('ann', 1, 'ann', now());
        INSERT INTO user_list_place (user_id, list_id, owner_id, role, key, revision)
        VALUES ('bob', '00000000-0000-0000-0000-000000000001', 'eve', 'reader', '\\x01', 1),
            ('ann', '00000000-0000-0000-0000-000000000001', 'eve', 'reader', '\\x01', 1),
            ('ann', '00000000-0000-0000-0000-000000000002', 'ann', 'owner', '\\x02', 1);
        """
    private static let accounts: SQL = "SELECT user_id, revision, horizon FROM user_account"
    private static let settings: SQL =
        "SELECT user_id, key, value::text, revision, modified_at < now() + interval '1 year', deleted_at IS NULL FROM user_setting"
    private static let tickets: SQL = "SELECT user_id, encode(substr(digest, 1, 1), 'hex') FROM user_ticket"
    private static let userResponses: SQL = """
        SELECT user_id, key, encode(fingerprint, 'hex'), status, content_type, encode(body, 'hex'), created_at = now() FROM user_idempotency_record
        """
    // MARK: - Settings

    private static let settingsCases: [StatementCase] = [
        .finds(PostgresSettingsStore.oneSetting, [.text("ann"), .text("c")], [#"(c,"""anns""",210,time)"#]),
        .finds(PostgresSettingsStore.oneSetting, [.text("ann"), .text("d")], []),
        .finds(
            PostgresSettingsStore.rememberedSorts,
            [.text("ann"), .text("sort"), .text("wide")],
            ["(f,-price,)", "(t,price,)"]
        ),
        .finds(PostgresSettingsStore.rememberedSorts, [.text("ann"), .text("g"), .text("none")], []),
        .finds(
            PostgresSettingsStore.revisions,
            [.textArray(["eve", "zoe", "ann"])],
            ["(1,50)", "(3,4000000000000000)"]
        ),
        .finds(PostgresSettingsStore.oneRevision, [.text("ann")], ["(1,4000000000000000)"]),
        // All settings, those after a revision with deletion markers, and all again for one that is unknown or too old.
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(nil), .int8(nil)],
            [
                #"(4000000000000000,f,,sort,"""price""",200,time)"#, #"(4000000000000000,f,,c,"""anns""",210,time)"#,
                #"(4000000000000000,f,,a,"""first""",230,time)"#, #"(4000000000000000,f,,wide,"""-price""",260,time)"#,
            ]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(210), .int8(nil)],
            [
                #"(4000000000000000,f,210,a,"""first""",230,time)"#, "(4000000000000000,f,210,g,,240,time)",
                "(4000000000000000,f,210,d,,250,time)", #"(4000000000000000,f,210,wide,"""-price""",260,time)"#,
            ]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(210), .int8(2)],
            [#"(4000000000000000,f,210,a,"""first""",230,time)"#, "(4000000000000000,f,210,g,,240,time)"]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(100), .int8(1)],
            [#"(4000000000000000,f,100,sort,"""price""",200,time)"#]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(99), .int8(2)],
            ["(4000000000000000,t,100,old,,90,time)", #"(4000000000000000,t,100,sort,"""price""",200,time)"#]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(0), .int8(1)],
            ["(4000000000000000,f,,old,,90,time)"]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(revision), .int8(nil)],
            ["(4000000000000000,f,4000000000000000,,,,)"]
        ),
        .lists(
            PostgresSettingsStore.changedSettings,
            [.text("ann"), .int8(revision + 1), .int8(1)],
            ["(4000000000000000,t,4000000000000001,old,,90,time)"]
        ),
        .lists(PostgresSettingsStore.changedSettings, [.text("eve"), .int8(nil), .int8(nil)], ["(50,f,,,,,)"]),
        .lists(PostgresSettingsStore.changedSettings, [.text("zoe"), .int8(5), .int8(nil)], []),
        .finds(ListStatements.settings, [.text("ann"), .text("c"), .text("d")], [#"(c,"""anns""")"#]),
        .lists(
            PostgresUserStore.settingsByKey,
            [.text("ann")],
            [
                #"(a,"""first""",230,time)"#, #"(c,"""anns""",210,time)"#, "(d,,250,time)", "(g,,240,time)",
                "(old,,90,time)", #"(sort,"""price""",200,time)"#, #"(wide,"""-price""",260,time)"#,
            ]
        ),
        .finds(PostgresUserStore.userRevision, [.text("ann")], ["(4000000000000000)"]),
        .finds(
            SettingsWriter.existing,
            [.text("ann"), .textArray(["d", "c", "none"])],
            [#"(c,"""anns""",210,time)"#, "(d,,250,time)"]
        ),
        .finds(SettingsWriter.countSettings, [.text("ann")], ["(4,3)"]),
        .returns(UserStatements.reserveRevisions, [.text("ann"), .int8(1000), .int8(3)], ["(4000000000000003)"]),
        .changes(UserStatements.reserveRevisions, [.text("ann"), .int8(1000), .int8(0)], in: accounts, []),
        .changes(
            UserStatements.reserveRevisions,
            [.text("ann"), .int8(revision + 5), .int8(3)],
            in: accounts,
            ["+ (ann,4000000000000008,100)", "- (ann,4000000000000000,100)"]
        ),
        .changes(
            UserStatements.reserveRevisions,
            [.text("eve"), .int8(1000), .int8(3)],
            in: accounts,
            ["+ (eve,1003,20)", "- (eve,50,20)"]
        ),
        .changes(UserStatements.reserveRevisions, [.text("eve"), .int8(1000), .int8(0)], in: accounts, []),
        .changes(
            UserStatements.reserveRevisions,
            [.text("zoe"), .int8(1000), .int8(3)],
            in: accounts,
            ["+ (zoe,1003,1000)"]
        ),
        // A value, a deletion, a return and a new setting.
        .changes(
            SettingsWriter.write,
            [
                .text("ann"), .textArray(["c", "a", "d", "n"]), .textArray(["1", "", "2", "3"]),
                .int8Array([301, 302, 303, 304]), .int8Array([4_000_000_000_000_000, 4_000_000_000_000_000, 5, 6]),
            ],
            in: settings,
            [
                "+ (ann,a,,302,f,f)", "+ (ann,c,1,301,f,t)", "+ (ann,d,2,303,t,t)", "+ (ann,n,3,304,t,t)",
                #"- (ann,a,"""first""",230,t,t)"#, #"- (ann,c,"""anns""",210,t,t)"#, "- (ann,d,,250,t,f)",
            ]
        ),
        .changes(
            SettingsWriter.purgeOldestTombstones,
            [.text("ann"), .int8(2)],
            in: settings,
            ["- (ann,g,,240,t,f)", "- (ann,old,,90,t,f)"]
        ),
        .changes(
            SettingsWriter.purgeOldestTombstones,
            [.text("ann"), .int8(2)],
            in: accounts,
            ["+ (ann,4000000000000000,240)", "- (ann,4000000000000000,100)"]
        ),
        .changes(SettingsWriter.purgeOldestTombstones, [.text("ann"), .int8(1)], in: accounts, []),
        .finds(PostgresUserStore.usersWithOldTombstones, [.ago(98 * day)], ["(ann)", "(bob)"]),
        .changes(
            PostgresUserStore.purgeTombstones,
            [.text("ann"), .ago(90 * day)],
            in: settings,
            ["- (ann,d,,250,t,f)", "- (ann,old,,90,t,f)"]
        ),
        .changes(
            PostgresUserStore.purgeTombstones,
            [.text("ann"), .ago(90 * day)],
            in: accounts,
            ["+ (ann,4000000000000000,250)", "- (ann,4000000000000000,100)"]
        ),
        .changes(PostgresUserStore.purgeTombstones, [.text("ann"), .ago(200 * day)], in: accounts, []),
    ]

    @Test("Each statement of settings concerns the settings of its user, with or without deletion markers")
    func settingsOfUsers() async throws { try await StatementCase.check(Self.settingsCases, on: Self.rows) }

    /// The parameters that set one setting, unless the user has `limit` settings or the shelf does not exist.
    private static func set(
        _ user: String,
        _ key: String,
        _ value: String,
        limit: Int64 = 100,
        on shelf: String = ""
    ) -> [PostgresValue] {
        [
            .textArray([user]), .textArray([key]), .textArray([value]), .textArray([shelf.isEmpty ? "" : "shop"]),
            .textArray([shelf]), .int8(1000), .timestamptz(Timestamp.now().microseconds), .int8(limit), .text("3s"),
            .textArray(["00000000-0000-0000-0000-000000000007"]), .textArray(["api"]), .textArray(["ann"]),
            .textArray([""]),
            .textArray([""]), .textArray([""]),
        ]
    }
    private static let combinedCases: [StatementCase] = [
        .changes(
            SettingsCombiner.setMany,
            set("ann", "c", "1"),
            in: settings,
            [#"- (ann,c,"""anns""",210,t,t)"#, "+ (ann,c,1,4000000000000001,t,t)"]
        ),
        .changes(
            SettingsCombiner.setMany,
            set("ann", "d", "2"),
            in: settings,
            ["- (ann,d,,250,t,f)", "+ (ann,d,2,4000000000000001,t,t)"]
        ),
        .changes(
            SettingsCombiner.setMany,
            set("ann", "c", "1"),
            in: accounts,
            ["- (ann,4000000000000000,100)", "+ (ann,4000000000000001,100)"]
        ),
        .changes(SettingsCombiner.setMany, set("zoe", "c", "1"), in: accounts, ["+ (zoe,1001,1000)"]),
        .changes(SettingsCombiner.setMany, set("eve", "c", "1"), in: accounts, ["- (eve,50,20)", "+ (eve,1001,20)"]),
        // Ann has four settings, and deletion markers, which do not count. The setting that a marker deleted is a new one.
        .changes(SettingsCombiner.setMany, set("ann", "n", "3", limit: 4), in: settings, []),
        .changes(SettingsCombiner.setMany, set("ann", "d", "3", limit: 4), in: settings, []),
        .changes(
            SettingsCombiner.setMany,
            set("ann", "n", "3", limit: 5),
            in: settings,
            ["+ (ann,n,3,4000000000000001,t,t)"]
        ),
        .changes(
            SettingsCombiner.setMany,
            set("ann", "c", "1", limit: 4),
            in: settings,
            [#"- (ann,c,"""anns""",210,t,t)"#, "+ (ann,c,1,4000000000000001,t,t)"]
        ),
        .changes(SettingsCombiner.setMany, set("ann", "c", "1", on: "dairy"), in: settings, []),
        .changes(SettingsCombiner.setMany, set("ann", "c", "1", on: "dairy"), in: accounts, []),
        .changes(
            SettingsCombiner.setMany,
            set("ann", "c", "1"),
            in:
                "SELECT user_id, audit_id, action, source, actor, address, token, request_id, subject, detail FROM user_audit",
            [#"+ (ann,7,settings.change,api,ann,,,,c,"{""set"":[""c""]}")"#]
        ),
    ]

    @Test("A setting that is set with others replaces the value and the deletion marker, within the limit of its user")
    func combined() async throws { try await StatementCase.check(Self.combinedCases, on: Self.rows) }

    // MARK: - Tickets

    private static let ticketsCases: [StatementCase] = [
        .changes(
            PostgresUserStore.deleteOldestTickets,
            [.text("ann"), .int8(2)],
            in: tickets,
            ["- (ann,01)", "- (ann,04)"]
        ),
        .changes(PostgresUserStore.deleteOldestTickets, [.text("ann"), .int8(4)], in: tickets, []),
        .changes(
            PostgresUserStore.consumeTicket,
            [.text("ann"), .bytea([UInt8](repeating: 1, count: 32))],
            in: tickets,
            ["- (ann,01)"]
        ),
        .returns(
            PostgresUserStore.consumeTicket,
            [.text("ann"), .bytea([UInt8](repeating: 1, count: 32))],
            ["(ann,time,time)"]
        ),
        .changes(PostgresUserStore.sweepTickets, [], in: tickets, ["- (ann,04)", "- (bob,09)"]),
        .finds(UserStatements.tokenOwner, [.bytea([UInt8](repeating: 1, count: 32))], ["(ann)"]),
        .changes(
            UserStatements.deleteTokens,
            [.text("ann")],
            in: "SELECT user_id FROM user_token",
            ["- (ann)"]
        ),
    ]

    @Test("Each statement of tickets concerns the tickets and tokens of its user")
    func ticketsOfUsers() async throws { try await StatementCase.check(Self.ticketsCases, on: Self.rows) }

    // MARK: - Erasure

    private static let erasureCases: [StatementCase] = [
        .finds(UserStatements.lockForErasure, [.text("ann")], ["(1)"]),
        .finds(UserStatements.lockForErasure, [.text("zoe")], []),
        .changes(
            UserStatements.deleteSettings,
            [.text("bob")],
            in: settings,
            [
                #"- (bob,c,"""bobs""",210,t,t)"#, "- (bob,d,,240,t,f)", "- (bob,e,,95,t,f)",
                #"- (bob,sort,"""name""",230,t,t)"#,
            ]
        ),
        .changes(UserStatements.deleteTickets, [.text("bob")], in: tickets, ["- (bob,01)", "- (bob,09)"]),
        .changes(
            UserStatements.deleteResponses,
            [.text("bob")],
            in: userResponses,
            ["- (bob,fresh,0f,200,old,0b,f)", "- (bob,old,0f,200,old,0b,f)"]
        ),
        .changes(UserStatements.deleteEvents, [.text("ann")], in: "SELECT data FROM user_event", ["- (ann)"]),
        .changes(
            UserStatements.deletePlaces,
            [.text("ann")],
            in: "SELECT user_id, list_id, owner_id FROM user_list_place",
            ["- (ann,1,eve)"]
        ),
        .returns(UserStatements.deletePlaces, [.text("ann")], ["(eve,1)"]),
    ]

    @Test("Each statement of an erasure concerns the rows of its user")
    func erasure() async throws { try await StatementCase.check(Self.erasureCases, on: Self.rows) }

    // MARK: - Logs

    /// Entries of Ann, of her former account and of Bob; those of one moment differ in their ids only.
    private static let auditRows = """
        INSERT INTO user_audit (user_id, at, audit_id, action, source, actor, subject, detail)
        SELECT e.u, timestamptz '2026-01-01 00:00:00Z' + e.at * interval '1 microsecond',
            ('00000000-0000-0000-0000-00000000000' || e.n)::uuid, e.action, 'api', e.actor, e.subject, '{}'
        FROM (VALUES ('bob', 4, 9, 'set', 'ann', 'x'), ('erased', 3, 8, 'erase', 'eve', NULL), ('ann', 5, 7, 'set', 'bob', 'x'),
            ('ann', 2, 1, 'set', 'ann', 'y'), ('ann', 4, 3, 'list', 'ann', 'x'), ('ann', 4, 4, 'set', 'ann', NULL),
            ('ann', 4, 5, 'set', 'ann', 'x'), ('ann', 6, 6, 'set', 'ann', 'x'), ('ann', 1, 2, 'set', 'ann', 'x'))
            AS e (u, at, n, action, actor, subject);
        """
    private static let start: Int64 = 1_767_225_600_000_000
    private static let last = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    private static let fourth = "00000000-0000-0000-0000-000000000004"

    private static func audit(
        since: Int64 = 0,
        until: Int64 = 100,
        at: Int64 = 100,
        id: String = last,
        action: String? = nil,
        actor: String? = nil,
        subject: String? = nil,
        limit: Int64 = 20
    ) -> [PostgresValue] {
        [
            .text("ann"), .timestamptz(start + since), .timestamptz(start + until), .timestamptz(start + at), .text(id),
            .text(action), .text(actor), .text(subject), .int8(limit), .text("erased"),
        ]
    }

    @Test("The log of a user has the entries of the user and of the erasure, with each condition, the latest first")
    func audit() async throws {
        let cases: [([PostgresValue], [Int])] = [
            (Self.audit(), [6, 7, 5, 4, 3, 8, 1, 2]), (Self.audit(since: 2), [6, 7, 5, 4, 3, 8, 1]),
            (Self.audit(since: 3), [6, 7, 5, 4, 3, 8]), (Self.audit(until: 6), [7, 5, 4, 3, 8, 1, 2]),
            (Self.audit(until: 5), [5, 4, 3, 8, 1, 2]), (Self.audit(at: 4), [5, 4, 3, 8, 1, 2]),
            (Self.audit(at: 4, id: Self.fourth), [3, 8, 1, 2]), (Self.audit(at: 3, id: Self.fourth), [1, 2]),
            (Self.audit(action: "set"), [6, 7, 5, 4, 1, 2]), (Self.audit(actor: "ann"), [6, 5, 4, 3, 1, 2]),
            (Self.audit(subject: "x"), [6, 7, 5, 3, 2]), (Self.audit(action: "erase", actor: "eve"), [8]),
            (Self.audit(since: 3, until: 4), [8]), (Self.audit(limit: 3), [6, 7, 5]),
            (Self.audit(at: 3, limit: 1), [8]),
        ]
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (found, all) = try await catalog.database.writes.perform { connection in
                try connection.run(script: Self.auditRows)
                let found = try cases.map { parameters, _ in
                    try connection.query(AuditStatements.ofUser, parameters) {
                        try $0.map { Int(try $0.text(0).suffix(1)) ?? 0 }
                    }
                }
                let all = try connection.query(AuditStatements.allOfUser, [.text("ann")]) {
                    try $0.map { Int(try $0.text(0).suffix(1)) ?? 0 }
                }
                return (found, all)
            }
            for ((parameters, expected), ids) in zip(cases, found) { #expect(ids == expected, "\(parameters)") }
            #expect(all == [2, 1, 3, 4, 5, 7, 6])
        }
    }
}
