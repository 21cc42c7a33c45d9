import Catalog
import CatalogPostgres
import Collation
import LibPQ
import Schema
import TestSupport
import Testing

/// Sort keys of names and brands: all writers store them, and they order texts as the language of the store does.
@Suite(.timeLimit(.minutes(15))) struct SortKeyTests {
    private static let store = CatalogKey("s")!
    private static let shelves = ["x", "y"].map { CatalogKey($0)! }
    /// Names that a comparison of bytes would sort in another way.
    private static let names = [
        "Ärla", "Arla", "arla", "Zott", "žuti", "10 dl", "2 dl", "0.5 l", "0.33 l", "Éclair", "eclair", "e-clair",
        "Ölen", "Oxe", "\u{1F95B} milk",
    ]

    private static func product(_ sku: String, _ name: String, _ brand: String?) -> Product {
        var product = Product(sku: SKU(sku)!, name: name, priceMinor: 100)
        product.brand = brand
        return product
    }

    /// Fills two shelves by requests and by an import.
    private func withProducts(_ body: (PostgresCatalog) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "S", currency: Currency("EUR")!))
            for shelf in Self.shelves {
                _ = try await catalog.shelves.put(Shelf(key: shelf, title: shelf.text), in: Self.store)
            }
            for (number, name) in Self.names.enumerated() {
                let product = Self.product("r\(number)", name, number % 3 == 0 ? nil : Self.names[number / 2])
                _ = try await catalog.products.put(product, in: Self.store)
                _ = try await catalog.products.place(product.sku, on: Self.shelves[0], in: Self.store)
            }
            let rows = Self.names.enumerated().map { "s,y,i\($0),\($1),\($0 % 3 == 0 ? "" : $1)\n" }
            try await importFile("store,shelf,sku,name,brand\n\(rows.joined())", into: catalog)
            try await body(catalog)
        }
    }

    private func importFile(_ file: String, into catalog: PostgresCatalog) async throws {
        _ = try await Importer(catalog).importFile(
            ImporterTests.Chunks(text: file),
            ImportOptions(format: .csv, createsStores: true)
        )
    }

    /// Checks that each product and shelf has the keys of its texts, and returns the number of products.
    private func expectKeys(
        _ pool: PostgresPool,
        in language: String = "en",
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> Int {
        let collator = LanguageCollator.of(language)
        let titles = try await pool.perform {
            try $0.query("SELECT title, title_key FROM shelf") { try $0.map { (try $0.text(0), try $0.byteaOrNil(1)) } }
        }
        for (title, key) in titles { #expect(key == collator.key(title), "\(title)", sourceLocation: location) }
        let statement: PostgresStatement = "SELECT sku, name, brand, name_key, brand_key FROM product ORDER BY sku"
        let rows = try await pool.perform {
            try $0.query(statement) {
                try $0.map { row in
                    (
                        try row.text(0), try row.text(1), try row.textOrNil(2), try row.byteaOrNil(3),
                        try row.byteaOrNil(4)
                    )
                }
            }
        }
        for (sku, name, brand, nameKey, brandKey) in rows {
            #expect(nameKey == collator.key(name), "\(sku)", sourceLocation: location)
            #expect(brandKey == brand.map(collator.key), "\(sku)", sourceLocation: location)
        }
        return rows.count
    }

    private func versions(_ catalog: PostgresCatalog) async throws -> [Int64] {
        var versions: [Int64] = []
        for shelf in Self.shelves { versions.append(try await catalog.shelves.shelf(Self.store, shelf).state.version) }
        return versions
    }

    @Test("Requests and imports store the keys of new and of changed texts")
    func writers() async throws {
        try await withProducts { catalog in
            let pool = catalog.database.writes.pool
            #expect(try await expectKeys(pool) == 2 * Self.names.count)
            _ = try await catalog.products.put(Self.product("r0", "Ändrad", "Ny"), in: Self.store)
            _ = try await catalog.products.put(Self.product("r1", "Ändrad igen", nil), in: Self.store)
            // The brands of products whose file has no brands stay.
            try await importFile("store,shelf,sku,name\ns,y,i1,Åter\ns,y,i2,Ä\ns,x,i2,Ö\n", into: catalog)
            try await importFile("store,shelf,sku,name,brand\ns,y,i4,Å,Å\ns,y,i5,Ä,\n", into: catalog)
            #expect(try await expectKeys(pool) == 2 * Self.names.count)
        }
    }

    @Test(
        "The generator stores keys",
        .disabled(if: CitusServers.prefix != nil, "it creates keys and indexes after it has loaded the rows")
    )
    func generator() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        try await CatalogGenerator(shelves: 3, products: 500, seed: 1).run(pool)
        #expect(try await expectKeys(pool) == 500)
        pool.shutDown()
        try await database.drop()
    }

    @Test("Another language computes all keys of a store, and its shelves are read again")
    func anotherLanguage() async throws {
        try await withProducts { catalog in
            let pool = catalog.database.writes.pool
            func order() async throws -> [String] {
                let sort = Sort(.name, .ascending)!
                let request = PageRequest(store: Self.store, shelf: Self.shelves[0], sort: sort, limit: 100)
                return try await catalog.pages.page(request).products.map(\.name)
            }
            _ = try await order()
            let before = try await versions(catalog)
            var store = try await catalog.shelves.store(Self.store)
            for (locale, collation, language) in [("sv", nil, "sv"), ("sv", "hr", "hr"), ("de", "root", "root")] {
                (store.locale, store.collation) = (locale, collation)
                #expect(try await catalog.shelves.put(store) == false)
                #expect(try await catalog.shelves.store(Self.store) == store)
                #expect(try await expectKeys(pool, in: language) == 2 * Self.names.count)
                let collate = collator(language)
                #expect(try await order() == Self.names.sorted { collate($0, $1) < 0 }, "\(language)")
            }
            for (old, new) in zip(before, try await versions(catalog)) { #expect(old < new) }
            let unchanged = try await versions(catalog)
            store.locale = "fr"
            _ = try await catalog.shelves.put(store)
            #expect(try await versions(catalog) == unchanged)
        }
    }

    @Test("Products, shelves and imports written while the language changes have keys of the last one")
    func concurrentLanguages() async throws {
        try await withProducts { catalog in
            let languages = ["sv", "hr", "cs", "root"]
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 0..<12 {
                        var store = try await catalog.shelves.store(Self.store)
                        store.collation = languages[round % 4]
                        do { _ = try await catalog.shelves.put(store) } catch CatalogError.unavailable {}
                    }
                }
                group.addTask {
                    for round in 0..<40 {
                        // On a slow machine, a write may wait for the store for too long.
                        let shelf = Shelf(key: CatalogKey("c\(round)")!, title: "Öl \(round)")
                        let product = Self.product("c\(round)", "Ärla \(round)", "Éclair")
                        do {
                            _ = try await catalog.products.put(product, in: Self.store)
                            _ = try await catalog.shelves.put(shelf, in: Self.store)
                        } catch CatalogError.unavailable {}
                    }
                }
                group.addTask {
                    for round in 0..<10 {
                        do {
                            try await importFile("store,shelf,sku,name\ns,y,n\(round),Ål \(round)\n", into: catalog)
                        } catch CatalogError.unavailable {
                        } catch let error as CatalogError {
                            // The staged keys were in another language.
                            #expect("\(error)".contains("language"), "\(error)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let language = try await catalog.shelves.store(Self.store).language
            #expect(try await expectKeys(catalog.database.writes.pool, in: language) > 2 * Self.names.count)
        }
    }

    @Test("Recollation writes only keys that are not right, and raises the versions of their shelves")
    func recollation() async throws {
        try await withProducts { catalog in
            let owner = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
            let pool = PostgresPool(catalog.database.writes.configuration.inOwnerRole, options: .init(size: 2))
            #expect(try await catalog.database.collationWarning() == nil)
            try await owner.perform {
                try $0.run(
                    script: """
                        UPDATE product SET name_key = '\\x01', brand_key = '\\x02' WHERE brand IS NOT NULL AND sku LIKE 'i%';
                        UPDATE deployment SET collator = '1.0'
                        """
                )
            }
            await owner.close()
            let before = try await versions(catalog)
            #expect(try await catalog.database.collationWarning()?.contains("aisle db recollate") == true)
            #expect(try await Doctor(pool).examine().contains { !$0.isOK && $0.remedy == "aisle db recollate" })
            #expect(try await Recollation(pool).run() == 10)
            #expect(try await expectKeys(pool) == 2 * Self.names.count)
            let after = try await versions(catalog)
            #expect(after[0] == before[0])
            #expect(after[1] > before[1])
            #expect(try await Recollation(pool).run() == 0)
            #expect(try await versions(catalog) == after)
            #expect(try await catalog.database.collationWarning() == nil)
            #expect(try await !Doctor(pool).examine().contains { $0.remedy == "aisle db recollate" })
            pool.shutDown()
        }
    }

    @Test("The migration computes the keys of stored products, and no product can be without")
    func migration() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        let first = try #require(Schema.migrations.first { $0.name == "sort_keys" }?.version)
        _ = try await Migrator(pool).migrate(to: first - 1)
        let insertion = """
            INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
                popularity_half_life_days, newcomer_boost)
            OVERRIDING SYSTEM VALUE
            SELECT n, 's' || n, 'S', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0 FROM generate_series(1, 3) n;
            INSERT INTO product (store_id, sku, name, brand, created_at, modified_at)
            SELECT s, n::text, 'Ä' || n, CASE WHEN n % 2 = 0 THEN 'É' || n END, now(), now()
            FROM generate_series(1, 2) s, generate_series(1, 1500) n;
            INSERT INTO store_state (store_id) SELECT store_id FROM store;
            INSERT INTO shelf (store_id, shelf_id, key, title, position, modified_at)
            SELECT s, 1, 'x', 'X', int4send(s), now() FROM generate_series(1, 2) s;
            INSERT INTO placement (store_id, shelf_id, sku, availability, name, attributes, in_stock, tags, popularity_log2,
                created_at, modified_at)
            SELECT store_id, 1, sku, 0, name, '{}', true, '{}', 0, now(), now() FROM product WHERE length(sku) < 4
            """
        try await pool.perform { try $0.run(script: insertion) }
        _ = try await Migrator(pool).migrate()
        #expect(try await expectKeys(pool) == 3000)
        let collations: PostgresStatement = "SELECT count(*) FROM pg_collation WHERE collname = 'catalog'"
        #expect(try await pool.perform { try $0.query(collations) { try $0.first { try $0.int(0) } } } == 0)
        for columns in ["name_key = NULL", "brand_key = NULL", "brand = 'B', brand_key = NULL"] {
            let update = "UPDATE product SET \(columns) WHERE sku = '2'"
            await #expect(throws: PostgresError.self) { try await pool.perform { try $0.run(script: update) } }
        }
        pool.shutDown()
        try await database.drop()
    }

    @Test(
        "Stores of a database whose collation has a language keep it, unless their locale has it",
        arguments: [("sv-u-kn-true", true), ("sv-u-kn", false), ("und-u-kn", false)]
    )
    func languageOfTheCollation(_ tag: String, _ isBeforeKeys: Bool) async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 2))
        let last = Schema.migrations.count
        _ = try await Migrator(pool).migrate(to: 0)
        try await pool.perform {
            try $0.run(
                script:
                    "DROP COLLATION catalog; CREATE COLLATION catalog (provider = icu, locale = '\(tag)', deterministic = true)"
            )
        }
        _ = try await Migrator(pool).migrate(to: isBeforeKeys ? 20 : 30)
        let insertion = """
            INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
                popularity_half_life_days, newcomer_boost)
            OVERRIDING SYSTEM VALUE VALUES (1, 's', 'S', 'SEK', 'en', 'eu', 'last', 'decay', 14, 0),
                (2, 't', 'T', 'SEK', 'sv-SE', 'eu', 'last', 'decay', 14, 0);
            INSERT INTO store_state (store_id) VALUES (1), (2);
            INSERT INTO shelf (store_id, shelf_id, key, title, position, modified_at, deleted_at)
            VALUES (1, 1, 'x', 'Ål', '\\x01', now(), NULL), (1, 2, 'y', 'Öl', '\\x02', now(), now());
            INSERT INTO product (store_id, sku, name, created_at, modified_at\(isBeforeKeys ? "" : ", name_key"))
            SELECT 1, n::text, 'Ä ' || n, now(), now()\(isBeforeKeys ? "" : ", '\\x01'") FROM generate_series(1, 50) n
            """
        try await pool.perform { try $0.run(script: insertion) }
        // An index of the same name interrupts the migration that computes keys before its last step.
        try await pool.perform { try $0.run(script: "CREATE INDEX shelf_by_title_key ON product (sku)") }
        _ = try await Migrator(pool).migrate(to: 31)
        try await pool.perform {
            try $0.run(script: "ALTER TABLE shelf ADD CONSTRAINT no_keys CHECK (title_key IS NULL)")
        }
        await #expect(throws: PostgresError.self) { try await Migrator(pool).migrate() }
        try await pool.perform {
            try $0.run(script: "DROP INDEX shelf_by_title_key; ALTER TABLE shelf DROP CONSTRAINT no_keys")
        }
        _ = try await Migrator(pool).migrate()
        let language = tag.hasPrefix("sv") ? "sv" : "en"
        #expect(try await expectKeys(pool, in: language) == 50)
        let languages: PostgresStatement =
            "SELECT string_agg(coalesce(sort_language, '-'), ',' ORDER BY key) FROM store"
        let found = try await pool.perform { try $0.query(languages) { try $0.first { try $0.text(0) } } }
        #expect(found == (language == "sv" ? "sv,-" : "-,-"))
        #expect(try await Migrator(pool).migrate(to: 30).count == last - 30)
        _ = try await Migrator(pool).migrate()
        #expect(try await expectKeys(pool, in: "en") == 50)
        pool.shutDown()
        try await database.drop()
    }
}
