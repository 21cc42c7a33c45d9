import Catalog
import CatalogPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// Real price lists, where `AISLE_REAL_DATA` says they are: `make test-real`.
@Suite struct RealCatalogTests {
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

    @Test func aChainIsImportedWholeAndEveryProductReachedOnce() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let summary = try await Importer(catalog).run(try File("konzum-hr.csv"), ImportOptions(format: .csv))
            #expect(
                summary.read == 35_205 && summary.inserted == 35_205 && summary.rejected == 0
                    && summary.storesCreated == 4
            )
            let again = try await Importer(catalog).run(try File("konzum-hr.csv"), ImportOptions(format: .csv))
            #expect(again.unchanged == 35_205)
            for store in try await catalog.stores() {
                for state in try await catalog.shelves(ShelvesRequest(store: store.key)).shelves
                where state.productCount < 700 {
                    for sort in Sort.allSingle { try await check(catalog, store.key, state, sort) }
                }
            }
        }
    }

    @Test func theChainsOwnFileIsImportedByMapping() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let mapping: [ImportColumn: String] = [
                .name: "Product", .sku: "ProductId", .brand: "Brand", .size: "Quantity", .barcode: "Barcode",
                .shelf: "Category", .price: "Price",
                .promoPrice: "SpecialPrice",
            ]
            let options = ImportOptions(format: .csv, store: CatalogKey("konzum-0204")!, mapping: mapping)
            let summary = try await Importer(catalog).run(try File("konzum-0204-2025-07-03.csv"), options)
            #expect(summary.read == 10_950 && summary.rejected == 0 && summary.inserted == 10_950)
            let priceless = try await catalog.pool.perform {
                try $0.query("SELECT 1 FROM product WHERE price_minor IS NULL") { $0.count }
            }
            #expect(priceless == 0)
        }
    }

    /// The real shelf's order in memory and in PostgreSQL, by pages of 7.
    private func check(_ catalog: PostgresCatalog, _ store: CatalogKey, _ state: ShelfState, _ sort: Sort) async throws
    {
        var listings: [Listing] = []
        var request = PageRequest(store: store, shelf: state.shelf.key, sort: sort, limit: 7)
        while case .page(let page, _) = try await catalog.page(request) {
            listings += page.products.map { Listing(product: $0, position: [], isBehind: !$0.inStock) }
            guard let next = page.next else { break }
            request.after = next
        }
        #expect(listings.count == state.productCount && Set(listings.map(\.product.sku)).count == state.productCount)
        guard sort != .position else { return }
        let collate = collator()
        let isInOrder = zip(listings, listings.dropFirst()).allSatisfy {
            sort.precedes($0, $1, dimension: state.comparisonDimension, collate: collate)
        }
        #expect(isInOrder, "\(store)/\(state.shelf.key) by \(sort.description)")
    }
}
