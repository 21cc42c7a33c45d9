import Catalog
import CatalogImport
import CatalogJSON
import CatalogPostgres
import Foundation
import LibPQ
import Ordering
import Testing
import TestSupport

/// Real price lists from the folder `AISLE_REAL_DATA`: `make test-real`.
@Suite(.timeLimit(.minutes(15))) struct RealCatalogTests {
    private struct File: AsyncSequence, Sendable {
        let bytes: [UInt8]
        init(_ name: String) throws {
            let folder = try #require(ProcessInfo.processInfo.environment["AISLE_REAL_DATA"])
            bytes = Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
        }
        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>
            mutating func next() async -> [UInt8]? {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(100_000) }
                return Array(rest.prefix(100_000))
            }
        }
        func makeAsyncIterator() -> Iterator { Iterator(rest: bytes[...]) }
    }

    @Test("A chain is imported completely, and paging reaches each product once")
    func importsWholeChain() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let summary = try await Importer(catalog).importFile(
                try File("konzum-hr.csv"),
                ImportOptions(format: .csv, createsStores: true)
            )
            #expect(summary.read == 35_205)
            #expect(summary.inserted == 35_205)
            #expect(summary.rejected == 0)
            #expect(summary.storesCreated == 4)
            let again = try await Importer(catalog).importFile(
                try File("konzum-hr.csv"),
                ImportOptions(format: .csv, createsStores: true)
            )
            #expect(again.unchanged == 35_205)
            for store in try await catalog.shelves.stores() {
                for state in try await catalog.shelves.shelves(ShelvesRequest(store: store.key)).shelves
                where state.productCount < 700 {
                    for sort in Sort.allSingle { try await check(catalog, store.key, state, sort) }
                }
            }
        }
    }

    /// On the largest shelf, facet counts match filter results for price ranges, for the most frequent brands and tags,
    /// and for available products.
    @Test("Each facet counts what its filter keeps")
    func facetsMatchFilters() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await Importer(catalog).importFile(
                try File("konzum-hr.csv"),
                ImportOptions(format: .csv, createsStores: true)
            )
            var largest: (store: CatalogKey, shelf: CatalogKey, count: Int)?
            for store in try await catalog.shelves.stores() {
                for state in try await catalog.shelves.shelves(ShelvesRequest(store: store.key)).shelves
                where state.productCount > largest?.count ?? 0 {
                    largest = (store.key, state.shelf.key, state.productCount)
                }
            }
            let (store, shelf, count) = try #require(largest)
            let currency = try await catalog.shelves.store(store).currency
            let sort = try Sort.parse("-unit_price")
            var request = PageRequest(store: store, shelf: shelf, sort: sort, limit: 100)
            var products: [Product] = []
            repeat {
                let page = try await catalog.pages.page(request)
                products += page.products
                request.after = page.next
            } while request.after != nil
            #expect(products.count == count)
            request.facets = Set(Facet.allCases)
            request.after = nil
            let facets = try #require(try await catalog.pages.page(request).facets)
            func ends(_ bucket: PriceBucket) -> [FilterKey: [String]] {
                [
                    .priceMin: bucket.from.map { [currency.decimal($0)] } ?? ["0"],
                    .priceMax: bucket.to.map { [currency.decimal($0)] } ?? ["999999999"],
                ]
            }
            var cases = PriceBucket.all(facets.prices).map { (values: ends($0), count: $0.count) }
            cases += facets.brands.prefix(20).map { ([.brand: [$0.value]], $0.count) }
            cases += facets.tags.prefix(20).map { ([.tag: [$0.value]], $0.count) }
            cases += [([.inStock: ["true"]], facets.inStock), ([.inStock: ["false"]], facets.soldOut)]
            cases += [
                (
                    [.unitPriceMax: ["2/kg"]],
                    products.count { product in
                        guard let price = product.priceMinor, let size = product.size, size.unit.dimension == .mass,
                            let limit = ExactDecimal(200).multiplied(by: size.baseQuantity)
                        else { return false }
                        return ExactDecimal(Int128(price) * 1000) <= limit
                    }
                )
            ]
            for (values, count) in cases {
                let filter = try #require(try Filter { values[$0] ?? [] })
                let left = try await catalog.pages.order(store, shelf, sort, filter: filter).ids
                #expect(left.count == count, "\(filter.query)")
                #expect(left == products.filter { filter.accepts($0, in: currency) }.map(\.sku.text))
            }
            #expect(cases.count > 20)
            #expect(facets.total == count)
        }
    }

    @Test("A chain's own file is imported by column mapping")
    func importsByColumnMapping() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let mapping: ImportMapping = [
                .name: "Product", .sku: "ProductId", .brand: "Brand", .size: "Quantity", .barcode: "Barcode",
                .shelf: "Category", .price: "Price",
                .promoPrice: "SpecialPrice",
            ]
            let options = ImportOptions(
                format: .csv,
                store: CatalogKey("konzum-0204")!,
                mapping: mapping,
                createsStores: true
            )
            let summary = try await Importer(catalog).importFile(try File("konzum-0204-2025-07-03.csv"), options)
            #expect(summary.read == 10_950)
            #expect(summary.rejected == 0)
            #expect(summary.inserted == 10_950)
            let priceless = try await catalog.database.writes.perform {
                try $0.query("SELECT 1 FROM product WHERE price_minor IS NULL") { $0.count }
            }
            #expect(priceless == 0)
        }
    }

    /// The chain rounds sizes to 0.01 kg or l and computes unit prices from exact ones, so sizes of names must agree better.
    @Test("Sizes agree with the unit prices that a chain states, and better if names are read")
    func sizesAgreeWithUnitPrices() throws {
        let bytes = try File("konzum-0204-2025-07-03.csv").bytes
        let columns = try agreement(bytes, readingNames: false)
        #expect(columns["agree", default: 0] >= 9_600)
        #expect(columns["disagree", default: 0] <= 1_170)
        let names = try agreement(bytes, readingNames: true)
        #expect(names["agree", default: 0] >= 10_500)
        #expect(names["disagree", default: 0] <= 235)
        #expect(names["unknown", default: 0] <= 200)
    }

    /// Counts the rows whose size gives the stated unit price, to the cent or within 2 %.
    private func agreement(_ bytes: [UInt8], readingNames: Bool) throws -> [String: Int] {
        let store = CatalogKey("konzum")!
        var options = ImportOptions(format: .csv, store: store, createsStores: true)
        // The unit price is read as the popularity, which is any number.
        options.profile.mapping = [
            .sku: "ProductId", .name: "Product", .size: "Quantity", .price: "Price", .promoPrice: "SpecialPrice",
            .popularity: "UnitPrice",
        ]
        options.profile.readsSizeFromName = readingNames
        var sizes = SizeContexts()
        sizes.add(store, pricing: .eu, locale: "hr-HR")
        var reader = ImportReader(options, currencies: [:], sizes: sizes)
        var counts: [String: Int] = [:]
        func take(_ event: ImportReader.Event) {
            guard case .record(let record) = event, record.popularity > 0,
                let minor = record.product.regularPriceMinor
                    ?? record.product.priceMinor
            else { return }
            guard let size = record.product.size else {
                counts["unknown", default: 0] += 1
                return
            }
            let quantity =
                Double(size.baseQuantity.description)! / ([.mass, .volume].contains(size.unit.dimension) ? 1000 : 1)
            let difference = abs(Double(minor) / 100 / quantity - record.popularity)
            let isEqual = difference <= 0.0051 + record.popularity * 0.021
            counts[isEqual ? "agree" : "disagree", default: 0] += 1
        }
        try bytes.withUnsafeBytes { try reader.read($0) { take($0) } }
        try reader.end { take($0) }
        return counts
    }

    /// Two years of a chain's prices, day by day: each day's diffs applied to the day before give the day after.
    @Test("A chain's price history is replayed day by day")
    func replaysPriceHistory() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let summary = try await Importer(catalog).importFile(
                try File("spar-at.csv"),
                ImportOptions(format: .csv, createsStores: true)
            )
            #expect(summary.read == 28_317)
            #expect(summary.rejected == 0)
            let store = CatalogKey("spar")!
            let currency = try await catalog.shelves.store(store).currency
            let lines = String(decoding: try File("spar-at-price-events.csv").bytes, as: UTF8.self)
                .split(whereSeparator: \.isNewline).dropFirst()
            #expect(lines.count == 58_859)
            let sorts = [try Sort.parse("price"), try Sort.parse("unit_price")]
            var replay = PriceReplay(catalog.storage, store: store, sorts: sorts)
            var shown: [String: [String]] = [:]
            var moved: [Sort: [Int]] = [:]
            var (days, changed, refused, rest) = (0, 0, 0, lines[...])
            while let first = rest.first {
                let date = first.prefix { $0 != "," }
                let day = rest.prefix { $0.hasPrefix(date) }
                rest = rest.dropFirst(day.count)
                var prices: [SKU: PriceChange] = [:]
                for line in day {
                    let fields = line.split(separator: ",", omittingEmptySubsequences: false)
                    let sku = try #require(SKU(String(fields[2])))
                    let amount = try #require(ExactDecimal(fields[3]))
                    guard let price = currency.minorUnits(amount) else {
                        refused += 1
                        continue
                    }
                    prices[sku] = PriceChange(sku: sku, priceMinor: price.minor)
                }
                let (outcome, steps) = try await replay.play(Array(prices.values))
                days += 1
                changed += outcome.changed
                for step in steps {
                    let place = "\(step.shelf) \(step.sort)"
                    // The day starts from the previous day's order.
                    #expect(shown[place] ?? step.old == step.old)
                    #expect(step.diff.apply(to: step.old, inserting: { _ in "" }) == step.new)
                    shown[place] = step.new
                    moved[step.sort, default: []].append(step.moved)
                }
            }
            #expect(days == 576)
            #expect(changed > 40_000)
            #expect(refused == 1)
            for (place, ids) in shown {
                let words = place.split(separator: " ")
                let order = try await catalog.pages.order(
                    store,
                    CatalogKey(String(words[0]))!,
                    try Sort.parse(String(words[1]))
                )
                #expect(order.ids == ids, "\(place)")
            }
            for sort in sorts {
                let sorted = moved[sort]!.sorted()
                print(
                    "\(days) days, \(changed) changes by \(sort): moves per shelf and day: median",
                    "\(sorted[sorted.count / 2]), 95th percentile \(sorted[sorted.count * 95 / 100]), most \(sorted.last!)"
                )
            }
        }
    }

    /// Compares a real shelf's order in memory and in PostgreSQL, in pages of 7.
    private func check(_ catalog: PostgresCatalog, _ store: CatalogKey, _ state: ShelfState, _ sort: Sort) async throws
    {
        var listings: [Listing] = []
        var request = PageRequest(store: store, shelf: state.shelf.key, sort: sort, limit: 7)
        while true {
            let page = try await catalog.pages.page(request)
            listings += page.products.map { Listing(product: $0, position: [], isSoldOut: !$0.inStock) }
            guard let next = page.next else { break }
            request.after = next
        }
        #expect(listings.count == state.productCount)
        #expect(Set(listings.map(\.product.sku)).count == state.productCount)
        guard sort != .position else { return }
        let collate = collator(try await catalog.shelves.store(store).language)
        let isInOrder = zip(listings, listings.dropFirst()).allSatisfy {
            sort.precedes($0, $1, dimension: state.comparisonDimension, collate: collate)
        }
        #expect(isInOrder, "\(store)/\(state.shelf.key) by \(sort.description)")
    }
}
