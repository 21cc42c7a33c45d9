internal import Catalog
internal import LibPQ
internal import Ordering

extension PostgresProductStore {
    func put(
        _ product: Product,
        in store: CatalogKey,
        pricedIn currency: Currency?,
        replacing expected: Timestamp?
    ) async throws(CatalogError) -> Bool {
        try await database.write(to: store) { connection in
            // Held against who changes the store's currency, and nobody else.
            let found = try ShelfLookup.store(store, connection, ShelfLookup.keyOfStore)
            if let currency, currency != found.store.currency { throw CatalogError.currencyChanged(found.store) }
            let key: [PostgresValue] = [.int4(found.id), .text(product.sku.text)]
            let shelves = try ShelfLocks.lockShelves(of: .textArray([product.sku.text]), found.id, connection)
            let modifiedAt = try connection.query(
                "SELECT modified_at FROM product WHERE store_id = $1 AND sku = $2",
                key
            ) { try $0.first { Timestamp(microseconds: try $0.timestamptz(0)) } }
            if let expected, expected != modifiedAt {
                throw CatalogError.conflict("the product was changed at the same time; try again")
            }
            let changed = try connection.execute(Self.upsertProduct, key + ProductRow.parameters(product))
            if modifiedAt == nil {
                try connection.execute(
                    PopularityStatements.rememberOld,
                    [.int4(found.id), .textArray([product.sku.text])]
                )
            }
            if changed > 0, !shelves.isEmpty {
                try connection.execute(PlacementStatements.syncPlacements, key)
                try ShelfLocks.bump(shelves, found.id, connection)
            }
            return modifiedAt == nil
        }
    }

    func remove(product sku: SKU, from store: CatalogKey) async throws(CatalogError) {
        try await database.write(to: store) { connection in
            let found = try ShelfLookup.store(store, connection)
            let key: [PostgresValue] = [.int4(found.id), .text(sku.text)]
            let shelves = try ShelfLocks.lockShelves(of: .textArray([sku.text]), found.id, connection)
            try connection.execute(
                "UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND sku = $2 AND shelf_id = ANY ($3)",
                key + [.int8Array(shelves.map(Int64.init))]
            )
            try connection.execute("DELETE FROM placement WHERE store_id = $1 AND sku = $2", key)
            guard try connection.execute("DELETE FROM product WHERE store_id = $1 AND sku = $2", key) > 0 else {
                throw CatalogError.notFound("product “\(sku)”")
            }
            try ShelfLocks.bump(shelves, found.id, order: true, count: -1, connection)
        }
    }

    func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await database.write(to: store) { connection in
            let found = try ShelfLookup.store(store, connection)
            let id = try ShelfLocks.lockShelf(shelf, found.id, connection)
            let key: [PostgresValue] = [.int4(found.id), .int4(id), .text(sku.text)]
            let exists = try connection.query(
                "SELECT 1 FROM product WHERE store_id = $1 AND sku = $2 FOR SHARE",
                [.int4(found.id), .text(sku.text)]
            ) { $0.count > 0 }
            guard exists else { throw CatalogError.notFound("product “\(sku)”") }
            guard try connection.execute(PlacementStatements.insertPlacement, key) > 0 else { return false }
            let returned = try connection.execute(
                "UPDATE placement_position SET removed_at = NULL WHERE store_id = $1 AND shelf_id = $2 AND sku = $3",
                key
            )
            if returned == 0 {
                let last = try connection.query(OrderStatements.lastKey, Array(key.prefix(2))) {
                    try $0.first { try $0.byteaOrNil(0).map { try PathKey(bytes: $0) } } ?? nil
                }
                try connection.execute(
                    "INSERT INTO placement_position (store_id, shelf_id, sku, key) VALUES ($1, $2, $3, $4)",
                    key + [.bytea(PathKey.appending(1, after: last)[0].bytes)]
                )
            }
            try ShelfLocks.bump([id], found.id, order: true, count: 1, connection)
            return true
        }
    }

    func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) {
        try await database.write(to: store) { connection in
            let found = try ShelfLookup.store(store, connection)
            let id = try ShelfLocks.lockShelf(shelf, found.id, connection)
            let key: [PostgresValue] = [.int4(found.id), .int4(id), .text(sku.text)]
            guard
                try connection.execute("DELETE FROM placement WHERE store_id = $1 AND shelf_id = $2 AND sku = $3", key)
                    > 0
            else {
                throw CatalogError.notFound("product “\(sku)” on shelf “\(shelf)”")
            }
            try connection.execute(
                "UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND shelf_id = $2 AND sku = $3",
                key
            )
            try ShelfLocks.bump([id], found.id, order: true, count: -1, connection)
        }
    }

    static let upsertProduct: PostgresStatement = """
        INSERT INTO product (store_id, sku, name, brand, price_minor, regular_price_minor, size_amount, size_unit,
            size_packs, size_drained, size_approximate, size_dimension, base_quantity, barcode, image_url, attributes,
            in_stock, tags, popularity_log2, created_at, modified_at)
        SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
            CASE WHEN s.counted_metric = 'decay' THEN popularity_sum('-Infinity', '-Infinity', popularity_on(
                s.counted_newcomer_boost, (now() AT TIME ZONE 'UTC')::date, s.counted_half_life_days))
            WHEN s.counted_newcomer_boost > 0 THEN popularity_sum('-Infinity', '-Infinity',
                ln(s.counted_newcomer_boost) / ln(2::double precision)) ELSE '-Infinity' END, now(), now()
        FROM store s WHERE s.store_id = $1
        ON CONFLICT (store_id, sku) DO UPDATE SET
            (name, brand, price_minor, regular_price_minor, size_amount, size_unit, size_packs, size_drained,
            size_approximate, size_dimension, base_quantity, barcode, image_url, attributes, in_stock, tags, modified_at)
            = (excluded.name, excluded.brand, excluded.price_minor, excluded.regular_price_minor, excluded.size_amount,
            excluded.size_unit, excluded.size_packs, excluded.size_drained, excluded.size_approximate,
            excluded.size_dimension, excluded.base_quantity, excluded.barcode, excluded.image_url, excluded.attributes,
            excluded.in_stock, excluded.tags, now())
        WHERE (product.name, product.brand, product.price_minor, product.regular_price_minor, product.size_amount,
            product.size_unit, product.size_packs, product.size_drained, product.size_approximate, product.barcode,
            product.image_url, product.attributes, product.in_stock, product.tags)
            IS DISTINCT FROM (excluded.name, excluded.brand, excluded.price_minor, excluded.regular_price_minor,
            excluded.size_amount, excluded.size_unit, excluded.size_packs, excluded.size_drained,
            excluded.size_approximate, excluded.barcode, excluded.image_url, excluded.attributes, excluded.in_stock,
            excluded.tags)
        """
}
