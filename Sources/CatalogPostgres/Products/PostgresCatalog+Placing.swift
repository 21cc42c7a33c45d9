package import Catalog
internal import LibPQ
internal import Ordering

extension PostgresCatalog {
    package func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await write(to: store) { database in
            let found = try Self.store(store, database)
            let id = try Self.lockShelf(shelf, found.id, database)
            let key: [PostgresValue] = [.int4(found.id), .int4(id), .text(sku.text)]
            let exists = try database.query(
                "SELECT 1 FROM product WHERE store_id = $1 AND sku = $2 FOR SHARE",
                [.int4(found.id), .text(sku.text)]
            ) { $0.count > 0 }
            guard exists else { throw CatalogError.notFound("product “\(sku)”") }
            guard try database.execute(Self.insertPlacement, key) > 0 else { return false }
            let returned = try database.execute(
                "UPDATE placement_position SET removed_at = NULL WHERE store_id = $1 AND shelf_id = $2 AND sku = $3",
                key
            )
            if returned == 0 {
                let last = try database.query(OrderStatements.lastKey, Array(key.prefix(2))) {
                    try $0.first { try $0.byteaOrNil(0).map { try PathKey(bytes: $0) } } ?? nil
                }
                try database.execute(
                    "INSERT INTO placement_position (store_id, shelf_id, sku, key) VALUES ($1, $2, $3, $4)",
                    key + [.bytea(PathKey.appending(1, after: last)[0].bytes)]
                )
            }
            try Self.bump([id], found.id, order: true, count: 1, database)
            return true
        }
    }

    package func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) {
        try await write(to: store) { database in
            let found = try Self.store(store, database)
            let id = try Self.lockShelf(shelf, found.id, database)
            let key: [PostgresValue] = [.int4(found.id), .int4(id), .text(sku.text)]
            guard
                try database.execute("DELETE FROM placement WHERE store_id = $1 AND shelf_id = $2 AND sku = $3", key)
                    > 0
            else {
                throw CatalogError.notFound("product “\(sku)” on shelf “\(shelf)”")
            }
            try database.execute(
                "UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND shelf_id = $2 AND sku = $3",
                key
            )
            try Self.bump([id], found.id, order: true, count: -1, database)
        }
    }
}
