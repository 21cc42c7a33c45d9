import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import LibPQ
import Schema
import TestSupport
import Testing

/// Texts in two Unicode normal forms are one text, wherever they come from.
@Suite(.timeLimit(.minutes(15))) struct ComposedTextTests {
    private static let store = CatalogKey("s")!
    private static let (shelf, other) = (CatalogKey("x")!, CatalogKey("y")!)
    /// The same text, with one letter and with a letter and an accent.
    private static let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
    /// A text of 180 bytes, whose composed form has twice as many.
    private static let growing = String(repeating: "\u{958}", count: 60)

    /// Fills a shelf with two products whose texts have different forms, by a request and by an import.
    private func withProducts(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            for shelf in [Self.shelf, Self.other] {
                _ = try await catalog.shelves.put(Shelf(key: shelf, title: shelf.text), in: Self.store)
            }
            let text = Self.decomposed
            let json = try JSONReader.parse(Array(#"{"name":"\#(text)","brand":"\#(text)","tags":["\#(text)"]}"#.utf8))
            let product = try Product(sku: SKU("a")!, currency: Currency("EUR")!, body: json)
            _ = try await catalog.products.put(product, in: Self.store)
            _ = try await catalog.products.place(product.sku, on: Self.shelf, in: Self.store)
            let rows = [Self.composed, Self.decomposed].enumerated().map { "s,x,b\($0),\($1),\($1),\($1)\n" }
            let file = "store,shelf,sku,name,brand,tags\n\(rows.joined())s,y,c,Plain,Plain,plain\n"
            _ = try await Importer(catalog).importFile(
                ImporterTests.Chunks(text: file),
                ImportOptions(format: .csv, createsStores: true)
            )
            try await body(catalog)
        }
    }

    /// Checks that the shelf has one text of each kind, and that filters in both forms find all products.
    private func expectOneText(_ catalog: PostgresCatalog) async throws {
        for text in [Self.composed, Self.decomposed] {
            for key in [FilterKey.brand, .tag] {
                let filter = try Filter(query: "\(key.name)=\(PercentEncoding.encode(text))")
                let order = try await catalog.pages.order(Self.store, Self.shelf, nil, filter: filter)
                #expect(order.ids.count == 3, "\(key) \(Array(text.utf8))")
            }
        }
        #expect(
            try await texts(catalog)
                == Set([Self.composed, "{\(Self.composed)}", "Plain", "{plain}"].map { Array($0.utf8) })
        )
    }

    /// The texts of products, by their bytes.
    private func texts(_ catalog: PostgresCatalog) async throws -> Set<[UInt8]> {
        let statement: PostgresStatement = """
            SELECT name COLLATE "C" FROM product UNION SELECT brand COLLATE "C" FROM product
            UNION SELECT tags::text COLLATE "C" FROM product
            """
        return try await catalog.database.writes.perform {
            try $0.query(statement) { Set(try $0.map { Array(try $0.text(0).utf8) }) }
        }
    }

    private func versions(_ catalog: PostgresCatalog) async throws -> [Int64] {
        var versions: [Int64] = []
        for shelf in [Self.shelf, Self.other] {
            versions.append(try await catalog.shelves.shelf(Self.store, shelf).state.version)
        }
        return versions
    }

    @Test("Texts of requests, imports and filters are stored and compared in Unicode's composed form")
    func writesCompose() async throws {
        try await withProducts { try await expectOneText($0) }
    }

    @Test("A text whose composed form exceeds the limit is rejected")
    func longComposedTextsAreRejected() async throws {
        let json = try JSONReader.parse(Array(#"{"name":"A","brand":"\#(Self.growing)"}"#.utf8))
        #expect(throws: CatalogError.self) { try Product(sku: SKU("a")!, currency: Currency("EUR")!, body: json) }
        let tag = String(repeating: "\u{958}", count: 20)
        let tags = try JSONReader.parse(Array(#"{"name":"A","tags":["\#(tag)"]}"#.utf8))
        #expect(throws: CatalogError.self) { try Product(sku: SKU("a")!, currency: Currency("EUR")!, body: tags) }
        try await withProducts { catalog in
            let file = "store,shelf,sku,name,brand\ns,x,d,D,\(Self.growing)\ns,x,e,E,E\n"
            let summary = try await Importer(catalog).importFile(
                ImporterTests.Chunks(text: file),
                ImportOptions(format: .csv, createsStores: true)
            )
            #expect(summary.rejected == 1)
        }
    }

    @Test("The migration composes stored texts and their copies, and raises the versions of their shelves")
    func migrationComposes() async throws {
        try await withProducts { catalog in
            let owner = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
            let script = """
                UPDATE product SET name = normalize(name, NFD), brand = normalize(brand, NFD), tags = ARRAY[normalize(tags[1], NFD)];
                UPDATE placement SET name = normalize(name, NFD), brand = normalize(brand, NFD), tags = ARRAY[normalize(tags[1], NFD)];
                UPDATE placement_popularity SET name = normalize(name, NFD);
                UPDATE shelf SET title = normalize('\(Self.decomposed)', NFD) WHERE key = 'x';
                INSERT INTO product (store_id, sku, name, brand, name_key, brand_key, created_at, modified_at)
                SELECT store_id, 'long', 'Long', '\(Self.growing)', '', '', now(), now() FROM store
                """
            let before = try await versions(catalog)
            let pool = PostgresPool(catalog.database.writes.configuration.inOwnerRole, options: .init(size: 2))
            // The last version whose placements have texts.
            _ = try await Migrator(pool).migrate(to: 29)
            try await owner.perform { try $0.run(script: script) }
            let migration = Schema.migrations[20]
            #expect(migration.name == "composed_texts")
            for _ in 0..<2 {
                for part in migration.parts() { try await owner.perform { try $0.run(script: part.sql) } }
            }
            _ = try await Migrator(pool).migrate()
            pool.shutDown()
            await owner.close()
            #expect(try await texts(catalog).contains(Array(Self.growing.utf8)))
            try await catalog.products.remove(product: SKU("long")!, from: Self.store)
            try await expectOneText(catalog)
            let after = try await versions(catalog)
            #expect(after[0] > before[0])
            #expect(after[1] == before[1])
            #expect(
                Array(try await catalog.shelves.shelf(Self.store, Self.shelf).state.shelf.title.utf8)
                    == Array(Self.composed.utf8)
            )
        }
    }
}
