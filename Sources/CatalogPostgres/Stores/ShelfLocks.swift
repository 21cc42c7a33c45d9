internal import Catalog
internal import LibPQ
internal import Ordering

/// Locks of shelves and products, for transactions that change products.
enum ShelfLocks {
    static func lockShelf(
        _ key: CatalogKey,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> Int32 {
        let id = try connection.query(
            ShelfStatements.lockExisting,
            [.int4(storeID), .text(key.text)]
        ) { try $0.first { try $0.int4(0) } }
        guard let id else { throw CatalogError.notFound("shelf “\(key)”") }
        return id
    }

    /// Shelves that a transaction has locked.
    struct LockedShelves {
        let ids: [Int32]
        /// The time of the last change of the shelves, as a parameter; null without shelves. A changed product gets a later time,
        /// so `modified_at` shows which products changed after a shelf.
        let lastChange: PostgresValue
        /// The number of locked products; 0 if only shelves were locked.
        var products = 0

        /// Checks that no product was created after these were locked: it is not locked, and may change after it is read.
        ///
        /// - Parameter found: the number of the products that exist now.
        /// - Throws: `concurrentCreation`.
        func check(found: Int) throws {
            guard found <= products else { throw ShelfLocks.concurrentCreation }
        }
    }

    /// Locks shelves in id order.
    static func lock(
        _ ids: [Int32],
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> LockedShelves {
        let parameters: [PostgresValue] = [.int4(storeID), .int8Array(ids.map(Int64.init))]
        let times = try connection.query(ShelfStatements.lockSome, parameters) { try $0.map { try $0.timestamptz(0) } }
        return LockedShelves(ids: ids, lastChange: .timestamptz(times.max()))
    }

    /// Locks the shelves of products, in the order of their ids, then the products, then checks the shelves again: before the locks
    /// were acquired, another transaction may have placed the products elsewhere.
    ///
    /// - Parameter skus: an array of skus.
    static func lockProductsAndShelves(
        of skus: PostgresValue,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> LockedShelves {
        var locked = try lock(shelves(of: skus, storeID, connection), storeID, connection)
        // Placing a product locks its row, too, so no placement can follow from here on.
        locked.products = try connection.execute(ShelfStatements.lockProducts, [.int4(storeID), skus])
        guard try shelves(of: skus, storeID, connection) == locked.ids else { throw concurrentPlacement }
        return locked
    }

    /// Returns the ids of the shelves on which products are placed, in order.
    static func shelves(
        of skus: PostgresValue,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> [Int32] {
        try connection.query(ShelfStatements.shelvesOfProducts, [.int4(storeID), skus]) {
            try $0.map { try $0.int4(0) }
        }
    }

    /// Locking more shelves would violate the lock order, so the transaction is retried.
    static let concurrentPlacement = PostgresError(.conflict, "products were placed on other shelves concurrently")

    /// A product did not exist when it was read or locked, so the transaction is retried.
    static let concurrentCreation = PostgresError(.conflict, "a product was created concurrently")

    /// Returns the id and the position of a store's next shelf. The store must be locked with `lockStore`. Ids begin at 1 in each
    /// store, and never repeat, because deleted shelves keep their rows.
    static func nextShelf(
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> (id: Int32, position: PathKey) {
        let last = try connection.query(
            ShelfStatements.lastShelf,
            [.int4(storeID)]
        ) { try $0.first { (id: try $0.int4(0), position: try PathKey(bytes: try $0.bytea(1))) } }
        return (id: (last?.id ?? 0) + 1, position: PathKey.appending(1, after: last?.position)[0])
    }
}
