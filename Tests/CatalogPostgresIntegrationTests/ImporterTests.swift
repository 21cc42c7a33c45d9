import Catalog
import CatalogJSON
import CatalogPostgres
import LibPQ
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ImporterTests {
    struct Chunks: AsyncSequence, Sendable {
        let text: String
        var pieceSize = 7
        struct Iterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>
            let size: Int
            mutating func next() async -> [UInt8]? {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(size) }
                return Array(rest.prefix(size))
            }
        }
        func makeAsyncIterator() -> Iterator { Iterator(rest: Array(text.utf8)[...], size: pieceSize) }
    }

    private func run(
        _ catalog: PostgresCatalog,
        _ text: String,
        _ options: ImportOptions = ImportOptions(format: .csv, createsStores: true)
    ) async throws -> (ImportSummary, [ImportRejection]) {
        var rejections: [ImportRejection] = []
        let summary = try await Importer(catalog).importFile(
            Chunks(text: text),
            options,
            onReject: { rejections.append($0) }
        )
        return (summary, rejections)
    }

    private let file = #"""
        store,shelf,sku,name,brand,price,promo_price,currency,size,unit,pack_count,popularity,in_stock,tags,position
        corner,Dairy & Eggs,a,"Milk, ""whole""",Ärla,1.19,,EUR,1,l,1,5,true,organic|local,2
        corner,Dairy & Eggs,b,Butter,,2.4990,1.9990,EUR,250,g,1,,false,,1/3
        corner,Čokolade,c,"Two
        lines",X,,0.99,EUR,6 x 100 g,,,,,,
        kiosk,Dairy & Eggs,a,Mjölk,,14.90,,SEK,1,l,,,,,
        """# + "\r\n"

    @Test("Importing the same file again changes nothing")
    func importIsIdempotent() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (first, rejections) = try await run(catalog, "\u{FEFF}" + file)
            #expect(rejections.isEmpty)
            #expect(first.read == 4)
            #expect(first.inserted == 4)
            #expect(first.storesCreated == 2)
            #expect(first.shelvesCreated == 3)
            #expect(first.pricesRounded == 1)
            let corner = CatalogKey("corner")!
            let milk = try await catalog.products.product(corner, SKU("a")!)
            #expect(milk.product.name == "Milk, \"whole\"")
            #expect(milk.product.tags == ["organic", "local"])
            #expect(milk.shelves.map(\.text) == ["dairy-eggs"])
            let butter = try await catalog.products.product(corner, SKU("b")!).product
            #expect(butter.priceMinor == 200)
            #expect(butter.regularPriceMinor == 250)
            #expect(!butter.inStock)
            #expect(butter.brand == nil)
            let chocolate = try await catalog.products.product(corner, SKU("c")!)
            #expect(chocolate.product.priceMinor == 99)
            #expect(chocolate.product.size?.packs == 6)
            #expect(chocolate.shelves.map(\.text) == ["cokolade"])
            #expect(try await catalog.pages.order(corner, CatalogKey("dairy-eggs")!, .position).ids == ["b", "a"])
            let before = try await catalog.shelves.shelf(corner, CatalogKey("dairy-eggs")!).state
            let (second, _) = try await run(catalog, file)
            #expect(second.unchanged == 4)
            #expect(second.inserted == 0)
            #expect(second.updated == 0)
            #expect(try await catalog.shelves.shelf(corner, CatalogKey("dairy-eggs")!).state == before)
        }
    }

    @Test("A column that the file lacks stays unchanged")
    func missingColumnsStayUnchanged() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, file)
            let (summary, _) = try await run(catalog, "store,sku,name,price\ncorner,a,Milk,1.29\n")
            #expect(summary.updated == 1)
            let milk = try await catalog.products.product(CatalogKey("corner")!, SKU("a")!)
            #expect(milk.product.priceMinor == 129)
            #expect(milk.product.brand == "Ärla")
            #expect(milk.product.size != nil)
            #expect(milk.shelves.count == 1)
            let page = try await catalog.pages.page(
                PageRequest(
                    store: CatalogKey("corner")!,
                    shelf: CatalogKey("dairy-eggs")!,
                    sort: Sort(.price, .ascending)
                )
            )
            #expect(page.products.map(\.priceMinor) == [129, 200])
        }
    }

    @Test("Invalid rows are reported, and valid ones imported")
    func reportsInvalidRows() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let text = """
                store,shelf,sku,name,price,currency,size,unit
                corner,s,ok,Fine,1.00,EUR,1,kg
                corner,s,,No sku,1.00,EUR,,
                corner,s,x1,,1.00,EUR,,
                corner,s,x2,Comma,"1,99",EUR,,
                corner,s,x3,Huge,10000000000.00,EUR,,
                corner,s,x4,Negative,1.00,EUR,-5,g
                corner,s,x5,Zero,1.00,EUR,0,g
                corner,s,x6,Foreign,1.00,USD,,
                corner,s,x7,Short
                corner,s,a/b,Slash,1.00,EUR,,
                Ünknown,s,x8,Store,1.00,EUR,,
                corner,s,'; DROP TABLE product; --,Bobby,1.00,EUR,,
                corner,s,"a ""b"" 🍎",Emoji,1.00,EUR,1,smoot
                """
            let (summary, rejections) = try await run(catalog, text)
            #expect(summary.read == 13)
            #expect(summary.inserted == 5)
            #expect(summary.rejected == 8)
            #expect(summary.unknownSizes.mostFrequent.contains { $0.text == "1 smoot" })
            #expect(rejections.map(\.line) == [3, 4, 6, 7, 9, 10, 11, 12])
            #expect(
                rejections.map { $0.column ?? "row" } == [
                    "sku", "name", "price", "size", "currency", "row", "sku", "store",
                ]
            )
            #expect(rejections.allSatisfy { !$0.reason.isEmpty })
        }
    }

    @Test("One invalid row stops an import with on_error=abort")
    func abortsOnInvalidRow() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = ImportOptions(format: .csv, createsStores: true)
            options.onError = .abort
            await #expect(throws: CatalogError.self) {
                try await run(catalog, file + "corner,s,,Nameless,,,,,,,,,,,\n", options)
            }
            #expect(try await catalog.shelves.stores().isEmpty)
            await #expect(throws: CatalogError.self) { try await run(catalog, "store,sku,name\ncorner,,\n") }
            await #expect(throws: CatalogError.self) { try await run(catalog, "") }
            await #expect(throws: CatalogError.self) { try await run(catalog, "sku,name\na,b\n") }
            #expect(try await catalog.shelves.stores().isEmpty)
            #expect(
                try await catalog.database.writes.perform { try $0.query("SELECT 1 FROM import_row") { $0.count } } == 0
            )
        }
    }

    @Test("A dry run counts and changes nothing")
    func dryRunChangesNothing() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = ImportOptions(format: .csv, createsStores: true)
            options.isDryRun = true
            #expect(try await run(catalog, file, options).0.inserted == 4)
            #expect(try await catalog.shelves.stores().isEmpty)
        }
    }

    @Test("The last of several rows for one product wins")
    func lastRepeatedRowWins() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let text = "store,shelf,sku,name,price\ns,one,a,First,1.00\ns,two,a,Second,2.00\ns,one,a,Third,3.00\n"
            let (summary, _) = try await run(catalog, text)
            #expect(summary.repeated == 1)
            #expect(summary.read == 3)
            let placed = try await catalog.products.product(CatalogKey("s")!, SKU("a")!)
            #expect(placed.product.name == "Third")
            #expect(placed.shelves.map(\.text) == ["one", "two"])
            #expect(try await run(catalog, text).0.updated == 0)
        }
    }

    @Test("Pruning removes products missing from the file; returning ones get their old position")
    func prunesMissingProducts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, file)
            var options = ImportOptions(format: .csv, createsStores: true)
            options.prunes = true
            let (summary, _) = try await run(catalog, "store,shelf,sku,name\ncorner,Dairy & Eggs,a,Milk\n", options)
            #expect(summary.removedPlacements == 1)
            #expect(summary.removedProducts == 1)
            let corner = CatalogKey("corner")!
            #expect(try await catalog.products.product(corner, SKU("c")!).shelves.map(\.text) == ["cokolade"])
            #expect(try await catalog.pages.order(corner, CatalogKey("dairy-eggs")!, .position).ids == ["a"])
            #expect(try await catalog.shelves.shelf(corner, CatalogKey("dairy-eggs")!).state.productCount == 1)
            #expect(try await catalog.products.product(CatalogKey("kiosk")!, SKU("a")!).product.name == "Mjölk")
            _ = try await run(catalog, file)
            #expect(try await catalog.pages.order(corner, CatalogKey("dairy-eggs")!, .position).ids == ["b", "a"])
        }
    }

    @Test("NDJSON files are imported")
    func importsNDJSON() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let text = """
                {"store":"s","shelf":"x","sku":"a","name":"A","price":0.10,"tags":["t","u"],"in_stock":false}
                {"store":"s","shelf":"x","sku":"b","name":"B\\u0000"}
                {"store":"s","shelf":"x","sku":"c","name":"C","unknown":1}
                not json

                {"store":"s","shelf":"x","sku":"d","name":"D","price":"0.20"}
                """
            let (summary, rejections) = try await run(
                catalog,
                text,
                ImportOptions(format: .ndjson, createsStores: true)
            )
            #expect(summary.inserted == 2)
            #expect(rejections.map(\.line) == [2, 3, 4])
            let a = try await catalog.products.product(CatalogKey("s")!, SKU("a")!).product
            #expect(a.priceMinor == 10)
            #expect(a.tags == ["t", "u"])
            #expect(!a.inStock)
        }
    }

    @Test("Two concurrent imports both succeed")
    func concurrentImportsSucceed() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let header = "store,shelf,sku,name,price\n"
            let files = (0..<4).map { file in
                header
                    + (0..<300).map {
                        "s,shelf \(($0 + file * 7) % 13),p\(($0 + file * 100)),Name \($0),1.\(10 + file)\n"
                    }.joined()
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for text in files { group.addTask { _ = try await run(catalog, text) } }
                try await group.waitForAll()
            }
            let store = CatalogKey("s")!
            let shelves = try await catalog.shelves.shelves(ShelvesRequest(store: store)).shelves
            #expect(shelves.count == 13)
            let placed = try await catalog.database.writes.perform {
                try $0.query("SELECT count(*), count(DISTINCT sku) FROM placement") {
                    try $0.first { (try $0.int(0), try $0.int(1)) }!
                }
            }
            #expect(placed.1 == 600)
            #expect(shelves.reduce(0) { $0 + $1.productCount } == placed.0)
        }
    }

    @Test("The same file imported twice at the same time counts once")
    func concurrentRepeatsImportOnce()
        async throws
    {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, file)
            let (corner, dairy) = (CatalogKey("corner")!, CatalogKey("dairy-eggs")!)
            let before = try await catalog.shelves.shelf(corner, dairy).state
            let changed = file.replacing("1.19", with: "1.29").replacing("Butter", with: "Salted butter")
            let summaries = try await catalog.database.writes.withConnection { blocker in
                // Both compare before either may write. On Citus, one import of a worker's stores waits for the connection of the other one.
                try await blocker.perform {
                    try $0.run(script: "BEGIN")
                    try $0.run(script: "SELECT 1 FROM store_state WHERE store_id = 1 FOR UPDATE")
                }
                async let first = run(catalog, changed).0
                async let second = run(catalog, changed).0
                try await catalog.untilLockIsAwaited(by: CitusServers.prefix == nil ? 2 : 1)
                try await blocker.perform { try $0.run(script: "COMMIT") }
                return [try await first, try await second]
            }
            #expect(summaries.map(\.updated).sorted() == [0, 2])
            #expect(summaries.map(\.unchanged).sorted() == [2, 4])
            let after = try await catalog.shelves.shelf(corner, dairy).state
            #expect(after.version > before.version)
            #expect(after.orderVersion == before.orderVersion)
        }
    }

    @Test("An exported file changes nothing, and recreates the catalog in an empty database")
    func exportRoundTrips() async throws {
        let more = #"""
            corner,Dairy & Eggs,~,"Cheese, ""about""",,,,EUR,~250,g,2,0.5,,a|b,7,4006381333931,https://img.example/c.png,cheese / aged
            corner,,lost,Nowhere,,3.10,,EUR,,,,,,,,,,
            corner,x-1,drained,Tuna,,1.69,,EUR,~145,g,1,,,,1/7,,,
            """#
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let header =
                "store,shelf,sku,name,brand,price,promo_price,currency,size,unit,pack_count,popularity,in_stock,tags,position,barcode,image_url,group\n"
            _ = try await run(catalog, file)
            #expect(try await run(catalog, header + more).0.inserted == 3)
            var exported: [UInt8] = []
            try await CatalogExport(catalog.database).run(of: nil) { exported += $0 }
            let text = String(decoding: exported, as: UTF8.self)
            let (again, rejections) = try await run(catalog, text)
            #expect(rejections.isEmpty, "\(text)")
            #expect(again.unchanged == 7, "\(text)")
            #expect(again.warnings.isEmpty, "\(text)")
            try await withCatalog { (copy: PostgresCatalog) async throws in
                #expect(try await run(copy, text).0.inserted == 7)
                var copied: [UInt8] = []
                try await CatalogExport(copy.database).run(of: nil) { copied += $0 }
                #expect(String(decoding: copied, as: UTF8.self) == text)
                let dairy = try await copy.shelves.shelf(CatalogKey("corner")!, CatalogKey("dairy-eggs")!).state
                #expect(dairy.shelf.title == "Dairy & Eggs")
            }
        }
    }

    @Test("A product with every field survives an export and an import")
    func completeProductRoundTrips() async throws {
        let (shop, shelf) = (CatalogKey("shop")!, CatalogKey("cans")!)
        // Files do not carry attributes.
        var sent = Product.complete
        sent.attributes = "{}"
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: shop, title: "shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "cans"), in: shop)
            _ = try await catalog.products.put(sent, in: shop)
            _ = try await catalog.products.place(sent.sku, on: shelf, in: shop)
            var exported: [UInt8] = []
            try await CatalogExport(catalog.database).run(of: nil) { exported += $0 }
            let text = String(decoding: exported, as: UTF8.self)
            try await withCatalog { (copy: PostgresCatalog) async throws in
                #expect(try await run(copy, text).1.isEmpty, "\(text)")
                let read = try await copy.products.product(shop, sent.sku).product
                #expect(read == sent.withServerFields(of: read), "\(text)")
            }
        }
    }

    @Test("An import with more than max_rejects rejected rows changes nothing; at the limit it applies the valid rows")
    func tooManyRejectsChangeNothing() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let text = "store,sku,name\n" + (1...20).map { "s,p\($0),\($0 == 7 ? "" : "P")\n" }.joined()
            var options = ImportOptions(format: .csv, createsStores: true)
            for percent in ["4.999", "0"] {
                options.rejectedPercentLimit = try #require(ImportOptions.percent(percent))
                let error = await #expect(throws: CatalogError.self) { try await run(catalog, text, options) }
                #expect("\(error!)".contains("1 of 20 rows were rejected, more than \(percent) %"))
                await #expect(throws: CatalogError.self) { try await catalog.shelves.store(CatalogKey("s")!) }
            }
            options.rejectedPercentLimit = try #require(ImportOptions.percent("5%"))
            #expect(try await run(catalog, text, options).0.inserted == 19)
            for text in ["101", "-1", "5 %", "", "%", "1e1", "0.0000000001"] {
                #expect(ImportOptions.percent(text) == nil)
            }
        }
    }

    @Test("An availability that is not understood keeps the stored one, and rejects a new product")
    func keepsStock() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let header = "store,shelf,sku,name,price,in_stock\n"
            _ = try await run(catalog, header + "s,Oil,a,A,4.00,false\ns,Oil,b,B,5.00,false\ns,Oil,c,C,6.00,true\n")
            let text = """
                s,Oil,a,A,4.00,wobbly
                s,Oil,b,B,5.00,outofstock
                s,Oil,c,C,6.00,wobbly
                s,Oil,d,D,3.00,wobbly
                s,Oil,e,E,3.50,-2
                s,Oil,f,F,3.60,N
                s,Oil,g,G,3.70,0.0000
                s,Oil,h,H,3.80,12
                s,Oil,h,H,3.80,wobbly
                """
            let (summary, rejections) = try await run(catalog, header + text)
            #expect(summary.stockKept == 2 && summary.rejected == 2)
            #expect(rejections.map(\.line) == [5, 10])
            #expect(rejections.map(\.value) == ["wobbly", "wobbly"])
            #expect(summary.warnings.contains { $0.contains("“wobbly”") })
            for (sku, expected) in [
                ("a", false), ("b", false), ("c", true), ("e", false), ("f", false), ("g", false), ("h", true),
            ] {
                let stored = try await catalog.products.product(CatalogKey("s")!, SKU(sku)!).product
                #expect(stored.inStock == expected, "\(sku)")
            }
            let failure = await #expect(throws: CatalogError.self) {
                try await run(catalog, header + "s,Oil,x,X,1.00,wobbly\n")
            }
            #expect("\(failure!)".contains("the only row was rejected"))
        }
    }

    @Test("A product with different values in one file is reported with both lines and values")
    func reportsConflicts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let text = "store,shelf,sku,name,price\ns,x,a,Milk,1.29\ns,y,a,Milk,1.49\ns,x,b,Tea,2.00\ns,y,b,Tea,2.00\n"
            let (summary, _) = try await run(catalog, text)
            #expect(summary.conflicts == 1)
            #expect(
                summary.warnings == [
                    "store “s” is new; its currency is EUR, set another with currency (command line: --currency)",
                    "lines 2 and 3: product “a” (Milk) of “s” has different values: price_minor 129 and 149; the last row counts",
                ]
            )
            #expect(try await catalog.products.product(CatalogKey("s")!, SKU("a")!).product.priceMinor == 149)
        }
    }

    @Test("A new price removes the crossed-out price that does not exceed it")
    func newPricesRemoveRegularPrices() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = CatalogKey("s")!
            _ = try await run(catalog, "store,sku,name,price,promo_price\ns,a,A,2.00,1.50\ns,b,B,2.00,1.50\n")
            let changes = [PriceChange(sku: SKU("a")!, priceMinor: 200), PriceChange(sku: SKU("b")!, priceMinor: 199)]
            _ = try await catalog.prices.setPrices(changes, in: store, pricedIn: Currency("EUR")!)
            #expect(try await catalog.products.product(store, SKU("a")!).product.regularPriceMinor == nil)
            #expect(try await catalog.products.product(store, SKU("b")!).product.regularPriceMinor == 200)
        }
    }

    @Test("Unusual features of a file produce warnings")
    func warnsAboutUnusualFiles() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = ImportOptions(format: .csv, createsStores: true)
            options.store = CatalogKey("s")
            options.keepsRejectedRows = true
            let text = "store,sku,name,Prise,in_stock\ns,a,\"Two\r\n lines\",1,ja\n,b,B,1,nein\ns,c,C\u{1B}[31m,1,\n"
            let (summary, rejections) = try await run(catalog, text, options)
            try #require(summary.warnings.count == 2)
            #expect(summary.warnings[0].contains("Prise"))
            #expect(rejections.map(\.column) == ["name"])
            #expect(rejections[0].row == "s,c,C\u{1B}[31m,1,")
            #expect(try await catalog.products.product(CatalogKey("s")!, SKU("a")!).product.name == "Two lines")
            #expect(try await catalog.products.product(CatalogKey("s")!, SKU("b")!).product.name == "B")
            let twice = await #expect(throws: CatalogError.self) {
                try await run(catalog, "store,sku,name,name\ns,a,A,B\n")
            }
            #expect("\(twice!)".contains("2 times"))
            let long = await #expect(throws: CatalogError.self) {
                _ = try await Importer(catalog).importFile(
                    Chunks(text: String(repeating: "x", count: 3 << 20), pieceSize: 1 << 16),
                    ImportOptions(format: .csv, createsStores: true)
                )
            }
            #expect("\(long!)".contains("header on line 1"))
        }
    }

    @Test("Pruning keeps products of rejected rows and of missing columns")
    func pruningKeepsRejectedRows() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, file)
            var options = ImportOptions(format: .csv, createsStores: true)
            options.prunes = true
            await #expect(throws: CatalogError.self) {
                try await run(
                    catalog,
                    "store,shelf,sku,name,price\ncorner,Dairy & Eggs,a,Milk,1,19\ncorner,x,b,B,1\n",
                    options
                )
            }
            let (summary, _) = try await run(
                catalog,
                "store,sku,name,price\ncorner,a,Milk,9.00\ncorner,b,Butter,9.00\n",
                options
            )
            #expect(summary.removedPlacements == 0)
            #expect(summary.removedProducts == 0)
            #expect(
                try await catalog.pages.order(CatalogKey("corner")!, CatalogKey("dairy-eggs")!, .position).ids == [
                    "b", "a",
                ]
            )
        }
    }

    @Test("Line numbers are correct in files with carriage returns")
    func countsLinesWithCarriageReturns()
        async throws
    {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (_, rejections) = try await run(catalog, "store,sku,name\r\ns,a,A\r\ns,,B\r\ns,c,C\r\ns,d,\"D")
            #expect(rejections.map(\.line) == [3, 5])
        }
    }

    @Test("Many titles with one slug, and huge rows, are imported")
    func importsManyTitlesAndHugeRows()
        async throws
    {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let titles = (0..<1500).map { String(UnicodeScalar(0x4E00 + $0)!) }
            let rows = titles.enumerated().map { "s,\($0.element),p\($0.offset),N" }
            let commas = String(repeating: ",", count: 2_000_000)
            let text = "store,shelf,sku,name\n" + rows.joined(separator: "\n") + "\n" + commas + "\n"
            var options = ImportOptions(format: .csv, createsStores: true)
            options.newShelfLimit = 1500
            let (summary, rejections) = try await run(catalog, text, options)
            #expect(summary.shelvesCreated == 1500)
            #expect(rejections.count == 1)
        }
    }

    @Test("An import with too many new shelves changes nothing and explains how to allow them")
    func tooManyNewShelvesAreRefused() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await run(catalog, "store,shelf,sku,name\ns,Dairy,a,A\n")
            var options = ImportOptions(format: .csv, createsStores: true)
            options.newShelfLimit = 2
            let text = "store,shelf,sku,name\ns,Dairy,a,A2\ns,One,b,B\ns,Two,c,C\ns,One,d,D\ns,Three,e,E\n"
            let error = await #expect(throws: CatalogError.self) { try await run(catalog, text, options) }
            guard case .unprocessable(let field, let detail)? = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(field == "shelf")
            #expect(detail.hasPrefix("line 6: "))
            #expect(detail.contains("max_new_shelves"))
            let products = try await catalog.products.products(CatalogKey("s")!, after: nil, limit: 100).products
            #expect(products.map(\.name) == ["A"])
            options.newShelfLimit = 3
            #expect(try await run(catalog, text, options).0.shelvesCreated == 3)
            options.newShelfLimit = 0
            let long = "store,shelf,sku,name\ns,\(String(repeating: "x", count: 65)),f,F\n"
            let cut = await #expect(throws: CatalogError.self) { try await run(catalog, long, options) }
            guard case .unprocessable("shelf", let reason)? = cut else {
                Issue.record("\(cut as Any)")
                return
            }
            #expect(reason.contains("more than 0 new shelves, the last one “\(String(repeating: "x", count: 64))”. "))
        }
    }

    @Test("An error of the file names the column as the header does, also if it is not the first name of the profile")
    func errorsNameColumnsOfTheFile() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var options = ImportOptions(format: .csv, createsStores: true)
            options.profile.mapping.columns[.shelf] = ColumnSource([["Abteilung"], ["section"]])
            options.newShelfLimit = 1
            let text = "store,Section,sku,name\ns,One,a,A\ns,Two,b,B\n"
            let error = await #expect(throws: CatalogError.self) { try await run(catalog, text, options) }
            guard case .unprocessable(let field, _)? = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(field == "Section")
        }
    }

    @Test("A placement created during a product update has the new values")
    func concurrentPlacementHasNewValues() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let store = CatalogKey("s")!
            _ = try await run(
                catalog,
                "store,shelf,sku,name,price\n" + (0..<8).map { "s,shelf \($0),x\($0),X,1.00\n" }.joined()
            )
            for round in 0..<25 {
                let sku = SKU("p\(round)")!
                _ = try await catalog.products.put(Product(sku: sku, name: "P", priceMinor: 1), in: store)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for shelf in 0..<4 {
                        group.addTask {
                            _ = try await catalog.products.place(sku, on: CatalogKey("shelf-\(shelf)")!, in: store)
                        }
                    }
                    for price in 2...4 {
                        group.addTask {
                            _ = try await catalog.products.put(
                                Product(sku: sku, name: "P", priceMinor: Int64(price)),
                                in: store
                            )
                        }
                    }
                    group.addTask { _ = try await run(catalog, "store,sku,name,price\ns,\(sku),P,0.09\n") }
                    try await group.waitForAll()
                }
            }
            for shelf in 0..<4 {
                let request = PageRequest(store: store, shelf: CatalogKey("shelf-\(shelf)")!, limit: 100)
                for product in try await catalog.pages.page(request).products {
                    #expect(try await catalog.products.product(store, product.sku).product == product)
                }
            }
        }
    }
}
