internal import Catalog
internal import Collation
package import LibPQ

/// Computes the sort keys of stored products and shelves again, in the language of each store.
///
/// Keys that are right are not written, so an interrupted run is repeated at little cost.
package struct Recollation: Sendable {
    /// The number of products that are compared in one transaction. Writers of their shelves wait for it if their keys change.
    private static let batchSize = 1000

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Computes all keys, in batches, while servers run, and records the version of the collator that all of them have then.
    ///
    /// - Parameter onProgress: called after each batch with the number of products so far.
    /// - Returns: the number of products and shelves whose keys changed.
    /// - Throws: kind `exhausted` if a migration runs.
    /// - Complexity: O(products and shelves).
    package func run(onProgress: (Int) -> Void = { _ in }) async throws -> Int {
        try await Migrator(pool).alone { try await computeAll(.all, onProgress) }
    }

    /// The keys that a migration computes; it has excluded other migrations.
    enum Scope {
        /// The first keys of products. No server reads them yet, and shelves have none.
        case products
        case all
    }

    /// Computes all keys of a scope, and records the version of the collator.
    ///
    /// - Returns: the number of keys that changed.
    @discardableResult
    func computeAll(_ scope: Scope, _ onProgress: (Int) -> Void) async throws -> Int {
        let stores = try await pool.perform {
            try $0.query(SortKeyStatements.stores) { try $0.map { try $0.int4(0) } }
        }
        var (read, changed) = (0, 0)
        for store in stores {
            var last = ""
            while true {
                let after = last
                let batch = try await pool.transaction {
                    try Self.computeBatch(of: store, after: after, scope, $0)
                }
                guard let end = batch.last else { break }
                last = end
                read += batch.count
                changed += batch.changed
                onProgress(read)
            }
            if scope == .all { changed += try await pool.transaction { try Self.computeTitles(of: store, $0) } }
        }
        try await pool.transaction { try $0.execute(SortKeyStatements.setVersion, [.text(LanguageCollator.version)]) }
        return changed
    }

    /// Computes all keys of a store in a language, in a transaction that has locked the store and its shelves against all writers.
    ///
    /// - Complexity: O(products and shelves of the store).
    static func compute(_ store: Int32, in language: String, _ connection: isolated PostgresConnection) throws {
        let collator = LanguageCollator.of(language)
        var last = ""
        while true {
            let batch = try outdatedProducts(of: store, after: last, collator, connection)
            if !batch.outdated.isEmpty {
                // Other writers lock products in this order, too.
                let skus = PostgresValue.textArray(batch.outdated.map(\.sku))
                try connection.execute(ShelfStatements.lockProducts, [.int4(store), skus])
                try write(batch.outdated, of: store, connection)
            }
            guard let end = batch.last else { break }
            last = end
        }
        _ = try writeTitles(of: store, collator, connection)
    }

    /// Returns the version of the collator that computed the keys of all products and shelves; nil if none has.
    static func version(_ connection: isolated PostgresConnection) throws -> String? {
        try connection.query(SortKeyStatements.version) { try $0.first { try $0.textOrNil(0) } ?? nil }
    }

    /// Returns a warning about keys of another version than this program's.
    ///
    /// - Parameter stored: the version of stored keys; nil if there are none.
    static func warning(stored: String?) -> String {
        """
        sort keys were computed by collator \(stored ?? "none"), but this program has \(LanguageCollator.version): names and \
        brands may be missorted
        """
    }

    /// The command that computes all keys again.
    static let remedy = "aisle db recollate"

    // MARK: - Products

    private typealias KeyedProduct = (sku: String, keys: SortKeys)

    /// Computes the keys of the next products of a store.
    ///
    /// - Returns: their number, how many keys changed, and the last product; nil at the end.
    private static func computeBatch(
        of store: Int32,
        after last: String,
        _ scope: Scope,
        _ connection: isolated PostgresConnection
    ) throws -> (count: Int, changed: Int, last: String?) {
        let collator = LanguageCollator.of(try lockedLanguage(of: store, connection))
        let batch = try outdatedProducts(of: store, after: last, collator, connection)
        guard !batch.outdated.isEmpty else { return (batch.count, 0, batch.last) }
        // Their names may change until they are locked.
        let skus = PostgresValue.textArray(batch.outdated.map(\.sku))
        let locked = try ShelfLocks.lockProductsAndShelves(of: skus, store, connection)
        let products: [KeyedProduct] = try connection.query(SortKeyStatements.texts, [.int4(store), skus]) {
            try $0.map { row in
                (try row.text(0), SortKeys(name: try row.text(1), brand: try row.textOrNil(2), collator))
            }
        }
        try locked.check(found: products.count)
        try write(products, of: store, connection)
        if scope == .all {
            let changes = try connection.query(PlacementStatements.ofProducts, [.int4(store), skus]) {
                try ShelfChanges($0)
            }
            try changes.recordAndBump(in: store, connection)
        }
        return (batch.count, batch.outdated.count, batch.last)
    }

    /// Returns the language of a store, which stays until the transaction ends.
    private static func lockedLanguage(of store: Int32, _ connection: isolated PostgresConnection) throws -> String {
        try connection.executeDeferred(ShelfStatements.lockStoreAgainstDeletion, [.int4(store)])
        return try connection.query(SortKeyStatements.language, [.int4(store)]) { try $0.first { try $0.text(0) } }
            ?? LanguageCollator.root
    }

    /// Reads the next products of a store, and returns the products whose stored keys differ from the keys of their texts. Also returns the
    /// number of all read products, and the last SKU; nil at the end.
    private static func outdatedProducts(
        of store: Int32,
        after last: String,
        _ collator: LanguageCollator,
        _ connection: isolated PostgresConnection
    ) throws -> (outdated: [KeyedProduct], count: Int, last: String?) {
        let scope: [PostgresValue] = [.int4(store), .text(last), .int4(Int32(batchSize))]
        return try connection.query(SortKeyStatements.productsAfter, scope) { rows in
            var (outdated, end): ([KeyedProduct], String?) = ([], nil)
            try rows.forEach { row in
                let (sku, name, brand) = (try row.text(0), try row.text(1), try row.textOrNil(2))
                let keys = SortKeys(name: name, brand: brand, collator)
                end = sku
                if try row.byteaOrNil(3) != keys.name || row.byteaOrNil(4) != keys.brand {
                    outdated.append((sku, keys))
                }
            }
            return (outdated, rows.count, end)
        }
    }

    private static func write(
        _ products: [KeyedProduct],
        of store: Int32,
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            SortKeyStatements.write,
            [
                .int4(store), .textArray(products.map(\.sku)), .byteaArray(products.map(\.keys.name)),
                .byteaArray(products.map(\.keys.brand)),
            ]
        )
    }

    // MARK: - Titles of shelves

    /// Computes the keys of a store's shelves; returns how many changed.
    private static func computeTitles(of store: Int32, _ connection: isolated PostgresConnection) throws -> Int {
        // Titles change only with this lock, and other writers lock shelves in the same order.
        try connection.executeDeferred(ShelfStatements.lockStore, [.int4(store)])
        try connection.execute(ShelfStatements.lockAll, [.int4(store)])
        let collator = LanguageCollator.of(try lockedLanguage(of: store, connection))
        let (changed, hadKeys) = try writeTitles(of: store, collator, connection)
        // First keys are those of a migration: no server lists shelves by them yet.
        if hadKeys { try connection.execute(ShelfStatements.bumpStore, [.int4(store)]) }
        return changed
    }

    /// Writes the keys of a store's shelves; returns how many changed, and whether one of these had a key.
    private static func writeTitles(
        of store: Int32,
        _ collator: LanguageCollator,
        _ connection: isolated PostgresConnection
    ) throws -> (changed: Int, hadKeys: Bool) {
        var hadKeys = false
        let outdated = try connection.query(SortKeyStatements.titles, [.int4(store)]) { rows in
            var outdated: [(id: Int64, key: [UInt8])] = []
            try rows.forEach { row in
                let (key, old) = (collator.key(try row.text(1)), try row.byteaOrNil(2))
                guard old != key else { return }
                outdated.append((Int64(try row.int4(0)), key))
                if old != nil { hadKeys = true }
            }
            return outdated
        }
        guard !outdated.isEmpty else { return (0, false) }
        let changed = try connection.execute(
            SortKeyStatements.writeTitles,
            [.int4(store), .int8Array(outdated.map(\.id)), .byteaArray(outdated.map(\.key))]
        )
        return (changed, hadKeys)
    }
}
