import Catalog
import CatalogJSON
import CatalogPostgres
import LibPQ
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ImportProfileStoreTests {
    private let store = CatalogKey("corner")!

    private func options(_ document: String) throws -> ImportOptions {
        var options = ImportOptions(format: .csv, store: store, currency: Currency("EUR")!, createsStores: true)
        options.profile = try ImportProfile(document: Array(document.utf8))
        options.profileName = "test"
        return options
    }

    private func run(
        _ catalog: PostgresCatalog,
        _ text: String,
        _ options: ImportOptions
    ) async throws -> (ImportSummary, [ImportRejection]) {
        var rejections: [ImportRejection] = []
        let summary = try await Importer(catalog).importFile(
            ImporterTests.Chunks(text: text),
            options,
            onReject: { rejections.append($0) }
        )
        return (summary, rejections)
    }

    private func shelves(_ catalog: PostgresCatalog) async throws -> [String: (title: String, parent: String?)] {
        let page = try await catalog.shelves.shelves(ShelvesRequest(store: store, limit: 200))
        return Dictionary(
            uniqueKeysWithValues: page.shelves.map { ($0.shelf.key.text, ($0.shelf.title, $0.shelf.parent?.text)) }
        )
    }

    @Test("Paths of shelves become nested shelves, and a second import finds them")
    func paths() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let options = try options(#"{"shelf_path":">","separators":{"shelf":","}}"#)
            let file = """
                sku,name,shelf
                a,A,"Food > Dairy > Cheese, Offers"
                b,B,Food > Bakery > Cheese
                c,C,Offers
                a,A,Food > Dairy

                """
            let (first, rejections) = try await run(catalog, file, options)
            #expect(rejections.isEmpty)
            #expect(first.shelvesCreated == 6)
            let found = try await shelves(catalog)
            #expect(found["cheese"]?.parent == "dairy" && found["cheese-2"]?.parent == "bakery")
            #expect(found["dairy"]?.parent == "food" && found["bakery"]?.parent == "food")
            #expect(found["food"]?.parent == nil && found["offers"]?.parent == nil)
            let product = try await catalog.products.product(store, SKU("a")!)
            #expect(Set(product.shelves.map(\.text)) == ["cheese", "dairy", "offers"])

            // A row counts once, whatever the number of its shelves.
            #expect((first.read, first.inserted, first.repeated) == (4, 4, 0))
            let (second, _) = try await run(catalog, file, options)
            #expect(second.inserted + second.updated + second.shelvesCreated == 0)
            #expect((second.read, second.unchanged) == (4, 4))
            let changed = file.replacing("b,B,", with: "b,New,") + "d,D,\"Offers, Food\"\nd,D,Food\n"
            for isDryRun in [true, false] {
                var options = options
                options.isDryRun = isDryRun
                let (third, _) = try await run(catalog, changed, options)
                #expect((third.read, third.inserted, third.updated, third.unchanged, third.repeated) == (6, 2, 1, 3, 0))
            }
        }
    }

    @Test("Attributes of the file are added to those that products have, and exports return all of them")
    func attributes() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let options = try options(#"{"attributes":{"origin":"Origin","grade":"Grade"}}"#)
            _ = try await run(catalog, "sku,name,Origin,Grade\na,A,Istria,1\nb,B,,\n", options)
            var product = try await catalog.products.product(store, SKU("a")!).product
            #expect(product.attributes == #"{"grade": "1", "origin": "Istria"}"#)
            product.attributes = #"{"vegan": true, "grade": "1", "origin": "Istria"}"#
            _ = try await catalog.products.put(product, in: store)

            let (changed, _) = try await run(catalog, "sku,name,Origin,Grade\na,A,Krk,\nb,B,,2\n", options)
            #expect(changed.updated == 2)
            #expect(
                try await catalog.products.product(store, SKU("a")!).product.attributes
                    == #"{"vegan": true, "origin": "Krk"}"#
            )
            let (again, _) = try await run(catalog, "sku,name,Origin,Grade\na,A,Krk,\nb,B,,2\n", options)
            #expect(again.unchanged == 2)
            // A file without attributes keeps them.
            let (other, _) = try await run(catalog, "sku,name\na,AA\n", try self.options("{}"))
            #expect(other.updated == 1)
            #expect(
                try await catalog.products.product(store, SKU("a")!).product.attributes
                    == #"{"vegan": true, "origin": "Krk"}"#
            )

            var exported: [UInt8] = []
            try await CatalogExport(catalog.database).run(of: store) { exported += $0 }
            let text = String(decoding: exported, as: UTF8.self)
            let (imported, rejections) = try await run(catalog, text, ImportOptions(format: .csv))
            #expect(imported.unchanged == 2 && rejections.isEmpty)
            let changedText = text.replacing("Krk", with: "Cres")
            _ = try await run(catalog, changedText, ImportOptions(format: .csv))
            #expect(
                try await catalog.products.product(store, SKU("a")!).product.attributes
                    == #"{"vegan": true, "origin": "Cres"}"#
            )
        }
    }

    @Test("A product with more attributes than fit is rejected, and keeps what it has")
    func longAttributes() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let options = try options(#"{"attributes":{"story":"Story"}}"#)
            _ = try await run(catalog, "sku,name,Story\na,A,short\nb,B,short\n", options)
            var product = try await catalog.products.product(store, SKU("a")!).product
            product.attributes = #"{"own":"\#(String(repeating: "y", count: 3000))"}"#
            _ = try await catalog.products.put(product, in: store)
            var lenient = options
            lenient.rejectedPercentLimit = ExactDecimal(100)
            let long = String(repeating: "x", count: 2000)
            let (summary, rejections) = try await run(catalog, "sku,name,Story\na,AA,\(long)\nb,BB,\(long)\n", lenient)
            #expect(summary.rejected == 1 && summary.updated == 1)
            #expect(rejections.map(\.line) == [2])
            #expect(try await catalog.products.product(store, SKU("a")!).product.name == "A")
            #expect(try await catalog.products.product(store, SKU("b")!).product.name == "BB")
        }
    }

    @Test("Records of XML on one line are different rows")
    func oneLine() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = try options("{}")
            options.format = .xml
            func file(_ stock: [String]) -> String {
                let items = zip(["a", "b", "b", "c"], stock).map {
                    "<item><sku>\($0)</sku><name>\($0)</name><shelf>S</shelf><in_stock>\($1)</in_stock></item>"
                }
                return "<items>\(items.joined())</items>"
            }
            let (first, _) = try await run(catalog, file(["yes", "yes", "yes", "yes"]), options)
            #expect((first.read, first.inserted, first.repeated) == (4, 3, 1))
            let (second, _) = try await run(catalog, file(["perhaps", "yes", "no", "no"]), options)
            #expect((second.unchanged, second.updated, second.stockKept, second.conflicts) == (1, 2, 1, 1))
            #expect(second.warnings.contains { $0.hasPrefix("lines 1 and 1: product “b”") })
            let products = try await catalog.products.products(store, after: nil, limit: 10).products
            #expect(products.map(\.sku.text) == ["a", "b", "c"])
            #expect(products.map(\.inStock) == [true, false, false])
        }
    }

    @Test(
        "All attributes of a product stay as another writer sets them, and go with a product that another writer deletes"
    )
    func concurrentWriters() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = ImportOptions(format: .ndjson, store: store, currency: Currency("EUR")!, createsStores: true)
            let row = #"{"sku":"a","name":"A","attributes":{"own":"old"}}"#
            _ = try await run(catalog, row, options)
            let file = #"{"sku":"a","name":"New"}"# + "\n" + #"{"sku":"c","name":"C","attributes":{"own":"c"}}"#
            try await change(catalog, #"UPDATE product SET attributes = '{"own":"new"}' WHERE store_id = 1"#) {
                _ = try await run(catalog, file, options)
            }
            var product = try await catalog.products.product(store, SKU("a")!).product
            #expect(product.name == "New" && product.attributes == #"{"own": "new"}"#)
            options = try self.options(#"{"attributes":{"origin":"Origin"}}"#)
            try await change(catalog, "DELETE FROM product WHERE store_id = 1 AND sku = 'a'") {
                _ = try await run(catalog, "sku,name,Origin\na,A,Istria\n", options)
            }
            product = try await catalog.products.product(store, SKU("a")!).product
            #expect(product.attributes == #"{"origin": "Istria"}"#)
        }
    }

    /// Runs an import that waits for a transaction with a statement.
    private func change(
        _ catalog: PostgresCatalog,
        _ statement: SQL,
        while run: () async throws -> Void
    ) async throws {
        let blocker = try await PostgresConnection.connect(catalog.database.writes.configuration)
        try await blocker.perform {
            try $0.begin()
            _ = try $0.query("SELECT 1 FROM store_state WHERE store_id = 1 FOR UPDATE") { $0.count }
        }
        async let change: Void = {
            try await catalog.untilLockIsAwaited()
            try await blocker.perform {
                try $0.execute(PostgresStatement(statement))
                try $0.commit()
            }
        }()
        try await run()
        try await change
        await blocker.close()
    }

    @Test("Values that a file does not change stay as another writer sets them while an import waits")
    func concurrentChanges() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let options = try options(#"{"attributes":{"origin":"Origin"}}"#)
            _ = try await run(catalog, "sku,name,Origin,in_stock\na,A,Istria,yes\n", options)
            let statement: SQL =
                #"UPDATE product SET attributes = '{"origin":"Istria","own":"new"}', in_stock = false WHERE store_id = 1"#
            try await change(catalog, statement) {
                // The last row counts, also for the first one.
                let file = "sku,name,Origin,in_stock,shelf\na,A,Dalmatia,yes,S\na,A,Dalmatia,perhaps,T\n"
                _ = try await run(catalog, file, options)
            }
            let product = try await catalog.products.product(store, SKU("a")!).product
            #expect(product.attributes == #"{"own": "new", "origin": "Dalmatia"}"#)
            #expect(!product.inStock)
        }
    }

    @Test("A dry run of a file with too many rejected rows shows its counts and first products, and why it is refused")
    func refusedDryRun() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = try options("{}")
            options.rejectedPercentLimit = ExactDecimal(5)
            let file = "sku,name,price\na,A,1.00\nb,B,cheap\n"
            await #expect(throws: CatalogError.self) { try await run(catalog, file, options) }
            options.isDryRun = true
            let (summary, rejections) = try await run(catalog, file, options)
            #expect(summary.read == 2 && summary.rejected == 1 && summary.inserted == 1 && rejections.count == 1)
            #expect(summary.preview.map(\.product.name) == ["A"])
            #expect("\(try #require(summary.refusal))".contains("1 of 2 rows were rejected"))
            options.prunes = true
            options.rejectedPercentLimit = ExactDecimal(100)
            let (pruned, _) = try await run(catalog, file, options)
            #expect("\(try #require(pruned.refusal))".contains("pruning requires"))
        }
    }

    @Test("Rows that are not products, unknown prices and computed sizes are counted")
    func counts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let options = try options(#"{"rows":[{"column":"Status","is":["active"]}]}"#)
            let (summary, _) = try await run(
                catalog,
                "sku,name,Status,price,size,unit_price\na,A,draft,1.00,,\nb,B,active,,,\nc,C,active,1.00,,2.00/kg\n",
                options
            )
            #expect(summary.read == 3 && summary.skipped == 1 && summary.inserted == 2)
            #expect(summary.pricesUnknown == 1 && summary.sizesComputed == 1)
            #expect(summary.warnings.contains("skipped 1 row that the profile excludes: Status “draft” (1)"))
        }
    }

    @Test("Profiles are saved, listed, replaced and deleted, and recorded in the log of who did it")
    func saves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let name = CatalogKey("supplier")!
            let (first, second) = (
                try options(#"{"columns":{"sku":"Code"}}"#).profile, try options(#"{"title":"B"}"#).profile
            )
            try await ChangeOrigin(source: .api, actor: "merchandiser").run {
                #expect(try await catalog.importProfiles.save(first, named: name))
                #expect(try await catalog.importProfiles.profile(named: "supplier") == first)
                #expect(try await !catalog.importProfiles.save(second, named: name))
                #expect(try await catalog.importProfiles.importProfiles().map(\.name) == [name])
                #expect(try await catalog.importProfiles.profile(named: "supplier") == second)
                try await catalog.importProfiles.remove(importProfile: name)
            }
            await #expect(throws: CatalogError.self) { try await catalog.importProfiles.remove(importProfile: name) }
            await #expect(throws: CatalogError.self) { try await catalog.importProfiles.profile(named: "supplier") }
            await #expect(throws: CatalogError.self) {
                try await catalog.importProfiles.save(first, named: CatalogKey("shopify")!)
            }
            let log = try await catalog.audit.audit(AuditRequest(.user(UserID("merchandiser")!)))
            #expect(
                log.entries.map(\.action).sorted()
                    == ["import-profile.delete", "import-profile.put", "import-profile.put"]
            )
        }
    }

    @Test("A profile needs a known time zone, whose clock decides about promotions")
    func timeZones() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let unknown = try options(#"{"time_zone":"Europe/Atlantis"}"#).profile
            let error = await #expect(throws: CatalogError.self) {
                try await catalog.importProfiles.save(unknown, named: CatalogKey("x")!)
            }
            #expect("\(error!)".contains("time_zone"))
            let local = try #require(try await catalog.importProfiles.localTime(in: "Pacific/Kiritimati"))
            let hours = (local.microseconds - Timestamp.now().microseconds + 1_800_000_000) / 3_600_000_000
            #expect(hours == 14)
        }
    }
}
