import Catalog
import CatalogPostgres
import Dispatch
import LibPQ
import Ordering
import TestSupport
import Testing

/// Imports that remove what their file does not list.
@Suite(.timeLimit(.minutes(15))) struct PruneTests {
    private static let corner = CatalogKey("corner")!

    /// Imports rows of store, shelf and SKU.
    private func run(
        _ catalog: PostgresCatalog,
        _ rows: [String],
        prunes: Bool = true,
        isConfirmed: Bool = false,
        isDryRun: Bool = false,
        onPrune: ([ShelfRemoval]) throws -> Bool = { _ in false }
    ) async throws -> ImportSummary {
        var options = ImportOptions(format: .csv, prunes: prunes, createsStores: true, isDryRun: isDryRun)
        options.confirmsPrune = isConfirmed
        let file = "store,shelf,sku,name\n" + rows.map { "\($0),N\n" }.joined()
        return try await Importer(catalog).importFile(ImporterTests.Chunks(text: file), options, onPrune: onPrune)
    }

    private static func rows(_ store: String, _ shelf: String, _ skus: Range<Int>) -> [String] {
        skus.map { "\(store),\(shelf),p\($0)" }
    }

    /// The products of all stores, with their shelves.
    private func contents(_ catalog: PostgresCatalog) async throws -> [String: Set<String>] {
        let rows = try await catalog.database.writes.perform {
            try $0.query(
                """
                SELECT s.key || '/' || r.sku, coalesce(h.key, '') FROM product r JOIN store s USING (store_id)
                LEFT JOIN placement p USING (store_id, sku) LEFT JOIN shelf h USING (store_id, shelf_id)
                """
            ) { try $0.map { (try $0.text(0), try $0.text(1)) } }
        }
        return rows.reduce(into: [:]) { $0[$1.0, default: []].formUnion($1.1.isEmpty ? [] : [$1.1]) }
    }

    private func versions(_ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.database.writes.perform {
            try $0.query("SELECT key || version || order_version || product_count FROM shelf ORDER BY store_id, key") {
                try $0.map { try $0.text(0) }
            }
        }
    }

    @Test("A shelf that the file does not name keeps its products")
    func keepsCuratedShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let dairy = Self.rows("corner", "dairy", 0..<20)
            _ = try await run(catalog, dairy + Self.rows("corner", "favourites", 18..<23), prunes: false)
            _ = try await run(catalog, ["corner,,lone"], prunes: false)
            let favourites = try await catalog.shelves.shelf(Self.corner, CatalogKey("favourites")!).state
            // p18 is on the curated shelf, too; p19 stays on both.
            let listed = dairy.filter { $0 != "corner,dairy,p17" && $0 != "corner,dairy,p18" }
            let summary = try await run(catalog, listed)
            #expect(summary.removedPlacements == 2)
            #expect(summary.removedProducts == 1)
            #expect(
                summary.removedByShelf == [
                    ShelfRemoval(store: Self.corner, shelf: CatalogKey("dairy")!, removed: 2, remaining: 18)
                ]
            )
            #expect(try await catalog.shelves.shelf(Self.corner, CatalogKey("favourites")!).state == favourites)
            #expect(try await catalog.shelves.shelf(Self.corner, CatalogKey("dairy")!).state.productCount == 18)
            let found = try await contents(catalog)
            #expect(found["corner/p17"] == nil)
            #expect(found["corner/p18"] == ["favourites"])
            #expect(found["corner/p19"] == ["dairy", "favourites"])
            #expect(found["corner/lone"] == [])
            #expect(found.count == 23)
        }
    }

    @Test("More than a tenth of a shelf is removed only with a confirmation, in every store of the file")
    func asksAboveATenth() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let all = Self.rows("corner", "dairy", 0..<20) + Self.rows("kiosk", "dairy", 0..<30)
            _ = try await run(catalog, all, prunes: false)
            let before = (try await contents(catalog), try await versions(catalog))
            let rows = Self.rows("corner", "dairy", 0..<18) + Self.rows("kiosk", "dairy", 0..<26)
            var asked: [[ShelfRemoval]] = []
            let error = await #expect(throws: CatalogError.self) {
                try await run(catalog, rows) {
                    asked.append($0)
                    return false
                }
            }
            #expect("\(error!)".contains("4 of 30 products from the shelf “dairy” of “kiosk”, more than a tenth"))
            #expect(!"\(error!)".contains("corner"))
            #expect(asked.map { $0.map(\.removed) } == [[2, 4]])
            let dry = try await run(catalog, rows, isDryRun: true)
            #expect(dry.removedByShelf == asked[0])
            #expect(dry.removedPlacements == 6 && dry.removedProducts == 6)
            #expect(dry.warnings.contains { $0.contains("confirm_prune (command line: --yes)") })
            #expect(try await contents(catalog) == before.0)
            #expect(try await versions(catalog) == before.1)
            // A caller confirms, or the options do.
            let confirmed = try await run(catalog, rows) { _ in true }
            #expect(confirmed.removedPlacements == 6 && confirmed.removedProducts == 6)
            let rest = try await run(catalog, ["corner,dairy,p0"], isConfirmed: true)
            #expect(rest.removedPlacements == 17)
            #expect(try await contents(catalog).keys.filter { $0.hasPrefix("corner") } == ["corner/p0"])
            #expect(try await contents(catalog).count == 27)
        }
    }

    @Test("Rows without a shelf stand for the products on no shelf")
    func prunesProductsWithoutShelf() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, Self.rows("corner", "dairy", 0..<3), prunes: false)
            // A product of the same SKU is on a shelf of another store.
            let others = ["kiosk,,k", "kiosk,dairy,p3"]
            _ = try await run(catalog, Self.rows("corner", "", 3..<23) + others, prunes: false)
            let summary = try await run(catalog, Self.rows("corner", "", 5..<23))
            #expect(summary.removedPlacements == 0)
            #expect(summary.removedProducts == 2)
            #expect(
                summary.removedByShelf == [ShelfRemoval(store: Self.corner, shelf: nil, removed: 2, remaining: 18)]
            )
            let found = try await contents(catalog)
            #expect(found["corner/p0"] == ["dairy"] && found["corner/p3"] == nil && found["kiosk/k"] == [])
            #expect(found["kiosk/p3"] == ["dairy"])
            await #expect(throws: CatalogError.self) { try await run(catalog, ["corner,,p5"]) }
            #expect(try await contents(catalog) == found)
        }
    }

    @Test("A product that is placed on another shelf before pruning begins is not deleted")
    func keepsProductsThatAreStillPlaced() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, Self.rows("corner", "dairy", 0..<3), prunes: false)
            _ = try await catalog.shelves.put(Shelf(key: CatalogKey("favourites")!, title: "F"), in: Self.corner)
            let (asked, placed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            async let summary = run(catalog, Self.rows("corner", "dairy", 0..<2)) { _ in
                // The import has its own thread.
                asked.signal()
                _ = placed.wait(timeout: .now() + .seconds(60))
                return true
            }
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    _ = asked.wait(timeout: .now() + .seconds(60))
                    continuation.resume()
                }
            }
            _ = try await catalog.products.place(SKU("p2")!, on: CatalogKey("favourites")!, in: Self.corner)
            placed.signal()
            let found = try await summary
            #expect(found.removedPlacements == 1 && found.removedProducts == 0)
            #expect(try await contents(catalog)["corner/p2"] == ["favourites"])
            #expect(try await catalog.shelves.shelf(Self.corner, CatalogKey("favourites")!).state.productCount == 1)
        }
    }

    @Test("Pruning agrees with a naive model", arguments: 0..<4)
    func agreesWithModel(_ seed: UInt64) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed + 11)
            func random(_ count: Int) -> [[String]] {
                (0..<count).map { _ in
                    [
                        ["a", "b"].randomElement(using: &generator)!,
                        ["x", "y", "z", ""].randomElement(using: &generator)!,
                        "p\(Int.random(in: 0..<12, using: &generator))",
                    ]
                }
            }
            for _ in 0..<3 {
                _ = try await run(catalog, random(20).map { $0.joined(separator: ",") }, prunes: false)
                let before = try await contents(catalog)
                let file = random(8)
                var expected = before
                for row in file {
                    expected[row[0] + "/" + row[2], default: []].formUnion(row[1].isEmpty ? [] : [row[1]])
                }
                for (product, shelves) in expected {
                    let (store, sku) = (String(product.prefix(1)), String(product.dropFirst(2)))
                    let ofStore = file.filter { $0[0] == store }
                    let kept = shelves.filter { shelf in
                        !ofStore.contains { $0[1] == shelf } || ofStore.contains { $0[1] == shelf && $0[2] == sku }
                    }
                    let isListed = ofStore.contains { $0[2] == sku }
                    let isNamed = !shelves.isEmpty || ofStore.contains { $0[1].isEmpty }
                    expected[product] = !isListed && kept.isEmpty && isNamed ? nil : kept
                }
                let summary = try await run(catalog, file.map { $0.joined(separator: ",") }, isConfirmed: true)
                #expect(try await contents(catalog) == expected)
                #expect(summary.removedProducts == before.keys.count { expected[$0] == nil })
            }
        }
    }
}
