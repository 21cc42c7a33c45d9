import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Changes of prices: which products and shelves they change, and their times.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct PriceStatementTests {
    private typealias Probe = StatementProbe

    private static func sku(_ text: String) -> SKU { SKU(text)! }

    /// Products with equal prices; each product is on the shelf of its name, and `a` also on that of `b`.
    private static let script = """
        \(Probe.products(["a", "b", "same", "unlisted", "nowhere"]))
        \(Probe.products(["a", "only-there"], in: 2))
        \(Probe.shelves(["unlisted", "same", "b", "a"]))
        \(Probe.shelves(["a"], in: 2))
        UPDATE product SET price_minor = 100, regular_price_minor = 200;
        INSERT INTO placement (store_id, shelf_id, sku, popularity_log2)
        SELECT h.store_id, h.shelf_id, r.sku, 0 FROM shelf h JOIN product r ON r.store_id = h.store_id
        WHERE r.sku = h.key OR (h.store_id = 1 AND r.sku = 'a' AND h.key = 'b');
        """

    private static let prices = """
        SELECT concat_ws(' ', store_id, sku, coalesce(price_minor::text, 'none'), coalesce(regular_price_minor::text, 'none'))
        FROM product ORDER BY store_id, sku
        """

    @Test("Only changed prices are written, and only shelves with a changed product get a version")
    func changedPrices() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.script)
            let shelves =
                "SELECT store_id || ' ' || key || ' ' || version || ' ' || order_version FROM shelf ORDER BY store_id, key"
            let times = "SELECT store_id || ' ' || sku || ' ' || modified_at FROM product ORDER BY store_id, sku"
            let (versionsBefore, timesBefore) = (try await probe.rows(shelves), try await probe.rows(times))
            let outcome = try await probe.catalog.prices.setPrices(
                [
                    PriceChange(sku: Self.sku("same"), priceMinor: 100),
                    PriceChange(sku: Self.sku("a"), priceMinor: 50),
                    PriceChange(sku: Self.sku("nowhere"), priceMinor: nil),
                ],
                in: Probe.shop
            )
            #expect((outcome.changed, outcome.unchanged) == (2, 1))
            #expect(outcome.shelves == [CatalogKey("a")!, CatalogKey("b")!])
            let expected = [
                "1 a 50 200", "1 b 100 200", "1 nowhere none none", "1 same 100 200", "1 unlisted 100 200",
                "2 a 100 200",
                "2 only-there 100 200",
            ]
            #expect(try await probe.rows(Self.prices) == expected)
            func changed(_ before: [String], _ after: [String]) -> [String] {
                zip(before, after).filter { $0 != $1 }.map {
                    $0.1.split(separator: " ").prefix(2).joined(separator: " ")
                }
            }
            #expect(changed(versionsBefore, try await probe.rows(shelves)) == ["1 a", "1 b"])
            #expect(changed(timesBefore, try await probe.rows(times)) == ["1 a", "1 nowhere"])
            let order = "SELECT count(DISTINCT order_version)::text FROM shelf WHERE store_id = 1"
            #expect(try await probe.rows(order) == ["1"])
            // The change is recorded for the shelves that are in memory.
            let changes = try await probe.rows(
                """
                SELECT h.key || c.skus::text FROM shelf_change c JOIN shelf h ON h.store_id = c.store_id AND h.shelf_id = c.shelf_id
                    AND h.version = c.version ORDER BY 1
                """
            )
            #expect(changes == ["a{a}", "b{a}"])
        }
    }

    @Test("Prices and crossed-out prices change together: kept while higher, set, or removed")
    func regularPrices() async throws {
        // The old prices are 100 and 200.
        let cases: [(sku: String, change: (Int64?, Int64??), prices: String)] = [
            ("a", (150, nil), "150 200"), ("b", (200, nil), "200 none"), ("same", (100, .some(200)), "100 200"),
            ("unlisted", (100, .some(nil)), "100 none"), ("nowhere", (90, .some(95)), "90 95"),
        ]
        try await Probe.run { probe in
            try await probe.run(Self.script)
            let changes = cases.map {
                PriceChange(sku: Self.sku($0.sku), priceMinor: $0.change.0, regularPriceMinor: $0.change.1)
            }
            let outcome = try await probe.catalog.prices.setPrices(changes, in: Probe.shop)
            #expect((outcome.changed, outcome.unchanged) == (4, 1))
            let expected = cases.map { "1 \($0.sku) \($0.prices)" }.sorted()
            #expect(try await probe.rows(Self.prices).filter { $0.hasPrefix("1 ") } == expected)
        }
    }

    @Test("A changed product has a later time than before and than the changes of its shelves")
    func times() async throws {
        try await Probe.run { probe in
            let changes = """
                UPDATE shelf SET modified_at = now() + interval '1 day' WHERE store_id = 1 AND key = 'b';
                UPDATE product SET modified_at = now() + interval '2 days' WHERE store_id = 1 AND sku = 'same';
                """
            try await probe.run(Self.script + changes)
            let latest = try await probe.rows("SELECT max(modified_at)::text FROM shelf WHERE store_id = 1")[0]
            let later = "SELECT sku FROM product WHERE store_id = 1 AND modified_at > '\(latest)' ORDER BY 1"
            let own = "SELECT modified_at::text FROM product WHERE store_id = 1 AND sku = 'same'"
            let before = try await probe.rows(own)[0]
            #expect(try await probe.rows(later) == ["same"])
            let prices = ["a", "same", "nowhere"].map { PriceChange(sku: Self.sku($0), priceMinor: 5) }
            try await probe.catalog.prices.setPrices(prices, in: Probe.shop)
            // All changes of a request have one time.
            #expect(try await probe.rows(later) == ["a", "nowhere", "same"])
            let isLater = "SELECT (modified_at > '\(before)')::text FROM product WHERE store_id = 1 AND sku = 'same'"
            #expect(try await probe.rows(isLater) == ["true"])
        }
    }

    @Test("A product that the store does not have refuses all prices, although another store has it")
    func unknownProducts() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.script)
            let before = try await probe.rows(Self.prices)
            let changes = ["a", "only-there"].map { PriceChange(sku: Self.sku($0), priceMinor: 5) }
            await #expect(throws: PriceChange.unknown(Self.sku("only-there"))) {
                try await probe.catalog.prices.setPrices(changes, in: Probe.shop)
            }
            #expect(try await probe.rows(Self.prices) == before)
        }
    }

    @Test(
        "The shelves of products are listed once each in the order of their keys, and only products of the store are known"
    )
    func shelvesOfProducts() async throws {
        try await Probe.run { probe in
            try await probe.run(Self.script)
            let skus = ["same", "nowhere", "a", "b", "only-there"].map { Self.sku($0) }
            let shelves = try await probe.catalog.prices.shelves(of: skus, in: Probe.shop)
            #expect(shelves.map(\.text) == ["a", "b", "same"])
            #expect(try await probe.catalog.prices.shelves(of: [Self.sku("b")], in: Probe.shop).map(\.text) == ["b"])
            #expect(try await probe.catalog.known(skus, in: Probe.shop) == Set(skus.dropLast()))
            #expect(try await probe.catalog.known(skus, in: Probe.other) == [Self.sku("a"), Self.sku("only-there")])
        }
    }
}
