internal import Catalog
internal import Collation
package import LibPQ
internal import Ordering

/// Generates a large catalog of one store, deterministically from a seed. Shelf sizes follow Zipf's law; the first has
/// a tenth of all products (100,000 of a million).
package struct CatalogGenerator: Sendable {
    package let shelves: Int
    package let products: Int
    package let seed: UInt64
    /// The key of the generated store.
    package static let store = "generated"

    package init(shelves: Int, products: Int, seed: UInt64) {
        self.shelves = shelves
        self.products = products
        self.seed = seed
    }

    /// The number of products per shelf: `max ÷ rank^s`, with `s` chosen to match the total.
    package var sizes: [Int] {
        let largest = Double(max(1, products / 10))
        var (low, high) = (0.0, 8.0)
        for _ in 0..<60 {
            let exponent = (low + high) / 2
            let sum = (1...shelves).reduce(0.0) { $0 + max(1, largest * inversePower(Double($1), exponent)) }
            if sum > Double(products) { low = exponent } else { high = exponent }
        }
        var sizes = (1...shelves).map { max(1, Int(largest * inversePower(Double($0), high))) }
        // Distribute the rounding remainder over the shelves after the first.
        var rest = products - sizes.reduce(0, +)
        var index = shelves > 1 ? 1 : 0
        while rest > 0 {
            sizes[index] += 1
            rest -= 1
            index = index + 1 < shelves ? index + 1 : (shelves > 1 ? 1 : 0)
        }
        return sizes
    }

    /// Writes the catalog in one transaction with COPY. In an empty database, indexes are created afterwards.
    ///
    /// - Throws: `CatalogError.conflict` if the store exists.
    package func run(_ pool: PostgresPool, onProgress: @escaping @Sendable (Int) -> Void = { _ in }) async throws {
        try await pool.withConnection { connection in
            try await connection.perform { connection in
                try connection.transaction { try write($0, onProgress) }
            }
            try await connection.perform {
                try $0.run(script: DatabaseStatements.analyzeCatalog)
            }
        }
    }

    private func write(_ connection: isolated PostgresConnection, _ onProgress: (Int) -> Void) throws {
        let isEmpty = try connection.query(GeneratorStatements.anyPlacement) { $0.count == 0 }
        let deferred = isEmpty ? try Self.deferredObjects(connection) : []
        for part in deferred { try connection.run(script: part.drop) }
        let id = try StoreLifecycle.newIDs(1, connection)[0]
        let store = Store(key: CatalogKey(Self.store)!, title: "Generated", currency: Currency("EUR")!)
        guard try StoreLifecycle.create(store, newID: id, connection) == id else {
            throw CatalogError.conflict("store “\(Self.store)” exists, or existed; start from an empty database")
        }
        let collator = LanguageCollator.of(store.language)
        let sizes = sizes
        try copyShelves(connection, id, sizes, collator)
        for table in Table.allCases {
            try copyRows(connection, table, id, sizes, collator) { if table == .placement { onProgress($0) } }
        }
        for part in deferred { try connection.run(script: part.make) }
    }

    /// Returns the objects that are faster to create after loading: foreign keys and non-unique indexes.
    private static func deferredObjects(
        _ connection: isolated PostgresConnection
    ) throws -> [(drop: String, make: String)] {
        try connection.query(
            GeneratorStatements.deferredObjects
        ) { try $0.map { (drop: try $0.text(0), make: try $0.text(1)) } }
    }

    private func copyShelves(
        _ connection: isolated PostgresConnection,
        _ store: Int32,
        _ sizes: [Int],
        _ collator: LanguageCollator
    ) throws {
        var text = CopyText()
        for (index, position) in PathKey.appending(shelves, after: nil).enumerated() {
            text.field(store)
            text.field(index + 1)
            text.field("shelf-\(index + 1)")
            let title = "Shelf \(index + 1)"
            text.field(title)
            text.field(bytes: collator.key(title))
            text.field(bytes: position.bytes)
            text.field(sizes[index])
            text.raw("now()")
            text.endRow()
        }
        var rest = text.bytes[...]
        _ = try connection.copyIn(GeneratorStatements.copyShelves) {
            defer { rest = rest.dropFirst(PostgresConnection.copyChunkSize) }
            return Array(rest.prefix(PostgresConnection.copyChunkSize))
        }
    }

    private enum Table: CaseIterable { case product, placement, position }

    private func copyRows(
        _ connection: isolated PostgresConnection,
        _ table: Table,
        _ store: Int32,
        _ sizes: [Int],
        _ collator: LanguageCollator,
        _ onProgress: (Int) -> Void
    ) throws {
        let statement: PostgresStatement =
            switch table {
            case .product:
                "COPY product (store_id, sku, \(ProductColumn.allCases.names), \(SortKeys.columns)) FROM STDIN"
            case .placement:
                "COPY placement (store_id, shelf_id, sku, popularity_log2) FROM STDIN"
            case .position: PlacementStatements.copyPositions
            }
        // Use the same random numbers for each table.
        var random = SeededGenerator(seed: seed)
        var (shelf, within, made) = (0, 0, 0)
        var text = CopyText()
        _ = try connection.copyIn(statement) {
            text.removeAll()
            while shelf < shelves, text.bytes.count < PostgresConnection.copyChunkSize {
                if within == sizes[shelf] {
                    shelf += 1
                    within = 0
                    continue
                }
                let product = GeneratedProduct.make(made, &random)
                text.field(store)
                if table != .product { text.field(shelf + 1) }
                text.field(product.sku.text)
                switch table {
                case .product:
                    for column in ProductColumn.allCases { text.field(column.value(of: product)) }
                    for key in SortKeys(of: product, collator).values { text.field(key) }
                case .placement: text.field(ProductColumn.popularityLog2.value(of: product))
                case .position: text.field(bytes: PathKey([Int64(within) * PathKey.step]).bytes)
                }
                text.endRow()
                within += 1
                made += 1
            }
            onProgress(made)
            return text.bytes
        }
    }

}

extension SeededGenerator {
    fileprivate mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    fileprivate mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
}

/// The products that the generator makes.
private enum GeneratedProduct {
    private static let kinds = [
        "Milk", "Butter", "Yoghurt", "Bread", "Pasta", "Rice", "Coffee", "Tea", "Juice", "Soap", "Apples", "Cheese",
        "Ham", "Chocolate", "Beans", "Flour",
    ]
    private static let qualities = [
        "Fresh", "Organic", "Mild", "Strong", "Whole", "Light", "Classic", "Fine", "Golden", "Country", "Alpine",
        "Élégant", "Ärla", "Žuti",
    ]
    private static let brands = (1...200).map { "Brand \($0)" }
    private static let priceEndings = [9, 19, 29, 49, 79, 99]
    private static let units: [(MeasureUnit, [Int])] = [
        (.g, [100, 125, 200, 250, 400, 500, 750]), (.ml, [200, 250, 330, 500, 750]), (.l, [1, 2, 5]), (.kg, [1, 2, 5]),
        (.piece, [1, 6, 10, 12]),
    ]

    static func make(_ number: Int, _ random: inout SeededGenerator) -> Product {
        let (unit, amounts) = random.pick(units)
        let amount = random.pick(amounts)
        var product = Product(
            sku: SKU("g\(number + 1)")!,
            name: "\(random.pick(qualities)) \(random.pick(kinds)) \(number % 997) \(amount) \(unit.rawValue)"
        )
        product.brand = random.below(10) == 0 ? nil : random.pick(brands)
        product.priceMinor = random.below(50) == 0 ? nil : Int64(random.below(30) * 100 + random.pick(priceEndings))
        product.size =
            random.below(20) == 0
            ? nil : try? Size(amount: ExactDecimal(Int128(amount)), unit: unit, packs: random.below(8) == 0 ? 6 : 1)
        product.inStock = random.below(12) > 0
        product.tags = Array(["organic", "local", "vegan"].prefix(random.below(4)))
        let purchases = random.below(5) == 0 ? 0 : random.below(2000)
        product.popularity = Popularity(
            purchases: Double(purchases),
            day: Popularity.epochDay + 2000,
            halfLifeDays: 14
        )
        let created = 1_700_000_000_000_000 + Int64(random.below(50_000_000)) * 1_000_000
        product.createdAt = Timestamp(microseconds: created)
        product.modifiedAt = product.createdAt
        return product
    }
}

/// The statements of `CatalogGenerator`.
enum GeneratorStatements {
    static let anyPlacement: PostgresStatement = "SELECT 1 FROM placement LIMIT 1"
    /// The objects that are faster to create after loading: foreign keys and non-unique indexes.
    static let deferredObjects: PostgresStatement = """
        WITH filled (id) AS (VALUES ('product'::regclass), ('placement'), ('placement_position'))
        SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname),
            format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid))
        FROM pg_constraint c JOIN filled ON filled.id = c.conrelid WHERE c.contype = 'f'
        UNION ALL
        SELECT format('DROP INDEX %s', x.indexrelid::regclass), pg_get_indexdef(x.indexrelid)
        FROM pg_index x JOIN filled ON filled.id = x.indrelid
        WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid)
        """
    static let copyShelves: PostgresStatement = """
        COPY shelf (store_id, shelf_id, key, title, title_key, position, product_count, modified_at) FROM STDIN
        """
}
