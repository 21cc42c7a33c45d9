import CatalogPostgres
import LibPQ
import TestSupport
import Testing

/// Generated catalogs: the sizes of their shelves, and what their products have.
@Suite(.timeLimit(.minutes(15))) struct CatalogGeneratorTests {
    private func sizes(_ shelves: Int, _ products: Int) -> [Int] {
        CatalogGenerator(shelves: shelves, products: products, seed: 1).sizes
    }

    @Test("The first shelf has a tenth of the products, and what remains goes to the others in turn")
    func smallCatalogs() {
        #expect(sizes(1, 100) == [100], "a single shelf has all of them")
        #expect(sizes(2, 100) == [10, 90])
        #expect(sizes(3, 100) == [10, 45, 45])
        #expect(sizes(4, 1000) == [100, 300, 300, 300])
        #expect(sizes(3, 101) == [10, 46, 45])
        #expect(sizes(2, 5) == [1, 4])
        #expect(sizes(2, 2) == [1, 1] && sizes(3, 10) == [1, 5, 4])
    }

    @Test(
        "The sizes of many shelves follow a power of their rank, and add up",
        arguments: [(100, 10_000), (250, 3000), (1000, 50_000)]
    )
    func largeCatalogs(_ shelves: Int, _ products: Int) {
        let found = sizes(shelves, products)
        #expect(found.count == shelves && found.reduce(0, +) == products)
        #expect(found[0] == products / 10 && found.last! >= 1)
        #expect(found == found.sorted(by: >))
        // By a power law, the second shelf is to the first as the fourth is to the second.
        #expect(abs(Double(found[1] * found[1]) / Double(found[0] * found[3]) - 1) < 0.1)
    }

    @Test(
        "Generated products have prices, sizes, brands and times of their ranges, the same for a seed",
        .disabled(if: CitusServers.prefix != nil, "it creates keys and indexes after it has loaded the rows")
    )
    func products() async throws {
        let database = try await TestDatabase.migrated()
        let pool = PostgresPool(database.configuration, options: .init(size: 1))
        try await CatalogGenerator(shelves: 3, products: 500, seed: 7).run(pool)
        func count(_ condition: PostgresStatement) async throws -> Int {
            try await pool.perform { try $0.query(condition) { try $0.first { try $0.int(0) }! } }
        }
        #expect(try await count("SELECT count(*) FROM product WHERE created_at <> modified_at") == 0)
        #expect(
            try await count(
                "SELECT count(*) FROM product WHERE created_at < to_timestamp(1700000000) OR created_at >= to_timestamp(1750000000)"
            ) == 0
        )
        #expect(try await count("SELECT count(DISTINCT created_at) FROM product") > 490)
        #expect(
            try await count(
                "SELECT count(*) FROM product WHERE price_minor >= 3000 OR price_minor % 100 NOT IN (9, 19, 29, 49, 79, 99)"
            ) == 0
        )
        let parts: [(PostgresStatement, ClosedRange<Int>)] = [
            ("SELECT count(*) FROM product WHERE price_minor IS NULL", 1...30),
            ("SELECT count(*) FROM product WHERE brand IS NULL", 20...90),
            ("SELECT count(*) FROM product WHERE size_amount IS NULL", 5...60),
            ("SELECT count(*) FROM product WHERE size_packs = 6", 25...100),
            ("SELECT count(*) FROM product WHERE size_packs NOT IN (1, 6)", 0...0),
            ("SELECT count(*) FROM product WHERE NOT in_stock", 10...80),
            ("SELECT count(DISTINCT cardinality(tags)) FROM product", 4...4),
            ("SELECT count(*) FROM product WHERE popularity_log2 = '-Infinity'", 50...160),
        ]
        for (statement, range) in parts {
            let found = try await count(statement)
            #expect(range.contains(found), "\(found) are not in \(range)")
        }
        #expect(try await count("SELECT count(*) FROM placement") == 500)
        #expect(try await count("SELECT count(DISTINCT (store_id, shelf_id, key)) FROM placement_position") == 500)
        #expect(try await count("SELECT max(product_count)::bigint FROM shelf") == 225)
        #expect(
            try await count(
                "SELECT count(*) FROM placement p JOIN product r USING (store_id, sku) WHERE p.popularity_log2 <> r.popularity_log2"
            ) == 0
        )
        // A second run would repeat the store.
        await #expect(throws: (any Error).self) {
            try await CatalogGenerator(shelves: 1, products: 1, seed: 7).run(pool)
        }
        #expect(try await count("SELECT count(*) FROM product") == 500)
        pool.shutDown()
        try await database.drop()
    }
}
