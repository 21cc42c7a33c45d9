import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Each condition of the statements of manual orders, changes and images of shelves, by a row that only this condition leaves out.
///
/// Shelf 1 of store 1 is the one that statements name. Shelf 2 of the store and shelf 1 of store 2 have products with the same SKUs and keys
/// in between. Versions are in the future, so that the next one does not depend on the clock.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the texts of rows are read in one query"),
    .timeLimit(.minutes(15))
) struct OrderStatementTests {
    private static let day: Int64 = 86_400
    private static let version: Int64 = 4_000_000_000_000_000

    private static let rows = """
        INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
            popularity_half_life_days, newcomer_boost, deleted_at)
        OVERRIDING SYSTEM VALUE
        SELECT n, CASE n WHEN 1 THEN 'shop' WHEN 2 THEN 'other' ELSE 'gone' END, 'S', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0,
            CASE WHEN n = 3 THEN now() END FROM generate_series(1, 3) n;
        INSERT INTO store_state (store_id, version) SELECT store_id, 100 * store_id FROM store;
        INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at, product_count, version, order_version,
            order_changes, key_generation, resorted_version, deleted_at)
        SELECT s.store, s.shelf, s.key, s.key, '', int4send(s.shelf), now(), s.products, \(version) + s.later, \(version) + 10, 7,
            2000000000, \(version) + s.later - s.older, CASE WHEN s.key = 'three' THEN now() END
        FROM (VALUES (2, 7, 'one', 0, 0, 0), (2, 2, 'nine', 0, 0, 0), (2, 1, 'seven', 0, 500, 0), (1, 3, 'three', 0, 0, 0),
            (3, 1, 'one', 0, 500, 0), (1, 4, 'four', 40, 0, 0), (1, 2, 'two', 136, 0, 0), (1, 1, 'one', 135, 0, 1)) AS s (store, shelf, key, products, later, older);
        INSERT INTO placement_position (store_id, shelf_id, sku, key, removed_at)
        SELECT p.store, p.shelf, p.sku, decode(p.key, 'hex'), CASE WHEN p.removed THEN now() END
        FROM (VALUES (2, 1, 'a', '0c', false), (2, 1, 'v', '17', false), (2, 1, 'y', '23', false), (2, 1, 'z', '2d', true),
            (2, 1, 't', '1b', true), (2, 1, 's', '06', true), (2, 1, 'd', 'ee', true), (2, 1, 'c', 'ed', false), (2, 1, 'k', 'f0', false),
            (1, 2, 'a', '0f', false), (1, 2, 'x', '19', true), (1, 2, 'v', '18', false), (1, 2, 'u', '05', true), (1, 2, 'c', 'ec', false),
            (1, 2, 'd', 'ef', false), (1, 2, 'w', 'ff', true), (1, 1, 'a', '0a', false), (1, 1, 'd', '28', false), (1, 1, 'b', '14', false),
            (1, 1, 'f', '3c', false), (1, 1, 'g', '2d', true), (1, 1, 'e', '32', true), (1, 1, 'c', '1e', true))
            AS p (store, shelf, sku, key, removed);
        INSERT INTO order_change (store_id, shelf_id, slot, change_number, changed_at, subject, kind, undoes, undone_by, moved, placed)
        SELECT c.store, c.shelf, c.slot, c.number, now() - c.slot * interval '1 minute', c.subject, 'move', NULL, 9, c.moved, c.moved
        FROM (VALUES (2, 1, 6, 106, 'eve', 'y/a'), (2, 1, 3, 103, 'ann', 'y/a'), (1, 2, 3, 103, 'bob', 'a/'), (1, 1, 5, 5, 'bob', 'b/a/d/b'), (1, 1, 3, 103, 'ann', 'd/'),
            (1, 1, 4, 104, NULL, 'a/d/b/'), (2, 1, 4, 104, 'bob', 'y/a')) AS c (store, shelf, slot, number, subject, moved);
        """
    private static let positions: SQL =
        "SELECT store_id, shelf_id, sku, encode(key, 'hex'), is_removed FROM placement_position"
    private static let history: SQL = """
        SELECT store_id, shelf_id, slot, change_number, changed_at = now(), subject, kind, undoes, undone_by, moved, placed
        FROM order_change
        """
    private static let shelves: SQL = """
        SELECT store_id, shelf_id, version, order_version, order_changes, key_generation, resorted_version FROM shelf
        """

    private static let ordersCases: [StatementCase] = [
        .finds(ManualOrderStatements.shelfID, [.int4(1), .text("one")], ["(1)"]),
        .finds(ManualOrderStatements.shelfID, [.int4(1), .text("three")], ["(3)"]),
        .finds(ManualOrderStatements.shelfID, [.int4(2), .text("one")], ["(7)"]),
        .returns(
            ManualOrderStatements.lockShelf,
            [.int4(1), .int4(1)],
            ["(4000000000000000,4000000000000010,4000000000000001,4000000000000011,8)"]
        ),
        .returns(ManualOrderStatements.lockShelf, [.int4(1), .int4(3)], []),
        .changes(
            ManualOrderStatements.lockShelf,
            [.int4(1), .int4(1)],
            in: shelves,
            [
                "+ (1,1,4000000000000001,4000000000000011,8,2000000000,3999999999999999)",
                "- (1,1,4000000000000000,4000000000000010,7,2000000000,3999999999999999)",
            ]
        ),
        .finds(ManualOrderStatements.rows, [.int4(1), .int4(1), .textArray(["b"])], [#"(b,"\\x14","\\x0a",a,,)"#]),
        // A product without neighbours on the left, one with a placed neighbour, and one with both.
        .finds(
            ManualOrderStatements.rows,
            [.int4(1), .int4(1), .textArray(["a", "c", "d", "f", "y"])],
            [#"(a,"\\x0a",,,,)"#, #"(d,"\\x28","\\x14",b,"\\x1e",c)"#, #"(f,"\\x3c","\\x28",d,"\\x32",e)"#]
        ),
        .finds(
            ManualOrderStatements.right,
            [.int4(1), .int4(1), .textArray(["b"]), .text("a")],
            [#"("\\x0a","\\x28",d,"\\x1e")"#]
        ),
        .finds(
            ManualOrderStatements.right,
            [.int4(1), .int4(1), .textArray(["b", "c"]), .text("a")],
            [#"("\\x0a","\\x28",d,"\\x2d")"#]
        ),
        .finds(
            ManualOrderStatements.right,
            [.int4(1), .int4(1), .textArray(["a"]), .text(nil)],
            [#"(,"\\x14",b,"\\x1e")"#]
        ),
        .finds(ManualOrderStatements.right, [.int4(1), .int4(1), .textArray(["b"]), .text("f")], [#"("\\x3c",,,)"#]),
        .finds(
            ManualOrderStatements.left,
            [.int4(1), .int4(1), .textArray(["b"]), .text("d")],
            [#"("\\x28","\\x0a",a,"\\x1e")"#]
        ),
        .finds(
            ManualOrderStatements.left,
            [.int4(1), .int4(1), .textArray(["b", "c"]), .text("d")],
            [#"("\\x28","\\x0a",a,)"#]
        ),
        .finds(
            ManualOrderStatements.left,
            [.int4(1), .int4(1), .textArray(["f"]), .text(nil)],
            [#"(,"\\x28",d,"\\x32")"#]
        ),
        .finds(ManualOrderStatements.left, [.int4(1), .int4(1), .textArray(["b"]), .text("a")], [#"("\\x0a",,,)"#]),
        .finds(ManualOrderStatements.atPosition, [.int4(1), .int4(1), .textArray(["b"]), .int8(0)], ["(a)"]),
        .finds(ManualOrderStatements.atPosition, [.int4(1), .int4(1), .textArray(["f"]), .int8(1)], ["(b)"]),
        .finds(ManualOrderStatements.atPosition, [.int4(1), .int4(1), .textArray(["a"]), .int8(2)], ["(f)"]),
        .finds(ManualOrderStatements.atPosition, [.int4(1), .int4(1), .textArray([]), .int8(4)], []),
        .finds(ManualOrderStatements.lastKey, [.int4(1), .int4(1)], [#"("\\x3c")"#]),
        .finds(ManualOrderStatements.lastKey, [.int4(1), .int4(2)], [#"("\\xff")"#]),
        .finds(ManualOrderStatements.lastKey, [.int4(1), .int4(9)], ["()"]),
        .changes(
            ManualOrderStatements.setKeys,
            [.int4(1), .int4(1), .textArray(["a", "d"]), .byteaArray([[1], [2]])],
            in: positions,
            ["+ (1,1,a,01,f)", "+ (1,1,d,02,f)", "- (1,1,a,0a,f)", "- (1,1,d,28,f)"]
        ),
        .lists(
            ManualOrderStatements.leftNeighbours,
            [.int4(1), .int4(1), .textArray(["f", "a", "d", "b", "e"])],
            ["(a,)", "(b,a)", "(d,b)", "(e,d)", "(f,d)"]
        ),
        .finds(
            ManualOrderStatements.indexes,
            [.int4(1), .int4(1), .textArray(["f", "d", "e", "y"])],
            ["(d,2)", "(f,3)"]
        ),
        .finds(
            ManualOrderStatements.wholeList,
            [.int4(1), .int4(1)],
            [
                #"(a,"\\x0a",f)"#, #"(b,"\\x14",f)"#, #"(c,"\\x1e",t)"#, #"(d,"\\x28",f)"#, #"(e,"\\x32",t)"#,
                #"(f,"\\x3c",f)"#, #"(g,"\\x2d",t)"#,
            ]
        ),
        // A change takes the place of another one in its slot, with nothing of it.
        .changes(
            ManualOrderStatements.rememberChange,
            [
                .int4(1), .int4(1), .int2(3), .int8(203), .text("eve"), .text("undo"), .int8(104), .text("f/d"),
                .text("203/f/b"),
            ],
            in: history,
            ["+ (1,1,3,203,t,eve,undo,104,,f/d,203/f/b)", "- (1,1,3,103,f,ann,move,,9,d/,d/)"]
        ),
        .changes(
            ManualOrderStatements.rememberChange,
            [
                .int4(1), .int4(1), .int2(9), .int8(209), .text("eve"), .text("undo"), .int8(104), .text("f/d"),
                .text("209/f/b"),
            ],
            in: history,
            []
        ),
        .changes(
            ManualOrderStatements.rememberFirstChange,
            [
                .int4(1), .int4(1), .int2(9), .int8(209), .text("eve"), .text("undo"), .int8(104), .text("f/d"),
                .text("209/f/b"),
            ],
            in: history,
            ["+ (1,1,9,209,t,eve,undo,104,,f/d,209/f/b)"]
        ),
        // A shelf of another store has used the slot.
        .changes(
            ManualOrderStatements.rememberFirstChange,
            [
                .int4(1), .int4(1), .int2(6), .int8(206), .text("eve"), .text("undo"), .int8(104), .text("f/d"),
                .text("206/f/b"),
            ],
            in: history,
            ["+ (1,1,6,206,t,eve,undo,104,,f/d,206/f/b)"]
        ),
        // Shelf 2 has used another slot.
        .changes(
            ManualOrderStatements.rememberFirstChange,
            [
                .int4(1), .int4(2), .int2(5), .int8(205), .text(nil), .text("set"), .int8(nil), .text("f/d"),
                .text("205/f/b"),
            ],
            in: history,
            ["+ (1,2,5,205,t,,set,,,f/d,205/f/b)"]
        ),
        .changes(
            ManualOrderStatements.rememberFirstChange,
            [
                .int4(1), .int4(1), .int2(3), .int8(203), .text("eve"), .text("undo"), .int8(104), .text("f/d"),
                .text("203/f/b"),
            ],
            in: history,
            []
        ),
        .changes(
            ManualOrderStatements.markUndone,
            [.int4(1), .int4(1), .int8(103), .int8(105)],
            in: history,
            ["+ (1,1,3,103,f,ann,move,,105,d/,d/)", "- (1,1,3,103,f,ann,move,,9,d/,d/)"]
        ),
        .changes(
            ManualOrderStatements.markUndone,
            [.int4(1), .int4(1), .int8(103), .int8(nil)],
            in: history,
            ["+ (1,1,3,103,f,ann,move,,,d/,d/)", "- (1,1,3,103,f,ann,move,,9,d/,d/)"]
        ),
        .lists(
            ManualOrderStatements.history,
            [.int4(1), .int4(1)],
            [
                "(104,time,,move,,9,a/d/b/,2,a/d/b/)", "(103,time,ann,move,,9,d/,1,d/)",
                "(5,time,bob,move,,9,b/a/d/b,2,b/a/d/b)",
            ]
        ),
        .finds(ManualOrderStatements.movedBy, [.int4(1), .int4(1), .int8(103)], ["(d/)"]),
        .changes(
            ManualOrderStatements.bumpGeneration,
            [.int4(1), .int4(1)],
            in: shelves,
            [
                "+ (1,1,4000000000000001,4000000000000010,7,2000000001,3999999999999999)",
                "- (1,1,4000000000000000,4000000000000010,7,2000000000,3999999999999999)",
            ]
        ),
        // Its scores were current, and still are.
        .changes(
            ManualOrderStatements.bumpGeneration,
            [.int4(1), .int4(2)],
            in: shelves,
            [
                "+ (1,2,4000000000000001,4000000000000010,7,2000000001,4000000000000001)",
                "- (1,2,4000000000000000,4000000000000010,7,2000000000,4000000000000000)",
            ]
        ),
        .changes(
            UserStatements.clearSubject,
            [.text("ann")],
            in: history,
            [
                "+ (1,1,3,103,f,,move,,9,d/,d/)", "+ (2,1,3,103,f,,move,,9,y/a,y/a)",
                "- (1,1,3,103,f,ann,move,,9,d/,d/)", "- (2,1,3,103,f,ann,move,,9,y/a,y/a)",
            ]
        ),
        .lists(
            PostgresUserStore.orderChanges,
            [.text("bob")],
            ["(shop,one,move,time)", "(other,seven,move,time)", "(shop,two,move,time)"]
        ),
        .finds(ShelfReadStatements.position, [.int4(1), .int4(1), .text("c")], [#"("\\x1e")"#]),
        .lists(ManualOrderStatements.rowsUpTo, [.int4(1), .int4(1), .bytea([0x3c]), .int8(1)], [#"(f,"\\x3c")"#]),
        .lists(ManualOrderStatements.rowsUpTo, [.int4(1), .int4(1), .bytea([0x33]), .int8(1)], [#"(e,"\\x32")"#]),
        .lists(ManualOrderStatements.rowsUpTo, [.int4(1), .int4(1), .bytea([0x32]), .int8(1)], [#"(e,"\\x32")"#]),
        .lists(ManualOrderStatements.rowsAfter, [.int4(1), .int4(1), .bytea([0x0b]), .int8(1)], [#"(b,"\\x14")"#]),
        .lists(ManualOrderStatements.rowsAfter, [.int4(1), .int4(1), .bytea([0x15]), .int8(1)], [#"(c,"\\x1e")"#]),
        .lists(ManualOrderStatements.rowsAfter, [.int4(1), .int4(1), .bytea([0x1e]), .int8(1)], [#"(d,"\\x28")"#]),
        .lists(
            ManualOrderStatements.rowsUpTo,
            [.int4(1), .int4(1), .bytea([0x28]), .int8(3)],
            [#"(d,"\\x28")"#, #"(c,"\\x1e")"#, #"(b,"\\x14")"#]
        ),
        .lists(
            ManualOrderStatements.rowsAfter,
            [.int4(1), .int4(1), .bytea([0x14]), .int8(3)],
            [#"(c,"\\x1e")"#, #"(d,"\\x28")"#, #"(g,"\\x2d")"#]
        ),
    ]

    @Test("Each statement of manual orders concerns the products of its shelf, and removed ones where they count")
    func orders() async throws { try await StatementCase.check(Self.ordersCases, on: Self.rows) }

    /// Keys of 64 bytes are not long, and those of 65 bytes are.
    private static let longKeyRows = """
        INSERT INTO placement_position (store_id, shelf_id, sku, key)
        SELECT k.store, k.shelf, k.sku, decode(k.byte || repeat('00', k.length - 2) || '01', 'hex')
        FROM (VALUES (2, 1, 'a', '01', 90), (1, 2, 'a', '01', 80), (1, 3, 'a', '01', 64), (1, 1, 'c', '03', 64), (1, 1, 'b', '02', 65),
            (1, 1, 'd', '04', 67), (1, 1, 'e', '05', 66)) AS k (store, shelf, sku, byte, length);
        """
    private static let longKeysCases: [StatementCase] = [
        .finds(ManualOrderStatements.shelvesWithLongKeys, [.int4(nil), .int4(nil)], ["(1,1)", "(1,2)", "(2,1)"]),
        .finds(ManualOrderStatements.shelvesWithLongKeys, [.int4(1), .int4(nil)], ["(1,1)", "(1,2)"]),
        .finds(ManualOrderStatements.shelvesWithLongKeys, [.int4(1), .int4(1)], ["(1,1)"]),
        .lists(
            "SELECT octet_length(key) FROM placement_position WHERE store_id = 1 AND shelf_id = 1 ORDER BY key",
            [],
            ["(65)", "(64)", "(67)", "(66)"]
        ),
    ]

    @Test("Shelves with long keys are those with a key of more than 64 bytes")
    func longKeys() async throws {
        try await StatementCase.check(Self.longKeysCases, on: Self.longKeyRows)
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let lengths = try await catalog.database.writes.perform { connection in
                try connection.run(script: Self.longKeyRows)
                try connection.run(script: "SET enable_indexscan = off; SET enable_indexonlyscan = off")
                defer { try? connection.run(script: "RESET enable_indexscan; RESET enable_indexonlyscan") }
                return try connection.query(ManualOrderStatements.longKeys, [.int4(1), .int4(1)]) {
                    try $0.map { try $0.bytea(0).count }
                }
            }
            #expect(lengths == [67, 66, 65])
        }
    }

    // MARK: - Changes of shelves

    private static let changes: SQL = """
        SELECT store_id, shelf_id, version, previous_version, cardinality(skus),
            (SELECT string_agg(s, '+' ORDER BY s) FROM unnest(skus[1:3]) AS s) FROM shelf_change
        """
    private static let changeRows =
        rows + """
            INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
            VALUES (1, 1, \(version) + 1, 5, '{old}'), (1, 2, \(version), 6, '{old}'), (2, 1, \(version) + 1, 7, '{old}');
            INSERT INTO product (store_id, sku, name, name_key, created_at, modified_at)
            SELECT s.store, s.sku, s.sku, '', now(), now()
            FROM (VALUES (1, 'a'), (1, 'b'), (1, 'c'), (1, 'd'), (2, 'a'), (2, 'b')) AS s (store, sku);
            INSERT INTO placement (store_id, shelf_id, sku, popularity_log2)
            SELECT s.store, s.shelf, s.sku, 0 FROM (VALUES (2, 1, 'a'), (2, 2, 'b'), (1, 2, 'a'), (1, 2, 'c'), (1, 1, 'd'), (1, 1, 'b'),
                (1, 1, 'a')) AS s (store, shelf, sku);
            INSERT INTO import_row (import_id, line, store_id, sku, name)
            SELECT ('00000000-0000-0000-0000-00000000000' || i.import)::uuid, 1, i.store, i.sku, i.sku
            FROM (VALUES (1, 2, 'd'), (2, 1, 'd'), (1, 1, 'b'), (1, 1, 'a')) AS i (import, store, sku);
            """
    private static let sixteen = (1...16).map { "p\($0)" }
    private static let seventeen = (1...17).map { "p\($0)" }
    private static let eighteen = (1...18).map { "p\($0)" }
    private static let import1 = "00000000-0000-0000-0000-000000000001"

    private static let recordsCases: [StatementCase] = [
        // One shelf has a row of the next version already, and the other one of its current version.
        .changes(
            ShelfChangeStatements.record,
            [.int4(1), .int8Array([1, 2, 2]), .textArray(["a", "b", "c"])],
            in: changes,
            [
                "+ (1,1,4000000000000001,4000000000000000,2,a+old)", "+ (1,2,4000000000000001,4000000000000000,2,b+c)",
                "- (1,1,4000000000000001,5,1,old)",
            ]
        ),
        .changes(
            ShelfChangeStatements.record,
            [.int4(1), .int8Array([2]), .textArray([""])],
            in: changes,
            ["+ (1,2,4000000000000001,4000000000000000,0,)"]
        ),
        // An eighth of 136 products is 17, and of 135 it is 16. A shelf with few products may have 16 changes.
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(1), .int4(2), .int8(50), .int8(40), .textArray(seventeen)],
            in: changes,
            ["+ (1,2,50,40,17,p1+p2+p3)"]
        ),
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(1), .int4(2), .int8(50), .int8(40), .textArray(eighteen)],
            in: changes,
            []
        ),
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(1), .int4(1), .int8(50), .int8(40), .textArray(sixteen)],
            in: changes,
            ["+ (1,1,50,40,16,p1+p2+p3)"]
        ),
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(1), .int4(1), .int8(50), .int8(40), .textArray(seventeen)],
            in: changes,
            []
        ),
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(2), .int4(1), .int8(50), .int8(40), .textArray(sixteen)],
            in: changes,
            ["+ (2,1,50,40,16,p1+p2+p3)"]
        ),
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(2), .int4(1), .int8(50), .int8(40), .textArray(seventeen)],
            in: changes,
            []
        ),
        .changes(
            ShelfChangeStatements.recordAfter,
            [.int4(1), .int4(1), .int8(version + 1), .int8(40), .textArray(["new"])],
            in: changes,
            ["+ (1,1,4000000000000001,40,2,new+old)", "- (1,1,4000000000000001,5,1,old)"]
        ),
        .changes(
            ShelfChangeStatements.record,
            [
                .int4(2), .int8Array([7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]), .textArray(sixteen),
            ],
            in: changes,
            ["+ (2,7,4000000000000001,4000000000000000,16,p1+p2+p3)"]
        ),
        .changes(
            ShelfChangeStatements.record,
            [
                .int4(2), .int8Array([7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]), .textArray(seventeen),
            ],
            in: changes,
            []
        ),
        .changes(
            ShelfChangeStatements.recordSettingsOfAll,
            [.int4(1)],
            in: changes,
            [
                "+ (1,1,4000000000000001,4000000000000000,1,old)", "+ (1,2,4000000000000001,4000000000000000,0,)",
                "+ (1,3,4000000000000001,4000000000000000,0,)", "+ (1,4,4000000000000001,4000000000000000,0,)",
                "- (1,1,4000000000000001,5,1,old)",
            ]
        ),
        .changes(
            ShelfChangeStatements.recordImport,
            [.int4(1), .text(import1), .int8Array([1, 2, 2]), .textArray(["b", "z", "y"]), .int8Array([1, 2])],
            in: changes,
            [
                "+ (1,1,4000000000000001,4000000000000000,3,a+b+old)",
                "+ (1,2,4000000000000001,4000000000000000,3,a+y+z)", "- (1,1,4000000000000001,5,1,old)",
            ]
        ),
        .changes(
            ShelfChangeStatements.recordImport,
            [.int4(1), .text(import1), .int8Array([1, 2, 2]), .textArray(["b", "z", "y"]), .int8Array([2])],
            in: changes,
            ["+ (1,2,4000000000000001,4000000000000000,3,a+y+z)"]
        ),
    ]

    @Test("A change of a shelf is recorded with its products, unless more than an eighth of them changed")
    func records() async throws { try await StatementCase.check(Self.recordsCases, on: Self.changeRows) }

    // MARK: - Following changes

    private static let chainRows =
        rows + """
            INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
            SELECT c.store, c.shelf, \(version) - c.after, \(version) - c.before, ARRAY[c.sku]
            FROM (VALUES (1, 1, 0, 10, 'last'), (1, 1, 10, 20, 'middle'), (1, 1, 20, 30, 'first'), (1, 1, 30, 50, 'old'),
                (1, 2, 5, 10, 'of another shelf'), (2, 1, -495, 10, 'of another store'), (2, 7, 10, 20, 'first of a broken chain'),
                (2, 7, 0, 9, 'last of a broken chain'), (1, 3, 0, 10, 'of a deleted shelf')) AS c (store, shelf, after, before, sku);
            INSERT INTO shelf_image (store_id, shelf_id, version, format, used_at, image)
            SELECT i.store, i.shelf, \(version) - i.before, i.format, now(), i.image::bytea
            FROM (VALUES (1, 1, 10, 8, 'one'), (1, 2, 0, 8, 'two'), (2, 1, -500, 8, 'three'), (2, 7, 20, 8, 'four'), (1, 3, 0, 8, 'five'))
                AS i (store, shelf, before, format, image);
            """
    private static func following(_ store: Int32, _ shelf: Int32, _ before: Int64?, _ format: Int64?) -> [PostgresValue]
    {
        [.int4(store), .int4(shelf), .int8(before.map { version - $0 }), .int8(format)]
    }

    /// Returns the changed products and the image of the rows of a query for changes; nil without a row.
    private static func followed(_ rows: borrowing PostgresRows) throws -> [String]? {
        let found = try rows.map { row in
            let image = try row.byteaOrNil(ShelfReadStatements.imageColumn)
            return try row.textOrNil(1) ?? "image \(String(decoding: image ?? [], as: UTF8.self))"
        }
        return found.isEmpty ? nil : found.sorted()
    }

    /// A shelf at a version before the current one, the format of images, and the rows of the query for its changes.
    private static let chained: [(store: Int32, shelf: Int32, before: Int64?, format: Int64?, expected: [String]?)] = [
        (1, 1, 0, nil, ["image "]),
        (1, 1, 10, nil, ["image ", "last"]),
        (1, 1, 30, nil, ["first", "image ", "last", "middle"]),
        // A version that no change follows, and one that is later than the shelf's.
        (1, 1, 25, nil, nil),
        (1, 1, -1, nil, nil),
        (1, 1, nil, nil, nil),
        // The image with the changes after it, also for a server with another version.
        (1, 1, nil, 8, ["image one", "last"]),
        (1, 1, 25, 8, ["image one", "last"]),
        (1, 1, 20, 8, ["image ", "last", "middle"]),
        (1, 1, nil, 9, nil),
        (1, 2, nil, 8, ["image two"]),
        (2, 1, nil, 8, ["image three"]),
        // The chain has a gap, with the image as well.
        (2, 7, 20, nil, nil),
        (2, 7, nil, 8, nil),
        (2, 7, 9, nil, ["image ", "last of a broken chain"]),
        (1, 3, 10, 8, nil),
    ]

    @Test("A shelf follows the complete chain of its own changes, or those after its own image")
    func chains() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let found = try await catalog.database.writes.perform { connection in
                try connection.run(script: Self.chainRows)
                return try Self.chained.map { chain in
                    let parameters = Self.following(chain.store, chain.shelf, chain.before, chain.format)
                    return try connection.query(ShelfReadStatements.latest, parameters) { try Self.followed($0) }
                }
            }
            for (chain, rows) in zip(Self.chained, found) { #expect(rows == chain.expected, "\(chain)") }
        }
    }

    @Test("A chain of 1,000 changes is followed, and a longer one is not")
    func longChains() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let counts = try await catalog.database.writes.perform { connection in
                try connection.run(script: Self.rows)
                try connection.run(
                    script: """
                        INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
                        SELECT 1, 1, \(Self.version) - n, \(Self.version) - n - 1, ARRAY['p' || n] FROM generate_series(0, 1000) n
                        """
                )
                return try [1000, 1001].map { before in
                    try connection.query(ShelfReadStatements.latest, Self.following(1, 1, before, nil)) {
                        try Self.followed($0)?.count
                    }
                }
            }
            #expect(counts == [1001, nil])
        }
    }

    // MARK: - Images

    private static let imageRows =
        rows + """
            INSERT INTO shelf_image (store_id, shelf_id, version, format, used_at, image)
            SELECT i.store, i.shelf, \(version) - i.before, i.format, now() - i.hours * interval '1 hour', 'x'
            FROM (VALUES (3, 1, 0, 8, 1), (1, 3, 0, 8, 1), (2, 7, 0, 9, 1), (2, 1, 0, 8, 30), (1, 1, 5, 8, 20), (1, 4, 0, 8, 10), (1, 2, 0, 8, 2))
                AS i (store, shelf, before, format, hours);
            INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
            VALUES (1, 1, \(version) - 1, 1, '{}'), (1, 9, \(version), 1, '{}'), (2, 2, \(version), 1, '{}'), (1, 2, \(version) - 1, 1, '{}'), (2, 1, \(version) + 500, 1, '{}'), (2, 7, \(version), 1, '{}');
            """
    private static let images: SQL = """
        SELECT store_id, shelf_id, version, format, now() - used_at < interval '30 minutes', encode(image, 'hex') FROM shelf_image
        """

    private static let imagesCases: [StatementCase] = [
        .finds(ShelfImageStatements.state, [.int4(1), .int4(1), .int8(8), .int8(4)], ["(4000000000000000,135,f)"]),
        .finds(ShelfImageStatements.state, [.int4(1), .int4(1), .int8(8), .int8(5)], ["(4000000000000000,135,t)"]),
        .finds(ShelfImageStatements.state, [.int4(1), .int4(1), .int8(9), .int8(5)], ["(4000000000000000,135,f)"]),
        .finds(ShelfImageStatements.state, [.int4(2), .int4(7), .int8(8), .int8(0)], ["(4000000000000000,0,f)"]),
        .finds(ShelfImageStatements.state, [.int4(1), .int4(3), .int8(8), .int8(0)], []),
        .lists(
            ShelfImageStatements.unrecorded,
            [.int4(1), .int8Array([1, 2, 3, 4]), .int8(8), .ago(day)],
            ["(2,136,time)", "(4,40,time)", "(1,135,time)"]
        ),
        .lists(ShelfImageStatements.unrecorded, [.int4(1), .int8Array([1]), .int8(8), .ago(day)], ["(1,135,time)"]),
        .lists(
            ShelfImageStatements.unrecorded,
            [.int4(1), .int8Array([1, 2]), .int8(8), .ago(day / 2)],
            ["(2,136,time)"]
        ),
        .lists(ShelfImageStatements.unrecorded, [.int4(1), .int8Array([1, 2]), .int8(9), .ago(day)], []),
        // The change of this shelf is recorded.
        .lists(ShelfImageStatements.unrecorded, [.int4(2), .int8Array([1, 7]), .int8(8), .ago(2 * day)], []),
        .changes(
            ShelfImageStatements.write,
            [.int4(1), .int4(1), .int8(version), .int8(8), .ago(0), .bytea([1])],
            in: images,
            ["+ (1,1,4000000000000000,8,t,01)", "- (1,1,3999999999999995,8,f,78)"]
        ),
        // The later use stays, an equal version is replaced, an earlier one with another format too, and with the same format not.
        .changes(
            ShelfImageStatements.write,
            [.int4(1), .int4(1), .int8(version - 5), .int8(8), .ago(30 * day), .bytea([1])],
            in:
                "SELECT store_id, shelf_id, used_at > now() - interval '21 hours', encode(image, 'hex') FROM shelf_image",
            ["+ (1,1,t,01)", "- (1,1,t,78)"]
        ),
        .changes(
            ShelfImageStatements.write,
            [.int4(1), .int4(1), .int8(version - 6), .int8(9), .ago(0), .bytea([1])],
            in: images,
            ["+ (1,1,3999999999999994,9,t,01)", "- (1,1,3999999999999995,8,f,78)"]
        ),
        .changes(
            ShelfImageStatements.write,
            [.int4(1), .int4(1), .int8(version - 6), .int8(8), .ago(0), .bytea([1])],
            in: images,
            []
        ),
        .changes(
            ShelfImageStatements.write,
            [.int4(1), .int4(3), .int8(version + 1), .int8(8), .ago(0), .bytea([1])],
            in: images,
            []
        ),
        .changes(
            ShelfImageStatements.use,
            [.int4(1), .int8Array([1, 2]), .ago(0), .ago(day / 2)],
            in: images,
            ["+ (1,1,3999999999999995,8,t,78)", "- (1,1,3999999999999995,8,f,78)"]
        ),
        .changes(
            ShelfImageStatements.use,
            [.int4(1), .int8Array([1, 2]), .ago(0), .ago(0)],
            in: images,
            [
                "+ (1,1,3999999999999995,8,t,78)", "+ (1,2,4000000000000000,8,t,78)", "- (1,1,3999999999999995,8,f,78)",
                "- (1,2,4000000000000000,8,f,78)",
            ]
        ),
        .lists(
            ShelfImageStatements.lastUsed,
            [.int8(8), .int8(10)],
            ["(1,2,shop,two)", "(1,4,shop,four)", "(1,1,shop,one)", "(2,1,other,seven)"]
        ),
        .lists(ShelfImageStatements.lastUsed, [.int8(8), .int8(1)], ["(1,2,shop,two)"]),
        .lists(ShelfImageStatements.lastUsed, [.int8(9), .int8(10)], ["(2,7,other,one)"]),
        .changes(ShelfImageStatements.deleteUnused, [.ago(day)], in: images, ["- (2,1,4000000000000000,8,f,78)"]),
    ]

    @Test("Images are stored, used and deleted by shelf, version, format and time of use")
    func imagesOfShelves() async throws { try await StatementCase.check(Self.imagesCases, on: Self.imageRows) }
}
