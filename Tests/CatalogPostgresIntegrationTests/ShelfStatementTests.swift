import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Each condition of the statements of stores and shelves, by a row that only this condition leaves out.
///
/// Store 1 is the one that statements name. Store 2 has shelves with the same ids and other keys, and store 3 is deleted. Versions are in
/// the future, so that the next one does not depend on the clock.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the texts of rows are read in one query"),
    .timeLimit(.minutes(15))
) struct ShelfStatementTests {
    private static let version: Int64 = 4_000_000_000_000_000

    /// Below shelf `a` are `b` and `d`, below `b` are `c` and the deleted shelf `e`, and below `e` is `f`.
    private static let rows = """
        INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, default_sort, popularity_metric,
            popularity_half_life_days, newcomer_boost, deleted_at)
        OVERRIDING SYSTEM VALUE
        SELECT s.n, s.key, s.key, 'EUR', 'en', 'eu', 'last', NULL, 'decay', 14, 0, CASE WHEN s.n = 3 THEN now() END
        FROM (VALUES (3, 'gone'), (1, 'shop'), (2, 'other')) AS s (n, key);
        INSERT INTO store_state (store_id, version, shelf_order_version, deletions)
        SELECT store_id, \(version) + store_id, \(version) + 10 * store_id, 5 FROM store;
        INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at, product_count, version, order_version,
            settled_dimension, default_sort, deleted_at)
        SELECT s.store, s.shelf, s.key, s.key, '', int4send(s.position), timestamptz '2098-01-01 00:00:00Z', 20 + s.shelf,
            \(version) + 100 + s.shelf, \(version) + 200, 1, s.sort, CASE WHEN s.key IN ('e', 'q') THEN now() END
        FROM (VALUES (3, 1, 'a', 1, NULL), (2, 9, 'a', 9, NULL), (2, 5, 'r', 5, '-name'), (2, 4, 'q', 4, NULL), (2, 3, 'c', 3, '-price'),
            (2, 2, 'p', 2, '-price'), (2, 1, 'o', 1, '-price'), (1, 6, 'f', 2, NULL), (1, 5, 'e', 6, NULL), (1, 4, 'd', 5, NULL),
            (1, 3, 'c', 1, NULL), (1, 2, 'b', 4, 'brand'), (1, 1, 'a', 3, 'price')) AS s (store, shelf, key, position, sort);
        UPDATE shelf h SET parent_id = p.parent FROM (VALUES (1, 2, 1), (1, 3, 2), (1, 4, 1), (1, 5, 2), (1, 6, 5), (2, 4, 2), (2, 5, 1),
            (2, 9, 3)) AS p (store, shelf, parent) WHERE h.store_id = p.store AND h.shelf_id = p.shelf;
        INSERT INTO product (store_id, sku, name, name_key, price_minor, regular_price_minor, created_at, modified_at)
        SELECT p.store, p.sku, p.sku, '', p.price, p.regular, now(), now()
        FROM (VALUES (3, 'x', 5, NULL::bigint), (2, 'x', NULL, 5), (1, 'z', NULL, NULL), (1, 'y', NULL, NULL), (1, 'x', NULL, NULL)) AS p (store, sku, price, regular);
        INSERT INTO placement (store_id, shelf_id, sku, popularity_log2)
        SELECT p.store, p.shelf, p.sku, 0 FROM (VALUES (2, 5, 'x'), (2, 3, 'x'), (2, 1, 'x'), (1, 4, 'z'), (1, 3, 'x'), (1, 3, 'y'), (1, 1, 'x'))
            AS p (store, shelf, sku);
        INSERT INTO placement_position (store_id, shelf_id, sku, key, removed_at)
        SELECT p.store, p.shelf, p.sku, int4send(p.n), CASE WHEN p.removed THEN timestamptz '2020-01-01' END
        FROM (VALUES (2, 3, 'x', 1, false), (1, 4, 'z', 1, false), (1, 3, 'z', 3, true), (1, 3, 'y', 2, false), (1, 3, 'x', 1, false))
            AS p (store, shelf, sku, n, removed);
        INSERT INTO order_change (store_id, shelf_id, slot, change_number, changed_at, kind, moved)
        SELECT c.store, c.shelf, 1, 1, now(), 'move', 'x/' FROM (VALUES (2, 3), (1, 4), (1, 3)) AS c (store, shelf);
        """
    private static let shelves: SQL = """
        SELECT store_id, shelf_id, key, version - \(version), order_version - \(version), product_count, settled_dimension,
            modified_at > timestamptz '2098-01-01 00:00:00Z', deleted_at IS NULL FROM shelf
        """
    private static let states: SQL =
        "SELECT store_id, version - \(version), shelf_order_version - \(version), deletions FROM store_state"
    private static let positions: SQL =
        "SELECT store_id, shelf_id, sku, is_removed, removed_at = now() FROM placement_position"
    private static let settings: SQL = """
        SELECT store_id, key, title, currency, locale, unit_pricing, sold_out, default_sort, popularity_metric,
            popularity_half_life_days, newcomer_boost, sort_language, deleted_at IS NULL FROM store
        """

    private static let shelvesCases: [StatementCase] = [
        .finds(ShelfStatements.shelfOrderVersion, [.int4(1)], ["(4000000000000010)"]),
        .finds(
            ShelfStatements.positions,
            [.int4(1)],
            [
                #"(a,"\\x00000003",f)"#, #"(b,"\\x00000004",f)"#, #"(c,"\\x00000001",f)"#, #"(d,"\\x00000005",f)"#,
                #"(e,"\\x00000006",t)"#, #"(f,"\\x00000002",f)"#,
            ]
        ),
        .changes(
            ShelfStatements.touchAll,
            [.int4(1)],
            in: shelves,
            [
                "+ (1,1,a,102,200,21,1,t,t)", "+ (1,2,b,103,200,22,1,t,t)", "+ (1,3,c,104,200,23,1,t,t)",
                "+ (1,4,d,105,200,24,1,t,t)", "+ (1,6,f,107,200,26,1,t,t)", "- (1,1,a,101,200,21,1,f,t)",
                "- (1,2,b,102,200,22,1,f,t)", "- (1,3,c,103,200,23,1,f,t)", "- (1,4,d,104,200,24,1,f,t)",
                "- (1,6,f,106,200,26,1,f,t)",
            ]
        ),
        .changes(
            ShelfStatements.bumpAll,
            [.int4(1)],
            in: shelves,
            [
                "+ (1,1,a,102,200,21,1,f,t)", "+ (1,2,b,103,200,22,1,f,t)", "+ (1,3,c,104,200,23,1,f,t)",
                "+ (1,4,d,105,200,24,1,f,t)", "+ (1,5,e,106,200,25,1,f,f)", "+ (1,6,f,107,200,26,1,f,t)",
                "- (1,1,a,101,200,21,1,f,t)", "- (1,2,b,102,200,22,1,f,t)", "- (1,3,c,103,200,23,1,f,t)",
                "- (1,4,d,104,200,24,1,f,t)", "- (1,5,e,105,200,25,1,f,f)", "- (1,6,f,106,200,26,1,f,t)",
            ]
        ),
        .changes(
            ShelfStatements.setPositions,
            [.int4(1), .textArray(["c", "a"]), .byteaArray([[7], [8]])],
            in: "SELECT store_id, key, encode(position, 'hex') FROM shelf",
            ["+ (1,a,08)", "+ (1,c,07)", "- (1,a,00000003)", "- (1,c,00000001)"]
        ),
        .changes(ShelfStatements.bumpShelfOrder, [.int4(1)], in: states, ["+ (1,1,11,5)", "- (1,1,10,5)"]),
        .returns(ShelfStatements.bumpShelfOrder, [.int4(1)], ["(4000000000000011)"]),
        .changes(ShelfStatements.bumpStore, [.int4(1)], in: states, ["+ (1,2,10,5)", "- (1,1,10,5)"]),
        .finds(ShelfStatements.anyPrice, [.int4(1)], []),
        .finds(ShelfStatements.anyPrice, [.int4(2)], ["(1)"]),
        .finds(ShelfStatements.anyPrice, [.int4(3)], ["(1)"]),
        .finds(ShelfStatements.lockByKey, [.int4(1), .text("c")], ["(3,f,c,b,,,,,f,f)"]),
        .finds(ShelfStatements.lockByKey, [.int4(1), .text("e")], ["(5,t,e,b,,,,,f,f)"]),
        .finds(ShelfStatements.anyChild, [.int4(1), .int4(2)], ["(1)"]),
        // A shelf of another store has a parent with this id.
        .finds(ShelfStatements.anyChild, [.int4(1), .int4(3)], []),
        // Its only child is deleted.
        .finds(ShelfStatements.anyChild, [.int4(2), .int4(2)], []),
        .finds(ShelfStatements.anyChild, [.int4(1), .int4(5)], ["(1)"]),
        .changes(
            ShelfStatements.removeAllProducts,
            [.int4(1), .int4(3)],
            in: positions,
            ["+ (1,3,x,t,t)", "+ (1,3,y,t,t)", "- (1,3,x,f,)", "- (1,3,y,f,)"]
        ),
        .changes(
            ShelfStatements.deletePlacements,
            [.int4(1), .int4(3)],
            in: "SELECT store_id, shelf_id, sku FROM placement",
            ["- (1,3,x)", "- (1,3,y)"]
        ),
        .changes(
            ShelfStatements.deleteHistory,
            [.int4(1), .int4(3)],
            in: "SELECT store_id, shelf_id FROM order_change",
            ["- (1,3)"]
        ),
        .changes(
            ShelfStatements.delete,
            [.int4(1), .int4(3)],
            in: shelves,
            ["+ (1,3,c,104,201,0,0,t,f)", "- (1,3,c,103,200,23,1,f,t)"]
        ),
        .changes(
            ShelfStatements.deleteAll,
            [.int4(1)],
            in: shelves,
            [
                "+ (1,1,a,102,201,0,0,t,f)", "+ (1,2,b,103,201,0,0,t,f)", "+ (1,3,c,104,201,0,0,t,f)",
                "+ (1,4,d,105,201,0,0,t,f)", "+ (1,6,f,107,201,0,0,t,f)", "- (1,1,a,101,200,21,1,f,t)",
                "- (1,2,b,102,200,22,1,f,t)", "- (1,3,c,103,200,23,1,f,t)", "- (1,4,d,104,200,24,1,f,t)",
                "- (1,6,f,106,200,26,1,f,t)",
            ]
        ),
        .finds(ShelfStatements.height, [.int4(1), .text("a")], ["(3)"]),
        .finds(ShelfStatements.height, [.int4(2), .text("a")], ["(1)"]),
        .finds(ShelfStatements.height, [.int4(1), .text("b")], ["(2)"]),
        .finds(ShelfStatements.height, [.int4(1), .text("e")], ["(1)"]),
        .finds(ShelfStatements.height, [.int4(1), .text("new")], ["(1)"]),
        .lists(ShelfStatements.ancestors, [.int4(1), .text("c")], ["(3,c)", "(2,b)", "(1,a)"]),
        .lists(ShelfStatements.ancestors, [.int4(1), .text("e")], []),
        .lists(
            ShelfStatements.withDescendants,
            [.int4(1), .text("a")],
            [
                "(1,4000000000000101,21,4000000000000001)", "(2,4000000000000102,22,4000000000000001)",
                "(3,4000000000000103,23,4000000000000001)", "(4,4000000000000104,24,4000000000000001)",
            ]
        ),
        .lists(
            ShelfStatements.withDescendants,
            [.int4(1), .text("b")],
            ["(2,4000000000000102,22,4000000000000001)", "(3,4000000000000103,23,4000000000000001)"]
        ),
        .lists(ShelfStatements.withDescendants, [.int4(1), .text("e")], []),
        .lists(
            ShelfStatements.allOfStore,
            [.int4(1)],
            [
                "(1,4000000000000101,21,4000000000000001)", "(2,4000000000000102,22,4000000000000001)",
                "(3,4000000000000103,23,4000000000000001)", "(4,4000000000000104,24,4000000000000001)",
                "(6,4000000000000106,26,4000000000000001)",
            ]
        ),
        .lists(ShelfStatements.allOfStore, [.int4(9)], []),
        .finds(ShelfStatements.lockExisting, [.int4(1), .text("c")], ["(3)"]),
        .finds(ShelfStatements.lockExisting, [.int4(1), .text("e")], []),
        .lists(ShelfStatements.shelvesOfProducts, [.int4(1), .textArray(["x", "y", "none"])], ["(1)", "(3)"]),
        .changes(
            ShelfStatements.bump,
            [.int4(1), .int8Array([3, 1]), .bool(false), .int4(-2)],
            in: shelves,
            [
                "+ (1,1,a,102,200,19,1,t,t)", "+ (1,3,c,104,200,21,1,t,t)", "- (1,1,a,101,200,21,1,f,t)",
                "- (1,3,c,103,200,23,1,f,t)",
            ]
        ),
        .changes(
            ShelfStatements.bump,
            [.int4(1), .int8Array([3]), .bool(true), .int4(0)],
            in: shelves,
            ["+ (1,3,c,104,201,23,1,t,t)", "- (1,3,c,103,200,23,1,f,t)"]
        ),
        .finds(ShelfStatements.lastShelf, [.int4(1)], [#"(6,"\\x00000006")"#]),
        .finds(ShelfStatements.lastShelf, [.int4(2)], [#"(9,"\\x00000009")"#]),
        .finds(ShelfStatements.lastShelf, [.int4(9)], []),
        .finds(PlacementStatements.ofProducts, [.int4(1), .textArray(["x"])], ["(1,x)", "(3,x)"]),
    ]

    @Test("Each statement of shelves concerns the shelves of its store, and deleted ones where they count")
    func shelvesOfStores() async throws { try await StatementCase.check(Self.shelvesCases, on: Self.rows) }

    // MARK: - Reading

    private static let readsCases: [StatementCase] = [
        .finds(ShelfLookup.storeID, [.text("shop")], ["(1)"]),
        .finds(ShelfLookup.storeID, [.text("gone")], ["(3)"]),
        .lists(
            ShelfLookup.allStores,
            [],
            [
                "(2,4000000000000002,other,other,EUR,en,eu,last,,decay,14,0,decay,14,0,,,0,0)",
                "(1,4000000000000001,shop,shop,EUR,en,eu,last,,decay,14,0,decay,14,0,,,0,0)",
            ]
        ),
        .finds(
            ShelfLookup.oneStore,
            [.int4(1), .text("shop")],
            ["(1,4000000000000001,shop,shop,EUR,en,eu,last,,decay,14,0,decay,14,0,,,0,0)"]
        ),
        // The id belongs to a store with another key, or the store is deleted.
        .finds(ShelfLookup.oneStore, [.int4(1), .text("other")], []),
        .finds(ShelfLookup.oneStore, [.int4(3), .text("gone")], []),
        .finds(
            ShelfLookup.oneHead,
            [.int4(1), .text("shop"), .text("c")],
            [
                "(1,4000000000000001,shop,shop,EUR,en,eu,last,,decay,14,0,decay,14,0,,,0,0,3,c,c,,,,,23,1,time,4000000000000103,4000000000000200,b,brand,0,f,f)"
            ]
        ),
        .finds(ShelfLookup.oneHead, [.int4(1), .text("shop"), .text("e")], []),
        .finds(ShelfLookup.oneHead, [.int4(1), .text("other"), .text("c")], []),
        .finds(ShelfLookup.oneHead, [.int4(3), .text("gone"), .text("a")], []),
        .finds(
            ShelfLookup.versions,
            [.int8Array([2, 1, 1, 1, 2]), .int8Array([1, 1, 5, 3, 7])],
            [
                "(1,4000000000000002,4000000000000101,0,0)", "(2,4000000000000001,4000000000000101,0,0)",
                "(4,4000000000000001,4000000000000103,0,0)",
            ]
        ),
        .finds(
            ShelfLookup.versionsOfStore,
            [.int4(1), .int8Array([3, 5, 1, 9])],
            ["(1,4000000000000001,4000000000000103,0,0)", "(3,4000000000000001,4000000000000101,0,0)"]
        ),
        .finds(ShelfLookup.oneVersion, [.int4(1), .int4(3)], ["(1,4000000000000001,4000000000000103,0,0)"]),
        .finds(ShelfLookup.oneVersion, [.int4(1), .int4(5)], []),
        .finds(
            PostgresVersionStore.shelfVersions,
            [.textArray(["shop", "other", "shop", "gone", "shop"]), .textArray(["a", "a", "e", "a", "o"])],
            ["(1,4000000000000001,4000000000000101,0,0)", "(2,4000000000000002,4000000000000109,0,0)"]
        ),
        .finds(
            PostgresVersionStore.shelfVersionsOfStores,
            [.textArray(["shop", "other", "shop", "gone"]), .textArray(["a", "a", "e", "a"]), .int8Array([1, 3])],
            ["(1,4000000000000001,4000000000000101,0,0)"]
        ),
        .finds(StoreLifecycle.deletions, [.int4(1)], ["(5)"]),
    ]

    @Test("Each query for stores and shelves returns those with the given id and key that exist")
    func reads() async throws { try await StatementCase.check(Self.readsCases, on: Self.rows) }

    // MARK: - Writing

    private static let writesCases: [StatementCase] = [
        .changes(
            PostgresShelfStore.updateStore,
            [
                .text("shop"), .text("T"), .text("CZK"), .text("cs"), .text("gb"), .text("mixed"), .text("name"),
                .text("7d"),
                .int4(30), .float8(2), .text("sv"),
            ],
            in: settings,
            ["+ (1,shop,T,CZK,cs,gb,mixed,name,7d,30,2,sv,t)", "- (1,shop,shop,EUR,en,eu,last,,decay,14,0,,t)"]
        ),
        // A store that exists stays, and a deleted one comes back with its id.
        .changes(
            StoreLifecycle.insert,
            [
                .text("shop"), .text("T"), .text("CZK"), .text("cs"), .text("gb"), .text("mixed"), .text("name"),
                .text("7d"),
                .int4(30), .float8(2), .text("sv"), .int4(7),
            ],
            in: settings,
            []
        ),
        .changes(
            StoreLifecycle.insert,
            [
                .text("gone"), .text("T"), .text("CZK"), .text("cs"), .text("gb"), .text("mixed"), .text("name"),
                .text("7d"),
                .int4(30), .float8(2), .text("sv"), .int4(7),
            ],
            in: settings,
            ["+ (3,gone,T,CZK,cs,gb,mixed,name,7d,30,2,sv,t)", "- (3,gone,gone,EUR,en,eu,last,,decay,14,0,,f)"]
        ),
        .changes(
            StoreLifecycle.insert,
            [
                .text("new"), .text("T"), .text("CZK"), .text("cs"), .text("gb"), .text("mixed"), .text("name"),
                .text("7d"),
                .int4(30), .float8(2), .text(nil), .int4(7),
            ],
            in: settings,
            ["+ (7,new,T,CZK,cs,gb,mixed,name,7d,30,2,,t)"]
        ),
        .changes(StoreLifecycle.insertState, [.int4(3)], in: states, ["+ (3,4,30,5)", "- (3,3,30,5)"]),
        .changes(StoreLifecycle.countDeletion, [.int4(1)], in: states, ["+ (1,1,10,6)", "- (1,1,10,5)"]),
        .changes(
            StoreLifecycle.markDeleted,
            [.int4(1)],
            in: "SELECT store_id, deleted_at IS NULL FROM store",
            ["+ (1,f)", "- (1,t)"]
        ),
        // The settings of a shelf that exists, the same ones again, and those of a deleted shelf.
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("c"), .text("T"), .int4(4), .text("name"), .int2(2), .text("mixed"), .text("price"),
                .bytea([5]),
                .bool(true), .bool(true),
            ],
            in:
                "SELECT store_id, shelf_id, title, parent_id, default_sort, dimension, sold_out, position_source, title_key, includes_descendants, collapses_groups FROM shelf",
            [#"+ (1,3,T,4,name,2,mixed,price,"\\x05",t,t)"#, #"- (1,3,c,2,,,,,"\\x",f,f)"#]
        ),
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("c"), .text("T"), .int4(4), .text("name"), .int2(2), .text("mixed"), .text("price"),
                .bytea([5]),
                .bool(true), .bool(true),
            ],
            in: shelves,
            ["+ (1,3,c,104,200,23,1,t,t)", "- (1,3,c,103,200,23,1,f,t)"]
        ),
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("c"), .text("c"), .int4(2), .text(nil), .int2(nil), .text(nil), .text(nil),
                .bytea([]),
                .bool(false), .bool(false),
            ],
            in: shelves,
            []
        ),
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("c"), .text("c"), .int4(2), .text(nil), .int2(nil), .text(nil), .text(nil), .bytea([]),
                .bool(true), .bool(false),
            ],
            in: shelves,
            ["+ (1,3,c,104,200,23,1,t,t)", "- (1,3,c,103,200,23,1,f,t)"]
        ),
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("c"), .text("c"), .int4(2), .text(nil), .int2(nil), .text(nil), .text(nil), .bytea([]),
                .bool(false), .bool(true),
            ],
            in: shelves,
            ["+ (1,3,c,104,200,23,1,t,t)", "- (1,3,c,103,200,23,1,f,t)"]
        ),
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("e"), .text("e"), .int4(2), .text(nil), .int2(nil), .text(nil), .text(nil),
                .bytea([]),
                .bool(false), .bool(false),
            ],
            in: shelves,
            ["+ (1,5,e,106,200,25,0,t,t)", "- (1,5,e,105,200,25,1,f,f)"]
        ),
    ]

    @Test("Each change of a store or a shelf sets all columns of this one, and of no other")
    func writes() async throws { try await StatementCase.check(Self.writesCases, on: Self.rows) }

    // MARK: - Versions

    private static let oldRows =
        rows + """
            UPDATE shelf SET version = 1, order_version = 2, key_generation = 3, modified_at = timestamptz '2020-01-01';
            UPDATE store_state SET version = 4, shelf_order_version = 5;
            """
    private static let recent: SQL = """
        SELECT store_id, shelf_id, abs(version - extract(epoch FROM now()) * 1000000) < 2, order_version > 1700000000000000,
            key_generation > 180000000, modified_at = now() FROM shelf
        """
    private static let recentStates: SQL =
        "SELECT store_id, version > 1700000000000000, shelf_order_version > 1700000000000000 FROM store_state"
    private static let versionsCases: [StatementCase] = [
        .changes(ShelfStatements.touchAll, [.int4(3)], in: recent, ["+ (3,1,t,f,f,t)", "- (3,1,f,f,f,f)"]),
        .changes(ShelfStatements.bumpAll, [.int4(3)], in: recent, ["+ (3,1,t,f,f,f)", "- (3,1,f,f,f,f)"]),
        .changes(ShelfStatements.delete, [.int4(1), .int4(3)], in: recent, ["+ (1,3,t,t,f,t)", "- (1,3,f,f,f,f)"]),
        .changes(
            ShelfStatements.bump,
            [.int4(1), .int8Array([3]), .bool(true), .int4(0)],
            in: recent,
            ["+ (1,3,t,t,f,t)", "- (1,3,f,f,f,f)"]
        ),
        .changes(
            ShelfStatements.bump,
            [.int4(1), .int8Array([3]), .bool(false), .int4(0)],
            in: recent,
            ["+ (1,3,t,f,f,t)", "- (1,3,f,f,f,f)"]
        ),
        .changes(
            ManualOrderStatements.lockShelf,
            [.int4(1), .int4(3)],
            in: recent,
            ["+ (1,3,t,t,f,f)", "- (1,3,f,f,f,f)"]
        ),
        .changes(
            ManualOrderStatements.bumpGeneration,
            [.int4(1), .int4(3)],
            in: recent,
            ["+ (1,3,t,f,t,f)", "- (1,3,f,f,f,f)"]
        ),
        .changes(ShelfStatements.bumpStore, [.int4(1)], in: recentStates, ["+ (1,t,f)", "- (1,f,f)"]),
        .changes(ShelfStatements.bumpShelfOrder, [.int4(1)], in: recentStates, ["+ (1,f,t)", "- (1,f,f)"]),
        .changes(StoreLifecycle.insertState, [.int4(3)], in: recentStates, ["+ (3,t,f)", "- (3,f,f)"]),
        .changes(
            PostgresShelfStore.updateShelf,
            [
                .int4(1), .text("e"), .text("e"), .int4(2), .text(nil), .int2(nil), .text(nil), .text(nil),
                .bytea([]),
                .bool(false), .bool(false),
            ],
            in: recent,
            ["+ (1,5,t,f,f,t)", "- (1,5,f,f,f,f)"]
        ),
    ]

    @Test("A version and a time of a change are at least those of the clock")
    func versions() async throws { try await StatementCase.check(Self.versionsCases, on: Self.oldRows) }
}
