package import Catalog
internal import LibPQ
internal import Ordering

extension PostgresCatalog {
    package func put(_ store: Store) async throws(CatalogError) -> Bool {
        try await write(to: store.key, within: .seconds(300)) { database in
            try database.set("lock_timeout", "0")
            let old = try database.query(Self.lockedStore, [.text(store.key.text)]) {
                try $0.first { try ShelfRow.store($0) }
            }
            let values: [PostgresValue] = [
                .text(store.key.text), .text(store.title), .text(store.currency.code), .text(store.locale),
                .text(store.unitPricing.rawValue), .text(store.soldOut.rawValue), .text(store.defaultSort?.description),
                .text(store.popularityMetric.rawValue), .int4(Int32(store.popularityHalfLifeDays)),
                .float8(store.newcomerBoost),
            ]
            guard let old else {
                try database.execute(Self.insertStore, values)
                return true
            }
            var wished = store
            wished.counted = old.store.counted
            if old.store == wished { return false }
            if old.store.currency != store.currency {
                // Nobody may set a first price meanwhile.
                try database.execute("SELECT 1 FROM store WHERE store_id = $1 FOR UPDATE", [.int4(old.id)])
                let priced = try database.query(
                    "SELECT 1 FROM product WHERE store_id = $1 AND (price_minor IS NOT NULL OR regular_price_minor IS NOT NULL) LIMIT 1",
                    [.int4(old.id)]
                ) { $0.count > 0 }
                guard !priced else { throw CatalogError.currencyInUse(old.store) }
            }
            let turnsSoldOut = old.store.soldOut != store.soldOut
            if turnsSoldOut {
                try database.execute(
                    "SELECT 1 FROM shelf WHERE store_id = $1 ORDER BY shelf_id FOR NO KEY UPDATE",
                    [.int4(old.id)]
                )
            }
            try database.execute(Self.updateStore, values)
            if turnsSoldOut { try database.execute(Self.realignStore, [.int4(old.id)]) }
            if turnsSoldOut {
                try database.execute("UPDATE shelf SET version = version + 1 WHERE store_id = $1", [.int4(old.id)])
            }
            return false
        }
    }

    package func put(
        _ shelf: Shelf,
        in store: CatalogKey,
        replacing expected: Int64?
    ) async throws(CatalogError) -> Bool {
        try await write(to: store) { database in
            let found = try Self.store(store, database)
            // Serialises who makes and deletes shelves of a store, so that places and parents hold.
            try database.execute("SELECT 1 FROM store WHERE store_id = $1 FOR NO KEY UPDATE", [.int4(found.id)])
            let parentID = try shelf.parent.map { try Self.parentID($0, of: shelf.key, found.id, database) }
            let old = try database.query(
                "SELECT shelf_id, deleted_at IS NOT NULL, coalesce(sold_out, ''), version FROM shelf WHERE store_id = $1 AND key = $2 FOR NO KEY UPDATE",
                [.int4(found.id), .text(shelf.key.text)]
            ) { try $0.first { (try $0.int4(0), try $0.bool(1), try $0.text(2), try $0.int8(3)) } }
            let settings: [PostgresValue] = [
                .int4(found.id), .text(shelf.key.text), .text(shelf.title), .int4(parentID),
                .text(shelf.defaultSort?.description), .int2(shelf.dimension.map { Int16($0.ordinal) }),
                .text(shelf.soldOut?.rawValue), .text(shelf.positionSource?.description),
            ]
            if let expected, expected != old?.3 {
                throw CatalogError.conflict("the shelf was changed at the same time; try again")
            }
            guard let (shelfID, wasDeleted, oldSoldOut, _) = old else {
                let position = try Self.nextShelfPosition(found.id, database)
                try database.execute(Self.insertShelf, settings + [.bytea(position.bytes)])
                return true
            }
            try database.execute(Self.updateShelf, settings)
            if oldSoldOut != shelf.soldOut?.rawValue ?? "" {
                try database.execute(Self.realignShelf, [.int4(found.id), .int4(shelfID)])
            }
            return wasDeleted
        }
    }

    package func put(
        _ product: Product,
        in store: CatalogKey,
        pricedIn currency: Currency?,
        replacing expected: Timestamp?
    ) async throws(CatalogError) -> Bool {
        try await write(to: store) { database in
            // Held against who changes the store's currency, and nobody else.
            let found = try Self.store(store, database, Self.keyOfStore)
            if let currency, currency != found.store.currency { throw CatalogError.currencyChanged(found.store) }
            let key: [PostgresValue] = [.int4(found.id), .text(product.sku.text)]
            let shelves = try Self.lockShelves(of: .textArray([product.sku.text]), found.id, database)
            let modifiedAt = try database.query(
                "SELECT modified_at FROM product WHERE store_id = $1 AND sku = $2",
                key
            ) { try $0.first { Timestamp(microseconds: try $0.timestamptz(0)) } }
            if let expected, expected != modifiedAt {
                throw CatalogError.conflict("the product was changed at the same time; try again")
            }
            let changed = try database.execute(Self.upsertProduct, key + ProductRow.parameters(product))
            if modifiedAt == nil {
                try database.execute(
                    PopularityStatements.rememberOld,
                    [.int4(found.id), .textArray([product.sku.text])]
                )
            }
            if changed > 0, !shelves.isEmpty {
                try database.execute(Self.syncPlacements, key)
                try Self.bump(shelves, found.id, database)
            }
            return modifiedAt == nil
        }
    }

    package func remove(product sku: SKU, from store: CatalogKey) async throws(CatalogError) {
        try await write(to: store) { database in
            let found = try Self.store(store, database)
            let key: [PostgresValue] = [.int4(found.id), .text(sku.text)]
            let shelves = try Self.lockShelves(of: .textArray([sku.text]), found.id, database)
            try database.execute(
                "UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND sku = $2 AND shelf_id = ANY ($3)",
                key + [.int8Array(shelves.map(Int64.init))]
            )
            try database.execute("DELETE FROM placement WHERE store_id = $1 AND sku = $2", key)
            guard try database.execute("DELETE FROM product WHERE store_id = $1 AND sku = $2", key) > 0 else {
                throw CatalogError.notFound("product “\(sku)”")
            }
            try Self.bump(shelves, found.id, order: true, count: -1, database)
        }
    }

    package func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError) {
        try await write(to: store) { database in
            let found = try Self.store(store, database)
            try database.execute("SELECT 1 FROM store WHERE store_id = $1 FOR NO KEY UPDATE", [.int4(found.id)])
            let id = try Self.lockShelf(shelf, found.id, database)
            let key: [PostgresValue] = [.int4(found.id), .int4(id)]
            let hasChildren = try database.query(
                "SELECT 1 FROM shelf WHERE store_id = $1 AND parent_id = $2 AND deleted_at IS NULL LIMIT 1",
                key
            ) { $0.count > 0 }
            guard !hasChildren else {
                throw CatalogError.conflict("shelf “\(shelf)” has shelves under it; move them first")
            }
            try database.execute(
                "UPDATE placement_position SET removed_at = now() WHERE store_id = $1 AND shelf_id = $2 AND NOT is_removed",
                key
            )
            try database.execute("DELETE FROM placement WHERE store_id = $1 AND shelf_id = $2", key)
            try database.execute("DELETE FROM order_change WHERE store_id = $1 AND shelf_id = $2", key)
            try database.execute(
                """
                UPDATE shelf SET deleted_at = now(), modified_at = now(), version = version + 1,
                    order_version = order_version + 1, product_count = 0 WHERE store_id = $1 AND shelf_id = $2
                """,
                key
            )
        }
    }

    // MARK: - Parts

    /// - Parameter limit: longer than the default only for what rewrites a whole store.
    func write<T: Sendable>(
        to store: CatalogKey,
        within limit: Duration = .seconds(10),
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws(CatalogError) -> T {
        try await mappingErrors {
            let value = try await pool.transaction(within: limit, body)
            changes.announce(.store(store))
            return value
        }
    }

    static func store(
        _ key: CatalogKey,
        _ database: isolated PostgresConnection,
        _ statement: PostgresStatement = oneStore
    ) throws -> ShelfRow.StoreRead {
        let found = try database.query(statement, [.text(key.text)]) { try $0.first { try ShelfRow.store($0) } }
        guard let found else { throw CatalogError.notFound("store “\(key)”") }
        return found
    }

    static func lockShelf(
        _ key: CatalogKey,
        _ storeID: Int32,
        _ database: isolated PostgresConnection
    ) throws -> Int32 {
        let id = try database.query(
            "SELECT shelf_id FROM shelf WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL FOR NO KEY UPDATE",
            [.int4(storeID), .text(key.text)]
        ) { try $0.first { try $0.int4(0) } }
        guard let id else { throw CatalogError.notFound("shelf “\(key)”") }
        return id
    }

    /// Locks the shelves that products stand on, in key order, then the products, then looks again: until the locks are had,
    /// others may have placed them elsewhere.
    ///
    /// - Parameter skus: an array of skus.
    @discardableResult
    static func lockShelves(
        of skus: PostgresValue,
        _ storeID: Int32,
        _ database: isolated PostgresConnection
    ) throws -> [Int32] {
        let key: [PostgresValue] = [.int4(storeID), skus]
        func standing() throws -> [Int32] {
            try database.query(
                "SELECT DISTINCT shelf_id FROM placement WHERE store_id = $1 AND sku = ANY ($2) ORDER BY shelf_id",
                key
            ) { try $0.map { try $0.int4(0) } }
        }
        let shelves = try standing()
        try database.execute(
            "SELECT 1 FROM shelf WHERE store_id = $1 AND shelf_id = ANY ($2) ORDER BY shelf_id FOR NO KEY UPDATE",
            [.int4(storeID), .int8Array(shelves.map(Int64.init))]
        )
        // Who places a product holds its row too: from here on nobody can.
        try database.execute(
            "SELECT 1 FROM product WHERE store_id = $1 AND sku = ANY ($2) ORDER BY sku FOR UPDATE",
            key
        )
        // Locks of other shelves now would be out of order: start again from the top.
        guard try standing() == shelves else {
            throw PostgresError(.server, "a product was placed elsewhere meanwhile", sqlState: .serializationFailure)
        }
        return shelves
    }

    static func bump(
        _ shelves: [Int32],
        _ storeID: Int32,
        order: Bool = false,
        count: Int32 = 0,
        _ database: isolated PostgresConnection
    ) throws {
        guard !shelves.isEmpty else { return }
        try database.execute(
            """
            UPDATE shelf SET version = version + 1, order_version = order_version + $3, product_count = product_count + $4,
                modified_at = now() WHERE store_id = $1 AND shelf_id = ANY ($2)
            """,
            [.int4(storeID), .int8Array(shelves.map(Int64.init)), .int8(order ? 1 : 0), .int4(count)]
        )
    }

    private static func parentID(
        _ parent: CatalogKey,
        of shelf: CatalogKey,
        _ storeID: Int32,
        _ database: isolated PostgresConnection
    ) throws -> Int32 {
        // The parent and its ancestors: the shelf itself must not be among them.
        let line = try database.query(
            """
            WITH RECURSIVE line (shelf_id, key, parent_id, depth) AS (
                SELECT shelf_id, key, parent_id, 1 FROM shelf WHERE store_id = $1 AND key = $2 AND deleted_at IS NULL
                UNION ALL
                SELECT h.shelf_id, h.key, h.parent_id, depth + 1 FROM line
                JOIN shelf h ON h.store_id = $1 AND h.shelf_id = line.parent_id WHERE depth < 32
            ) SELECT shelf_id, key FROM line ORDER BY depth
            """,
            [.int4(storeID), .text(parent.text)]
        ) { try $0.map { (try $0.int4(0), try $0.text(1)) } }
        guard let first = line.first else {
            throw CatalogError.unprocessable(field: "parent", detail: "there is no shelf “\(parent)”")
        }
        guard !line.contains(where: { $0.1 == shelf.text }) else {
            throw CatalogError.unprocessable(
                field: "parent",
                detail: "shelf “\(parent)” stands under “\(shelf)” already"
            )
        }
        guard line.count < 16 else {
            throw CatalogError.unprocessable(field: "parent", detail: "shelves nest at most 16 deep")
        }
        return first.0
    }

    static func nextShelfPosition(_ storeID: Int32, _ database: isolated PostgresConnection) throws -> PathKey {
        let last = try database.query(
            "SELECT position FROM shelf WHERE store_id = $1 ORDER BY position DESC LIMIT 1",
            [.int4(storeID)]
        ) { try $0.first { try PathKey(bytes: try $0.bytea(0)) } }
        return PathKey.appending(1, after: last)[0]
    }
}
