import Catalog
import CatalogJSON
import Dispatch
import Foundation
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// The deletion of stores: nothing of a store remains, also if others write to it at the same time.
@Suite(.timeLimit(.minutes(15))) struct StoreDeletionTests {
    private static let shop = CatalogKey("shop")!
    private static let dairy = CatalogKey("dairy")!
    private static let ann = UserID("ann")!
    private static let list = UniqueID("018f0000-0000-7000-8000-000000000001")!

    /// The tables with rows of stores that outlive a deleted store: its tombstones, its log, and items of users' lists.
    private static let kept: Set<String> = ["store", "store_state", "shelf", "store_audit", "user_list_item"]
    /// Tables whose rows another writer deletes: those of an import when it ends.
    private static let temporary: Set<String> = ["import_row"]

    /// Returns the number of rows of the store in each table that has rows of stores.
    private static func rows(_ catalog: PostgresCatalog) async throws -> [String: Int] {
        try await catalog.database.writes.perform { connection in
            let tables = try connection.query(
                """
                SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                    AND a.attname = 'store_id' AND NOT a.attisdropped
                """
            ) { try $0.map { try $0.text(0) } }
            var rows: [String: Int] = [:]
            for table in tables {
                let count: SQL = SQL(
                    unchecked: """
                        SELECT count(*) FROM \(table) WHERE store_id = (SELECT store_id FROM store WHERE key = 'shop')
                        """
                )
                rows[table] = try connection.query(PostgresStatement(count)) { try $0.first { try $0.int(0) } }
            }
            return rows
        }
    }

    private static func importRows(
        _ rows: [String],
        into catalog: PostgresCatalog,
        creates: Bool = true
    ) async throws {
        let file = "store,shelf,sku,name,price,currency,popularity,position\n" + rows.map { $0 + "\n" }.joined()
        _ = try await Importer(catalog).importFile(
            ImporterTests.Chunks(text: file),
            ImportOptions(format: .csv, createsStores: creates)
        )
    }

    private static func purchase(_ sku: String) -> Purchase {
        Purchase(eventID: UniqueID.random().text, sku: SKU(sku)!, quantity: 1, at: .now(), customer: "card 7")
    }

    /// Fills every table that has rows of a store.
    private static func fill(_ catalog: PostgresCatalog) async throws {
        try await importRows((1...30).map { "shop,dairy,p\($0),N\($0),1.0\($0 % 10),EUR,\($0),\($0)" }, into: catalog)
        _ = try await catalog.purchases.add([purchase("p1"), purchase("p2")], to: shop)
        _ = try await PurchaseFold(catalog).run()
        _ = try await catalog.purchases.add([purchase("p3"), purchase("unknown")], to: shop)
        let move = OrderEditRequest(store: shop, shelf: dairy, edit: .moves([OrderMove(["p9"], .first)]))
        _ = try await catalog.manualOrder.editOrder(move, once: IdempotentCall(key: "k", fingerprint: [1]))
        _ = try await catalog.pages.page(PageRequest(store: shop, shelf: dairy))
        _ = try await ShelfImages(catalog).write()
        let attribute = try AttributeDefinition(name: AttributeName("rating")!, form: .text)
        _ = try await catalog.attributes.declare(.definition(attribute), for: .store(shop))
        _ = try await catalog.synonyms.set(Synonyms(groups: [["pop", "soda"]], oneWay: []), for: .store(shop))
        _ = try await catalog.lists.createList(NewList(id: list, name: "Week"), of: ann, once: nil)
        let item = NewListItem(product: ProductReference(shop, SKU("p1")!))
        _ = try await catalog.lists.editList(list, of: ann, .add([item]), expected: nil, once: nil)
    }

    @Test("Nothing of a deleted store remains but its tombstones, its log and the items of lists")
    func deletesEverything() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.importRows(["other,dairy,p1,N,1,EUR,,1"], into: catalog)
            try await Self.fill(catalog)
            let empty = try await Self.rows(catalog).filter { $0.value == 0 && !Self.temporary.contains($0.key) }
            #expect(empty.keys.sorted() == [], "fill these tables")
            #expect(try await catalog.shelves.remove(store: Self.shop) == 30)
            let remaining = try await Self.rows(catalog).filter { $0.value > 0 }
            #expect(Set(remaining.keys) == Self.kept)
            // Another store keeps its products, and the re-sort works.
            #expect(try await catalog.shelves.shelf(CatalogKey("other")!, Self.dairy).state.productCount == 1)
            let summary = try await Resorter(catalog).run(ResortRequest())
            #expect(summary.events == 0)
        }
    }

    @Test("The log of a deleted store stays readable, and goes on when the store is created again")
    func keepsTheLog() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.importRows(["shop,dairy,p1,N,1,EUR,,1"], into: catalog)
            _ = try await catalog.shelves.remove(store: Self.shop)
            let request = AuditRequest(.store(Self.shop))
            #expect(try await catalog.audit.audit(request).entries.map(\.action) == ["store.delete", "import.apply"])
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "S", currency: Currency("EUR")!))
            #expect(
                try await catalog.audit.audit(request).entries.map(\.action) == [
                    "store.create", "store.delete", "import.apply",
                ]
            )
        }
    }

    @Test("An import creates a deleted store again, with another currency, and only the products of its file")
    func importCreatesAgain() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let version = try await catalog.shelves.shelf(Self.shop, Self.dairy).state.version
            _ = try await catalog.shelves.remove(store: Self.shop)
            try await Self.importRows(
                ["shop,cheese,p2,New,2,CZK,,1", "shop,dairy,p40,New,3,CZK,,1", "shop,dairy,p9,New,3,CZK,,2"],
                into: catalog
            )
            #expect(try await catalog.shelves.store(Self.shop).currency.code == "CZK")
            let shelves = try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop)).shelves
            #expect(Set(shelves.map(\.shelf.key.text)) == ["cheese", "dairy"])
            let dairy = try await catalog.shelves.shelf(Self.shop, Self.dairy)
            #expect(dairy.state.version > version)
            let page = try await catalog.pages.page(
                PageRequest(store: Self.shop, shelf: Self.dairy, sort: Sort(.position, .ascending)!)
            )
            #expect(page.products.map(\.sku.text) == ["p40", "p9"])
            #expect(try await catalog.products.products(Self.shop, after: nil, limit: 100).products.count == 3)
            #expect(try await Self.rows(catalog)["purchase_count"] == 0)
            let (membership, facts) = try await catalog.lists.list(Self.list, of: Self.ann, by: nil)
            // The item still names its product, which the store no longer has.
            #expect(membership.list.items.map(\.product) == [ProductReference(Self.shop, SKU("p1")!)])
            #expect(facts.products.isEmpty)
        }
    }

    @Test(
        "An import ends if its store is deleted and created again after the comparison",
        arguments: ["shelf,sku,name,price\ndairy,p1,N1,1\ndairy,p3,New,1\n", "shelf,sku,name,price\ndairy,p1,N1,1\n"]
    )
    func deletedDuringImport(_ file: String) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.importRows(["shop,dairy,p1,N1,1,EUR,,", "shop,dairy,p2,N2,1,EUR,,"], into: catalog)
            let (compared, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            var options = ImportOptions(format: .csv, store: Self.shop)
            options.prunes = true
            let running = Task { [options] in
                // The import calls it on a thread of its own, before it changes anything.
                try await Importer(catalog).importFile(
                    ImporterTests.Chunks(text: file),
                    options,
                    onPrune: { _ in
                        compared.signal()
                        return resume.wait(timeout: .now() + 60) == .success
                    }
                )
            }
            try await Self.wait(for: compared)
            _ = try await catalog.shelves.remove(store: Self.shop)
            try await Self.importRows(["shop,dairy,p2,N2,1,EUR,,", "shop,dairy,p9,N9,1,EUR,,"], into: catalog)
            resume.signal()
            let error = await #expect(throws: CatalogError.self) { try await running.value }
            #expect("\(try #require(error))".contains("was deleted during the import"))
            let products = try await catalog.products.products(Self.shop, after: nil, limit: 10).products
            #expect(products.map(\.sku.text) == ["p2", "p9"])
        }
    }

    /// Waits on a thread that no task needs.
    private static func wait(for semaphore: DispatchSemaphore) async throws {
        let result = await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: semaphore.wait(timeout: .now() + 60)) }.start()
        }
        try #require(result == .success)
    }

    /// The writes that found the store unavailable, and the database's reasons.
    private final class Rejections: Sendable {
        let count = Mutex(0)
        let reasons = Mutex<[String]>([])
    }

    @Test("Writers at the same time either come first or find no store, and leave nothing", arguments: [1, 5])
    func concurrentWriters(_ round: Int) async throws {
        let rejections = Rejections()
        let observer = Observer<DatabaseObservation> {
            if case .databaseUnavailable(let reason) = $0 { rejections.reasons.withLock { $0.append(reason) } }
        }
        try await withCatalog(observer: observer) { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let writers = Self.writers(catalog)
            let (successes, success) = AsyncStream.makeStream(of: Int.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, write) in writers.enumerated() {
                    group.addTask {
                        var number = 0
                        while try await catalog.shelves.storeIfExists(Self.shop) != nil {
                            number += 1
                            do {
                                try await write(number)
                                success.yield(index)
                            } catch CatalogError.notFound {
                                // Another writer, or the deletion, has deleted what it writes to.
                            } catch CatalogError.unknownStores {
                                // An import found no store.
                            } catch CatalogError.conflict {
                                // Products were created or placed meanwhile, several times.
                            } catch CatalogError.unavailable {
                                // A lock was held for longer than a request waits.
                                rejections.count.withLock { $0 += 1 }
                            }
                        }
                    }
                }
                group.addTask {
                    var written: [Int: Int] = [:]
                    for await writer in successes {
                        written[writer, default: 0] += 1
                        if written.count == writers.count, written.values.allSatisfy({ $0 >= round }) { break }
                    }
                    _ = try await catalog.shelves.remove(store: Self.shop)
                }
                try await group.waitForAll()
            }
            _ = try await PurchaseFold(catalog).run()
            let remaining = try await Self.rows(catalog).filter { $0.value > 0 }
            #expect(Set(remaining.keys).subtracting(Self.kept) == [])
            #expect(try await Self.liveShelves(catalog) == 0)
        }
        // On a busy machine, the deletion may hold its locks for longer than a request waits. A server ends the wait
        // after its lock timeout. A worker of Citus has none, so the request's deadline does. Deadlocks are retried.
        let reasons = rejections.reasons.withLock { $0 }
        let waits: Set = ["PostgresError(server, SQLSTATE 55P03)", "PostgresError(deadline)"]
        #expect(Set(reasons).subtracting(waits) == [])
        #expect(rejections.count.withLock { $0 } == reasons.count, "no other cause than a database error")
    }

    /// Returns the number of shelves that are not deleted, in all stores.
    private static func liveShelves(_ catalog: PostgresCatalog) async throws -> Int {
        try await catalog.database.writes.perform {
            try $0.query("SELECT count(*) FROM shelf WHERE deleted_at IS NULL") { try $0.first { try $0.int(0) }! }
        }
    }

    /// Returns writers of every kind, which write something else for each number.
    private static func writers(_ catalog: PostgresCatalog) -> [@Sendable (Int) async throws -> Void] {
        [
            { _ = try await catalog.products.put(Product(sku: SKU("n\($0)")!, name: "N", priceMinor: 1), in: shop) },
            { number in
                let sku = SKU("m\(number)")!
                _ = try await catalog.products.put(Product(sku: sku, name: "N", priceMinor: 1), in: shop)
                _ = try await catalog.products.place(sku, on: dairy, in: shop)
                try await catalog.products.unplace(sku, from: dairy, in: shop)
                try await catalog.products.remove(product: sku, from: shop)
            },
            { number in
                let change = PriceChange(sku: SKU("p1")!, priceMinor: Int64(number), regularPriceMinor: nil)
                _ = try await catalog.prices.setPrices([change], in: shop)
            },
            { _ = try await catalog.purchases.add([purchase("p\($0 % 40)")], to: shop) },
            { _ = try await catalog.shelves.put(Shelf(key: CatalogKey("s\($0)")!, title: "S"), in: shop) },
            { number in
                let moves = [OrderMove(["dairy"], number % 2 == 0 ? .first : .last)]
                _ = try await catalog.shelves.moveShelves(moves, in: shop, expected: nil, once: nil)
            },
            { number in
                // Every other edit changes nothing, and only its response is recorded.
                let moves = ManualOrderEdit.moves([OrderMove(["p\(number / 2 % 30 + 1)"], .first)])
                let request = OrderEditRequest(store: shop, shelf: dairy, edit: moves)
                _ = try await catalog.manualOrder.editOrder(
                    request,
                    once: IdempotentCall(key: "e\(number)", fingerprint: [1])
                )
            },
            { number in
                let call = IdempotentCall<RecordedResponse>(key: "r\(number)", fingerprint: [1])
                try await catalog.responses.record(RecordedResponse(body: []), of: call, in: shop)
            },
            { try await importRows(["shop,dairy,i\($0),N,1,EUR,,1"], into: catalog, creates: false) },
            { _ in _ = try await PurchaseFold(catalog).run() },
            { _ in _ = try await Resorter(catalog).run(ResortRequest()) },
        ]
    }
}
