import Catalog
import Collation
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The computation of sort keys again: batches, languages of stores, titles of deleted shelves, and versions.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct RecollationStatementTests {
    private typealias Probe = StatementProbe

    @Test(
        "Products are read in pages of their store, in the order of SKUs, and the language is that of the collation, or of the locale"
    )
    func pages() async throws {
        try await Probe.run { probe in
            try await probe.run(
                Probe.products(["c", "b", "a"]) + Probe.products(["a", "bb"], in: 2)
                    + "UPDATE store SET locale = 'sv'; UPDATE store SET sort_language = 'hr' WHERE store_id = 1"
            )
            func skus(after last: String, _ limit: Int32) async throws -> [String] {
                try await probe.texts(SortKeyStatements.productsAfter, [.int4(1), .text(last), .int4(limit)])
            }
            #expect(try await skus(after: "", 2) == ["a", "b"])
            #expect(try await skus(after: "b", 2) == ["c"])
            #expect(try await skus(after: "c", 2) == [])
            let texts = try await probe.texts(SortKeyStatements.texts, [.int4(1), .textArray(["b", "bb", "c"])])
            #expect(texts.sorted() == ["b", "c"])
            #expect(try await probe.texts(SortKeyStatements.language, [.int4(1)]) == ["hr"])
            #expect(try await probe.texts(SortKeyStatements.language, [.int4(2)]) == ["sv"])
            #expect(try await probe.numbers(SortKeyStatements.stores) == [1, 2])
        }
    }

    @Test("All batches of all stores, and the titles of deleted shelves, get keys; only what changed has new versions")
    func wholeRun() async throws {
        try await Probe.run { probe in
            let catalog = probe.catalog
            try await probe.run("UPDATE store SET locale = 'sv' WHERE store_id = 2")
            // The first store has more products than a batch, and wrong titles; the second one has right titles.
            let right = Product(sku: SKU("right")!, name: "Right", brand: "Brand")
            _ = try await catalog.products.put(right, in: Probe.shop)
            let keys = ["with-product", "without-product"].map { CatalogKey($0)! }
            for key in keys { _ = try await catalog.shelves.put(Shelf(key: key, title: "Öl"), in: Probe.other) }
            try await probe.run(
                """
                INSERT INTO product (store_id, sku, name, name_key, brand, brand_key, created_at, modified_at)
                SELECT 1, 'p' || lpad(n::text, 4, '0'), 'Näme ' || n, '\\x01', CASE WHEN n % 2 = 0 THEN 'Bränd ' || n END,
                    CASE WHEN n % 2 = 0 THEN '\\x02'::bytea END, now(), now() FROM generate_series(1005, 1, -1) n;
                INSERT INTO product (store_id, sku, name, name_key, created_at, modified_at)
                VALUES (2, 'x', 'Ärla', '\\x01', now(), now());
                \(Probe.shelves(["live", "gone"]))
                UPDATE shelf SET deleted_at = now() WHERE key = 'gone'; UPDATE deployment SET collator = '0'
                """
            )
            _ = try await catalog.products.place(SKU("x")!, on: keys[0], in: Probe.other)
            let pool = PostgresPool(catalog.database.writes.configuration.inOwnerRole, options: .init(size: 2))
            let stores = "SELECT store_id || ' ' || version FROM store_state ORDER BY 1"
            let shelves = "SELECT store_id || ' ' || key || ' ' || version FROM shelf ORDER BY store_id, shelf_id"
            let (storesBefore, shelvesBefore) = (try await probe.rows(stores), try await probe.rows(shelves))
            var progress = 0
            let changed = try await Recollation(pool).run { progress = $0 }
            // All products but one, and two titles.
            #expect(changed == 1008)
            #expect(progress == 1007)
            #expect(try await probe.rows("SELECT collator FROM deployment") == [LanguageCollator.version])
            try await Self.expectKeys(probe)
            let (storesAfter, shelvesAfter) = (try await probe.rows(stores), try await probe.rows(shelves))
            #expect(storesAfter[0] != storesBefore[0] && storesAfter[1] == storesBefore[1])
            let bumped = zip(shelvesBefore, shelvesAfter).filter { $0 != $1 }.map { $0.0.split(separator: " ")[1] }
            #expect(bumped == ["with-product"])
            #expect(try await Recollation(pool).run() == 0)
            #expect(try await probe.rows(stores) == storesAfter)
            #expect(try await probe.rows(shelves) == shelvesAfter)
            pool.shutDown()
        }
    }

    /// Checks the keys of all products and shelves by the languages of the stores.
    private static func expectKeys(_ probe: Probe) async throws {
        let statement: PostgresStatement = """
            SELECT store_id, name, name_key FROM product UNION ALL
            SELECT store_id, brand, brand_key FROM product WHERE brand IS NOT NULL UNION ALL
            SELECT store_id, title, title_key FROM shelf
            """
        let rows = try await probe.catalog.database.writes.perform {
            try $0.query(statement) { try $0.map { (try $0.int4(0), try $0.text(1), try $0.byteaOrNil(2)) } }
        }
        #expect(rows.count > 1500)
        for (store, text, key) in rows where key != LanguageCollator.of(store == 1 ? "en" : "sv").key(text) {
            Issue.record("the key of “\(text)” of store \(store) is wrong")
        }
    }
}
