internal import Catalog
internal import LibPQ
internal import Ordering

extension PostgresProductStore {
    func update(
        _ sku: SKU,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Product?, Store) throws(CatalogError) -> Product
    ) async throws(CatalogError) -> UpdateEffect {
        try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection, locking: ShelfStatements.lockStoreAgainstDeletion)
            let key: [PostgresValue] = [.int4(found.id), .text(sku.text)]
            let shelves = try ShelfLocks.lockProductsAndShelves(of: .textArray([sku.text]), found.id, connection)
            let old = try connection.query(Self.productsByKey, [.int4(found.id), .textArray([sku.text])]) {
                try $0.first { try ProductRow.read($0) }
            }
            try shelves.check(found: old == nil ? 0 : 1)
            let product = try change(old, found.store)
            let changed = try ChangedAttributes(product.attributes, replacing: old?.attributes)
            if !changed.names.isEmpty {
                try changed.check(against: PostgresAttributeStore.effective(changed.names, in: found.id, connection))
            }
            let effect = try connection.query(
                ProductStatements.upsert,
                key + ProductColumn.provided.map { $0.value(of: product) } + [shelves.lastChange]
                    + SortKeys(of: product, in: found.store.language).values
            ) { try $0.first { try $0.bool(0) ? UpdateEffect.created : .changed } ?? .unchanged }
            if old == nil {
                // Another writer may have created the product meanwhile, and placed it.
                guard effect == .created else { throw ShelfLocks.concurrentCreation }
                guard try ShelfLocks.shelves(of: .textArray([product.sku.text]), found.id, connection).isEmpty else {
                    throw ShelfLocks.concurrentPlacement
                }
                try connection.execute(
                    DueProductStatements.queueBought,
                    [.int4(found.id), .textArray([product.sku.text])]
                )
            }
            if effect != .unchanged {
                try AuditLog.record(.product(old, product), in: found.id, connection)
                try ShelfChanges(product.sku.text, on: shelves.ids).recordAndBump(in: found.id, connection)
            }
            return effect
        }
    }

    func remove(product sku: SKU, from store: CatalogKey) async throws(CatalogError) {
        try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection)
            let key: [PostgresValue] = [.int4(found.id), .text(sku.text)]
            let shelves = try ShelfLocks.lockProductsAndShelves(of: .textArray([sku.text]), found.id, connection)
            try connection.execute(
                ProductStatements.removeFromShelves,
                key + [.int8Array(shelves.ids.map(Int64.init))]
            )
            try connection.execute(ProductStatements.deletePlacements, key)
            let old = try connection.query(ProductStatements.delete, key) {
                try $0.first { try ProductRow.read($0) }
            }
            guard let old else { throw CatalogError.notFound("product “\(sku)”") }
            try shelves.check(found: 1)
            try AuditLog.record(.deleted(old), in: found.id, connection)
            try ShelfChanges(sku.text, on: shelves.ids).recordAndBump(in: found.id, order: true, count: -1, connection)
        }
    }

    func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection)
            let id = try ShelfLocks.lockShelf(shelf, found.id, connection)
            let key: [PostgresValue] = [.int4(found.id), .int4(id), .text(sku.text)]
            let exists = try connection.query(
                ProductStatements.lockProduct,
                [.int4(found.id), .text(sku.text)]
            ) { $0.count > 0 }
            guard exists else { throw CatalogError.notFound("product “\(sku)”") }
            guard try connection.execute(PlacementStatements.insert, key) > 0 else { return false }
            let returned = try connection.execute(
                ProductStatements.restorePosition,
                key
            )
            if returned == 0 {
                let last = try connection.query(ManualOrderStatements.lastKey, Array(key.prefix(2))) {
                    try $0.first { try $0.byteaOrNil(0).map { try PathKey(bytes: $0) } } ?? nil
                }
                try connection.execute(
                    ProductStatements.insertPosition,
                    key + [.bytea(PathKey.appending(1, after: last)[0].bytes)]
                )
            }
            try AuditLog.record(.placed(sku, on: shelf), in: found.id, connection)
            try ShelfChanges([sku.text], on: id).recordAndBump(in: found.id, order: true, count: 1, connection)
            return true
        }
    }

    func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) {
        try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection)
            let id = try ShelfLocks.lockShelf(shelf, found.id, connection)
            let key: [PostgresValue] = [.int4(found.id), .int4(id), .text(sku.text)]
            guard
                try connection.execute(ProductStatements.deletePlacement, key)
                    > 0
            else {
                throw CatalogError.notFound("product “\(sku)” on shelf “\(shelf)”")
            }
            try connection.execute(
                ProductStatements.removeFromShelf,
                key
            )
            try AuditLog.record(.unplaced(sku, from: shelf), in: found.id, connection)
            try ShelfChanges([sku.text], on: id).recordAndBump(in: found.id, order: true, count: -1, connection)
        }
    }
}
