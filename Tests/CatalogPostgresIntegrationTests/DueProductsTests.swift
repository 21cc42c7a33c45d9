import Catalog
@testable import CatalogPostgres
import LibPQ
import Ordering
import Testing
import TestSupport

/// The queue of products whose scores are due.
@Suite(.timeLimit(.minutes(15))) struct DueProductsTests {
    private static let shop = CatalogKey("shop")!

    private func withStore(_ body: (PostgresCatalog, DueProducts) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
            let id = try await ShelfLookup(database: catalog.database).readStore(Self.shop).id
            try await body(catalog, DueProducts(database: catalog.database, storeID: id))
        }
    }

    private func add(_ products: [String], areCounted: Bool = false, _ due: DueProducts) async throws {
        try await due.database.batch.transaction(within: .bulk) {
            try Self.add(products, areCounted: areCounted, due, $0)
        }
    }

    private static func add(
        _ products: [String],
        areCounted: Bool = false,
        _ due: DueProducts,
        _ connection: isolated PostgresConnection
    ) throws {
        let statement = PostgresStatement(
            DueProductStatements.queueing(
                "SELECT $1::integer AS store_id, n.sku FROM unnest($2::text[]) AS n (sku)",
                areCounted: "$3"
            )
        )
        try connection.execute(statement, [.int4(due.storeID), .textArray(products), .bool(areCounted)])
    }

    private func read(areCounted: Bool = false, _ due: DueProducts) async throws -> [DueProducts.Row] {
        try await due.database.batch.perform(within: .bulk) {
            try DueProducts.rows(areCounted: areCounted, of: due.storeID, $0)
        }
    }

    private func products(_ due: DueProducts) async throws -> [String] {
        try await due.database.batch.perform(within: .bulk) {
            try $0.query(
                PostgresStatement("SELECT p.sku FROM (\(DueProductStatements.products)) p ORDER BY p.sku"),
                [.int4(due.storeID)]
            ) { try $0.map { try $0.text(0) } }
        }
    }

    @Test("Batches have each product once, in the order of bytes, whatever the rows")
    func batchesHaveEachProductOnce() async throws {
        try await withStore { _, due in
            var random = SeededGenerator(seed: 34)
            // Letters whose order differs between bytes and languages.
            let letters = ["a", "B", "é", "Z", "ß", "0", "9", "œ", "~", "日"]
            var expected = Set<String>()
            for size in [1, 3, 2500, 40, 1, 700, 12, 5] {
                let skus = Set(
                    (0..<size).map { _ in (0..<4).map { _ in letters.randomElement(using: &random)! }.joined() }
                )
                expected.formUnion(skus)
                try await add(Array(skus), due)
            }
            let rows = try await read(due)
            #expect(rows.count > 8)
            #expect(rows.allSatisfy { $0.size <= 1000 && !($0.lastSKU < $0.firstSKU) })
            let sorted = expected.map { SKU(stored: $0) }.sorted()
            for size in [1000, 333, 70] {
                var (found, largest) = ([SKU](), 0)
                try await due.forEachBatch(of: size, in: rows) { products in
                    found += products
                    largest = max(largest, products.count)
                    return true
                }
                #expect(found == sorted)
                #expect(largest <= size)
            }
            var batches = 0
            try await due.forEachBatch(of: 100, in: rows) { _ in
                batches += 1
                return batches < 3
            }
            #expect(batches == 3)
        }
    }

    @Test("Products that become due during a count stay in the queue")
    func laterRowsStay() async throws {
        try await withStore { _, due in
            try await add(["a", "b"], due)
            let rows = try await read(due)
            try await add(["b", "c"], due)
            try await due.markCounted(rows)
            #expect(try await read(due).map(\.firstSKU.text) == ["b"])
            let counted = try await read(areCounted: true, due)
            #expect(counted.map(\.firstSKU.text) == ["a"])
            // The rows that are not counted are not deleted.
            try await due.delete(counted + read(due), areCopied: true)
            #expect(try await products(due) == ["b", "c"])
        }
    }

    @Test("A row with the same first product and time gets the further products, and is then another row")
    func rowsOfOneMomentAreUnited() async throws {
        try await withStore { _, due in
            // Both statements have the time of their transaction.
            let before = try await due.database.batch.transaction(within: .bulk) { connection in
                try Self.add(["a", "b"], due, connection)
                let before = try DueProducts.rows(areCounted: false, of: due.storeID, connection)
                try DueProducts.markCounted(before, of: due.storeID, connection)
                try Self.add(["a", "c"], due, connection)
                return before
            }
            let rows = try await read(due)
            #expect(rows.map(\.lastSKU.text) == ["c"])
            #expect(rows.map(\.mark) == before.map(\.mark))
            try await due.markCounted(before)
            try await due.delete(before, areCopied: true)
            var found: [SKU] = []
            try await due.forEachBatch(of: 10, in: rows) { products in
                found += products
                return true
            }
            #expect(found.map(\.text) == ["a", "b", "c"])
        }
    }

    @Test("Counted rows stay while a placement of a product of theirs has an outdated score")
    func rowsWithOutdatedPlacementsStay() async throws {
        try await withStore { catalog, due in
            let shelf = CatalogKey("shelf")!
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "Shelf"), in: Self.shop)
            for sku in ["a", "b", "c", "d"].map({ SKU($0)! }) {
                _ = try await catalog.products.put(Product(sku: sku, name: "N"), in: Self.shop)
                _ = try await catalog.products.place(sku, on: shelf, in: Self.shop)
            }
            try await add(["a", "b"], areCounted: true, due)
            try await add(["c", "deleted"], areCounted: true, due)
            try await catalog.database.writes.perform {
                _ = try $0.execute("UPDATE product SET popularity_log2 = 5 WHERE sku = 'b'")
            }
            try await due.delete(try await read(areCounted: true, due), areCopied: false)
            #expect(try await products(due) == ["a", "b"])
            try await catalog.database.writes.perform {
                _ = try $0.execute("UPDATE placement SET popularity_log2 = 5 WHERE sku = 'b'")
            }
            try await due.delete(try await read(areCounted: true, due), areCopied: false)
            #expect(try await products(due) == [])
        }
    }

    @Test("Rows that many transactions have added are merged, counted ones apart from others")
    func rowsAreMerged() async throws {
        try await withStore { catalog, due in
            let large = (0..<1200).map { "l\($0)" }
            try await add(large, due)
            for number in 0..<300 {
                try await add(["p\(number % 7)", "q\(number)"], due)
                if number < 200 { try await add(["c\(number)"], areCounted: true, due) }
            }
            let expected = (0..<7).map { "p\($0)" } + (0..<300).map { "q\($0)" } + (0..<200).map { "c\($0)" } + large
            #expect(try await PurchaseFold(catalog).run().total == 0)
            #expect(try await read(due).map(\.size) == [1000, 507])
            #expect(try await read(areCounted: true, due).count == 200)
            #expect(try await products(due) == expected.sorted())
            // Fewer are merged before they are counted.
            for number in 0..<20 { try await add(["p\(number % 7)"], due) }
            #expect(try await due.uncountedRows().map(\.size) == [1000, 507])
            #expect(try await products(due) == expected.sorted())
        }
    }

    @Test("Rows that were read before a merge are neither marked nor deleted after it")
    func mergedRowsAreOthers() async throws {
        try await withStore { catalog, due in
            for number in 0..<20 { try await add(["p\(number)"], due) }
            let before = try await read(due)
            #expect(try await due.uncountedRows().count == 1)
            try await due.markCounted(before)
            try await due.delete(before, areCopied: true)
            #expect(try await read(due).map(\.size) == [20])
        }
    }

    // MARK: - Counting

    /// Adds products, each on two shelves.
    private func fill(_ catalog: PostgresCatalog, _ skus: [SKU]) async throws {
        for shelf in ["a", "b"].map({ CatalogKey($0)! }) {
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "Shelf"), in: Self.shop)
        }
        for sku in skus {
            _ = try await catalog.products.put(Product(sku: sku, name: "N"), in: Self.shop)
            for shelf in ["a", "b"] { _ = try await catalog.products.place(sku, on: CatalogKey(shelf)!, in: Self.shop) }
        }
    }

    private func buy(_ catalog: PostgresCatalog, _ sku: SKU, _ id: String) async throws {
        _ = try await catalog.purchases.add([Purchase(eventID: id, sku: sku, quantity: 1, at: .now())], to: Self.shop)
        #expect(try await PurchaseFold(catalog).run().total == 1)
    }

    /// The number of products and of placements with another score than that of all their purchases.
    private func outdated(_ catalog: PostgresCatalog) async throws -> [Int] {
        let read = try await ShelfLookup(database: catalog.database).readStore(Self.shop)
        return try await catalog.database.writes.transaction(within: .bulk) { connection in
            let placements = try connection.query(
                "SELECT count(*) FROM placement p JOIN product r USING (store_id, sku) WHERE p.popularity_log2 <> r.popularity_log2"
            ) { try $0.first { try $0.int(0) }! }
            let halfLife = PostgresValue.int4(Int32(read.store.popularityHalfLifeDays))
            return [try connection.execute(PopularityStatements.decayAll, [.int4(read.id), halfLife]), placements]
        }
    }

    @Test("A count that waited does not replace the score of a later one")
    func waitingCountsScoreAllPurchases() async throws {
        try await withStore { catalog, due in
            let (first, second) = (SKU("p1")!, SKU("p2")!)
            try await fill(catalog, [first, second])
            try await buy(catalog, second, "1")
            let book = PurchaseBook(catalog)
            let read = try await ShelfLookup(database: catalog.database).readStore(Self.shop)
            let holder = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await holder.perform {
                try $0.begin()
                try $0.run(script: "SELECT 1 FROM product WHERE store_id = \(due.storeID) AND sku = 'p1' FOR UPDATE")
            }
            let waiting = Task { try await book.count([first, second], read) }
            try await catalog.untilLockIsAwaited()
            try await buy(catalog, second, "2")
            #expect(try await book.count([second], read) == 1)
            await holder.close()
            #expect(try await waiting.value == 0)
            #expect(try await outdated(catalog)[0] == 0)
        }
    }

    @Test("A count that ended before it marked its rows is completed by the next re-sort")
    func interruptedCountsAreCompleted() async throws {
        try await withStore { catalog, due in
            let sku = SKU("p1")!
            try await fill(catalog, [sku])
            try await buy(catalog, sku, "1")
            let read = try await ShelfLookup(database: catalog.database).readStore(Self.shop)
            #expect(try await PurchaseBook(catalog).count([sku], read) == 1)
            #expect(try await outdated(catalog) == [0, 2])
            #expect(try await Resorter(catalog).run(ResortRequest()).products == 0)
            #expect(try await outdated(catalog) == [0, 0])
            #expect(try await products(due) == [])
        }
    }

    @Test("After a re-sort of named shelves, the products of others are still due")
    func othersStayDue() async throws {
        try await withStore { catalog, due in
            let sku = SKU("p1")!
            try await fill(catalog, [sku])
            try await buy(catalog, sku, "1")
            _ = try await Resorter(catalog).run(ResortRequest(store: Self.shop, shelves: [CatalogKey("a")!]))
            #expect(try await read(areCounted: true, due).map(\.firstSKU) == [sku])
            _ = try await Resorter(catalog).run(ResortRequest())
            #expect(try await outdated(catalog) == [0, 0])
            #expect(try await products(due) == [])
        }
    }

    // MARK: - Migration

    @Test("The migration keeps which products are due, and which of them are counted")
    func migrationKeepsProducts() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration)
        func text(_ statement: PostgresStatement) async throws -> String {
            try await pool.perform { try $0.query(statement) { try $0.first { try $0.text(0) }! } }
        }
        _ = try await Migrator(pool).migrate(to: 33)
        try await pool.perform {
            try $0.run(
                script: """
                    INSERT INTO popularity_due (store_id, sku, mark)
                    SELECT s, 'p' || n, CASE WHEN n % 3 = 0 THEN -n ELSE n END FROM generate_series(1, 2) AS s, generate_series(1, 2500) AS n
                    """
            )
        }
        let single: PostgresStatement = """
            SELECT string_agg(store_id || sku || (mark < 0), ' ' ORDER BY store_id, sku) FROM popularity_due
            """
        let before = try await text(single)
        _ = try await Migrator(pool).migrate(to: 34)
        let sets: PostgresStatement = """
            SELECT string_agg(d.store_id || n.sku || d.is_counted, ' ' ORDER BY d.store_id, n.sku)
            FROM due_products d CROSS JOIN LATERAL unnest(d.skus) AS n (sku)
            """
        #expect(try await text(sets) == before)
        #expect(
            try await text(
                "SELECT count(*) || ' ' || max(size) || ' ' || sum(size - cardinality(skus)) FROM due_products"
            ) == "6 1000 0"
        )
        _ = try await Migrator(pool).migrate(to: 33)
        #expect(try await text(single) == before)
        pool.shutDown()
        try await database.drop()
    }
}
