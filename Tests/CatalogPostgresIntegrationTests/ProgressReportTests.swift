import Catalog
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// The reports of imports, generators and re-sorts while they work.
@Suite(.timeLimit(.minutes(15))) struct ProgressReportTests {
    /// A file in given pieces.
    private struct Pieces: AsyncSequence, Sendable {
        typealias Element = [UInt8]
        let pieces: [[UInt8]]

        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<[UInt8]>
            mutating func next() async -> [UInt8]? { rest.popFirst() }
        }

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: pieces[...]) }
    }

    @Test("An import reports the rows that it has read after each piece of the file")
    func imports() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            // The form of a file is known after its first megabyte.
            let filler = String(repeating: "x", count: 4000)
            var pieces = (0..<3).map { piece in
                (0..<300).map { "s,a,p\(piece)-\($0),N,EUR,\(filler)\n" }.joined()
            }
            pieces[0] = "store,shelf,sku,name,currency,filler\n" + pieces[0]
            var reports: [Int] = []
            let summary = try await Importer(catalog).importFile(
                Pieces(pieces: pieces.map { Array($0.utf8) }),
                ImportOptions(format: .csv, createsStores: true),
                onProgress: { reports.append($0) }
            )
            #expect(summary.read == 900)
            #expect(reports.count == 3)
            #expect(reports == reports.sorted())
            #expect(Set(reports).count > 1, "\(reports)")
            #expect(reports.allSatisfy { $0 <= 900 } && (reports.last ?? 0) > 600, "\(reports)")
        }
    }

    @Test(
        "A generator reports each placement once, up to their number",
        .disabled(if: CitusServers.prefix != nil, "it creates keys and indexes after it has loaded the rows")
    )
    func generators() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        let reports = Mutex<[Int]>([])
        try await CatalogGenerator(shelves: 2, products: 5000, seed: 7).run(pool) { made in
            reports.withLock { $0.append(made) }
        }
        let found = reports.withLock { $0 }
        #expect(found == found.sorted() && found.last == 5000, "\(found)")
        #expect((found.first ?? 0) > 0 && Set(found).count > 1, "\(found)")
        pool.shutDown()
        try await database.drop()
    }

    @Test("A re-sort reports the finished shelves and all shelves of each store")
    func resorts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            for (store, shelves) in [("one", ["a"]), ("three", ["a", "b", "c"])] as [(String, [String])] {
                let key = CatalogKey(store)!
                _ = try await catalog.shelves.put(Store(key: key, title: "S", currency: Currency("EUR")!))
                for shelf in shelves {
                    _ = try await catalog.shelves.put(Shelf(key: CatalogKey(shelf)!, title: "S"), in: key)
                }
            }
            func reports(_ request: ResortRequest) async throws -> [[Int]] {
                let reports = Mutex<[[Int]]>([])
                let listener = Resorter.Listener(onProgress: { done, total in
                    reports.withLock { $0.append([done, total]) }
                })
                _ = try await Resorter(catalog).run(request, listener)
                return reports.withLock { $0 }
            }
            let three = try await reports(ResortRequest(store: CatalogKey("three")!, isDryRun: true))
            #expect(three.last == [3, 3])
            #expect(three.allSatisfy { $0[1] == 3 } && three.map { $0[0] } == three.map { $0[0] }.sorted())
            let all = try await reports(ResortRequest())
            #expect(all.first == [1, 1] && all.last == [3, 3])
            // Now nothing is due.
            #expect(try await reports(ResortRequest()).isEmpty)
        }
    }
}
