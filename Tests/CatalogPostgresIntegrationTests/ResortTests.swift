import Catalog
import CatalogJSON
@testable import CatalogPostgres
import LibPQ
import Ordering
import Synchronization
import Testing
import TestSupport

/// The batch re-sort.
@Suite(.timeLimit(.minutes(15))) struct ResortTests {
    private typealias P = PopularityTests
    private static let shelves = (0..<4).map { CatalogKey("shelf-\($0)")! }

    /// A store with shelves arranged by −popularity, by price, and manually.
    private func fill(_ catalog: PostgresCatalog) async throws {
        _ = try await catalog.shelves.put(Store(key: P.shop, title: "Shop", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: CatalogKey("empty")!, title: "No products"), in: P.shop)
        let sources = ["-popularity", "price", nil, "-unit_price,name"]
        for (key, source) in zip(Self.shelves, sources) {
            _ = try await catalog.shelves.put(
                Shelf(key: key, title: key.text, positionSource: try source.map { try Sort.parse($0) }),
                in: P.shop
            )
        }
        for (index, sku) in P.skus.enumerated() {
            let size = try Size(
                amount: ExactDecimal(Int128(100 + index * 37 % 50)),
                unit: index % 3 == 0 ? .g : .ml,
                packs: 1,
                drained: nil,
                isApproximate: false
            )
            let product = Product(sku: sku, name: sku.text, priceMinor: Int64(index * 31 % 17), size: size)
            _ = try await catalog.products.put(product, in: P.shop)
            for shelf in Self.shelves { _ = try await catalog.products.place(sku, on: shelf, in: P.shop) }
        }
    }

    private func buy(_ catalog: PostgresCatalog, seed: UInt64, _ count: Int = 100) async throws {
        var random = SeededGenerator(seed: seed)
        // Equal ids stay equal, and those of other seeds differ.
        let events = P.events(&random, count).map { event in
            var event = event
            event.eventID = "\(event.eventID.prefix(50)) \(seed)"
            return event
        }
        _ = try await catalog.purchases.add(events, to: P.shop)
    }

    private func expectSorted(_ catalog: PostgresCatalog) async throws {
        for key in Self.shelves {
            let state = try await catalog.shelves.shelf(P.shop, key).state
            let manual = try await catalog.pages.order(P.shop, key, .position).ids
            if let source = state.shelf.positionSource {
                #expect(manual == (try await catalog.pages.order(P.shop, key, source).ids), "\(key)")
            }
        }
        let differing = try await catalog.database.writes.perform {
            try $0.query(
                "SELECT count(*) FROM placement p JOIN product r USING (store_id, sku) WHERE p.popularity_log2 <> r.popularity_log2"
            ) { try $0.first { try $0.int(0) } }
        }
        #expect(differing == 0)
    }

    private static let pending: SQL = """
        (SELECT i.* FROM purchase_inbox i JOIN purchase_cell c ON c.cell = i.cell AND c.state IN ('open', 'sealed'))
        """

    private func everything(_ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.database.writes.perform { database in
            try [
                "store", "shelf", "product", "placement", "placement_position", Self.pending, "purchase_count",
                "due_products", "resort_run", "order_change", "purchase_by_customer",
            ].map { (table: SQL) in
                try database.query(
                    "SELECT coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '') FROM \(table) t"
                ) { try $0.first { try $0.text(0) }! }
            }
        }
    }

    @Test("A re-sort updates everything; the next one changes nothing")
    func resortIsIdempotent() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            for seed in 1...3 as ClosedRange<UInt64> {
                try await buy(catalog, seed: seed)
                let reports = Mutex<[ShelfResort]>([])
                let summary = try await Resorter(catalog).run(
                    ResortRequest(diffs: .moves, jobs: 3),
                    .init(onShelf: { report in reports.withLock { $0.append(report) } })
                )
                try await expectSorted(catalog)
                #expect(summary.events > 0)
                #expect(summary.products > 0)
                #expect(summary.changed == reports.withLock { $0.count })
                for report in reports.withLock({ $0 }) {
                    #expect(report.rescored > 0 || report.moved > 0)
                    #expect(
                        report.diff.map { $0.diff.apply(to: Array($0.old), inserting: { _ in "" }) == Array($0.new) }
                            ?? true
                    )
                    #expect(report.moved == report.diff?.diff.moves.count ?? 0)
                }
                let before = try await everything(catalog)
                let again = try await Resorter(catalog).run(ResortRequest(jobs: 2))
                #expect(!again.isChange)
                #expect(again.shelves == 0)
                var after = try await everything(catalog)
                // Only the history has one more run.
                after[8] = before[8]
                #expect(after == before)
            }
            let runs = try await Resorter(catalog).history(100)
            try #require(runs.count == 6)
            #expect(runs.allSatisfy { $0.state == .done })
            #expect(runs[1].summary.events > 0)
            #expect(runs[0].summary.events == 0)
        }
    }

    @Test("A dry run reports the changes of a run, and makes none")
    func dryRunMatchesRun()
        async throws
    {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            try await buy(catalog, seed: 1)
            for change in 0..<3 {
                if change == 1 { try await buy(catalog, seed: 2, 3) }
                if change == 2 {
                    var store = try await catalog.shelves.store(P.shop)
                    store.popularityMetric = .last7Days
                    _ = try await catalog.shelves.put(store)
                }
                let reported = Mutex<[[String]]>([[], []])
                func listener(_ index: Int) -> Resorter.Listener {
                    .init(onShelf: { report in
                        let line = "\(report.shelf.shelf) \(report.rescored) \(report.moved)"
                        reported.withLock { $0[index].append(line) }
                    })
                }
                // Images of the shelves before, from which a server without them reads them.
                for key in Self.shelves { _ = try await catalog.pages.page(PageRequest(store: P.shop, shelf: key)) }
                _ = try await ShelfImages(catalog).write()
                let server = PostgresCatalog(catalog.database, encodingEvents: \.json)
                let before = try await everything(catalog)
                let dryRun = try await Resorter(server).run(ResortRequest(isDryRun: true), listener(0))
                #expect(try await everything(catalog) == before)
                let done = try await Resorter(catalog).run(ResortRequest(), listener(1))
                #expect(dryRun.events == done.events)
                #expect(dryRun.isChange)
                #expect(done.isChange)
                if change < 2 {
                    let (expected, actual) = reported.withLock { ($0[0].sorted(), $0[1].sorted()) }
                    #expect(expected == actual)
                    #expect(dryRun.moved == done.moved)
                    #expect(dryRun.changed == done.changed)
                }
                try await expectSorted(catalog)
                let idle = try await Resorter(catalog).run(ResortRequest(isDryRun: true))
                #expect(!idle.isChange)
            }
        }
    }

    @Test("A dry run reads only the shelves of products with new purchases, unless the rule has changed")
    func dryRunReadsShelvesOfPurchases() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            try await buy(catalog, seed: 1)
            _ = try await Resorter(catalog).run(ResortRequest())
            try await buy(catalog, seed: 2, 3)
            // The other shelf is empty.
            #expect(try await Resorter(catalog).run(ResortRequest(isDryRun: true)).shelves == Self.shelves.count)
            var store = try await catalog.shelves.store(P.shop)
            store.popularityMetric = .last7Days
            _ = try await catalog.shelves.put(store)
            #expect(try await Resorter(catalog).run(ResortRequest(isDryRun: true)).shelves == Self.shelves.count + 1)
        }
    }

    @Test("Concurrent re-sorts and writers do not disturb each other")
    func concurrentResortsAndWriters() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 1...4 as ClosedRange<UInt64> {
                    group.addTask { try await buy(catalog, seed: seed) }
                    group.addTask { _ = try await Resorter(catalog).run(ResortRequest(jobs: 2)) }
                    group.addTask {
                        var random = SeededGenerator(seed: seed)
                        for _ in 0..<20 {
                            let sku = P.skus.randomElement(using: &random)!
                            let price = Int64.random(in: 0..<1000, using: &random)
                            _ = try await catalog.prices.setPrices(
                                [PriceChange(sku: sku, priceMinor: price)],
                                in: P.shop
                            )
                            let edit = ManualOrderEdit.moves([OrderMove([sku.text], .first)])
                            let shelf = Self.shelves.randomElement(using: &random)!
                            let request = OrderEditRequest(store: P.shop, shelf: shelf, edit: edit)
                            _ = try await catalog.manualOrder.editOrder(request, once: nil)
                        }
                    }
                }
                try await group.waitForAll()
            }
            _ = try await Resorter(catalog).run(ResortRequest())
            try await expectSorted(catalog)
            #expect(try await Resorter(catalog).run(ResortRequest()).isChange == false)
            // To score all products again changes nothing.
            let read = try await ShelfLookup(database: catalog.database).readStore(P.shop)
            let halfLife = PostgresValue.int4(Int32(read.store.popularityHalfLifeDays))
            let rescored = try await catalog.database.writes.perform {
                try $0.execute(PopularityStatements.decayAll, [.int4(read.id), halfLife])
            }
            #expect(rescored == 0)
        }
    }

    @Test("A re-sort of named shelves changes no other shelf")
    func resortsNamedShelvesOnly() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            try await buy(catalog, seed: 1)
            let shelves = Mutex<Set<String>>([])
            _ = try await Resorter(catalog).run(
                ResortRequest(store: P.shop, shelves: [Self.shelves[1]]),
                .init(onShelf: { report in shelves.withLock { _ = $0.insert(report.shelf.shelf.text) } })
            )
            #expect(shelves.withLock { $0 } == ["shelf-1"])
            // The others are still pending.
            _ = try await Resorter(catalog).run(ResortRequest())
            try await expectSorted(catalog)
            await #expect(throws: CatalogError.self) {
                _ = try await Resorter(catalog).run(ResortRequest(store: P.shop, shelves: [CatalogKey("none")!]))
            }
        }
    }

    @Test("The comparison dimension is that of most products")
    func usesMostCommonDimension() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog)
            _ = try await Resorter(catalog).run(ResortRequest())
            #expect(try await catalog.shelves.shelf(P.shop, Self.shelves[3]).state.comparisonDimension == .volume)
            for sku in P.skus {
                var product = try await catalog.products.product(P.shop, sku).product
                product.size = try Size(
                    amount: ExactDecimal(3),
                    unit: .piece,
                    packs: 1,
                    drained: nil,
                    isApproximate: false
                )
                _ = try await catalog.products.put(product, in: P.shop)
            }
            _ = try await Resorter(catalog).run(ResortRequest())
            #expect(try await catalog.shelves.shelf(P.shop, Self.shelves[3]).state.comparisonDimension == .piece)
            try await expectSorted(catalog)
        }
    }
}
