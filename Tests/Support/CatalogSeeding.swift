package import Catalog
internal import CatalogJSON
package import CatalogPostgres
internal import LibPQ

extension CatalogStorage {
    /// Creates a store with the shelf `food`, and the shelf `dairy` below it.
    package func putFoodAndDairy(in store: CatalogKey) async throws {
        let food = CatalogKey("food")!
        _ = try await shelves.put(Store(key: store, title: "Shop", currency: Currency("EUR")!))
        _ = try await shelves.put(Shelf(key: food, title: "Food"), in: store)
        _ = try await shelves.put(Shelf(key: CatalogKey("dairy")!, title: "Dairy", parent: food), in: store)
    }
}

extension PostgresCatalog {
    /// Stores products with their given times and popularity on a shelf, in the given manual order.
    package func seed(_ products: [Product], on shelf: CatalogKey, in store: CatalogKey) async throws {
        for product in products {
            _ = try await self.products.put(product, in: store)
            _ = try await self.products.place(product.sku, on: shelf, in: store)
        }
        let values = products.map {
            ($0.sku.text, $0.popularity.log2, $0.createdAt.microseconds, $0.modifiedAt.microseconds)
        }
        try await database.writes.perform { database in
            for (sku, popularity, created, modified) in values {
                try database.execute(
                    "UPDATE product SET popularity_log2 = $2, created_at = $3, modified_at = $4 WHERE sku = $1",
                    [.text(sku), .float8(popularity), .timestamptz(created), .timestamptz(modified)]
                )
                try database.execute(
                    "UPDATE placement SET popularity_log2 = $2 WHERE sku = $1",
                    [.text(sku), .float8(popularity)]
                )
            }
        }
    }
}
