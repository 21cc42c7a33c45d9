internal import Catalog
internal import Collation
package import LibPQ

/// Computes the sort keys of stored products again, in batches, while servers run.
///
/// Keys that are right are not written, so an interrupted run is repeated at little cost.
package struct Recollation: Sendable {
    /// The number of products that are compared in one transaction. Writers of their shelves wait for it if their keys change.
    private static let batchSize = 1000

    private let pool: PostgresPool

    package init(_ pool: PostgresPool) { self.pool = pool }

    /// Computes all keys, and records the version of the collator that all of them have then.
    ///
    /// - Parameter onProgress: called after each batch with the number of products so far.
    /// - Returns: the number of products whose keys changed.
    /// - Throws: kind `exhausted` if a migration runs.
    /// - Complexity: O(products).
    package func run(onProgress: (Int) -> Void = { _ in }) async throws -> Int {
        try await Migrator(pool).alone { try await computeAll(tellsServers: true, onProgress) }
    }

    /// Computes the first keys, in a migration, which has excluded others. No server reads them yet.
    func computeFirst(_ onProgress: (Int) -> Void) async throws -> Int {
        try await computeAll(tellsServers: false, onProgress)
    }

    /// - Parameter tellsServers: whether the versions of changed shelves are raised.
    private func computeAll(tellsServers: Bool, _ onProgress: (Int) -> Void) async throws -> Int {
        let collator = try await pool.perform { try Self.collator($0) }
        let stores = try await pool.perform {
            try $0.query(SortKeyStatements.stores) { try $0.map { try $0.int4(0) } }
        }
        var (read, changed) = (0, 0)
        for store in stores {
            var last = ""
            while true {
                let after = last
                let batch = try await pool.transaction {
                    try Self.computeBatch(of: store, after: after, collator, tellsServers: tellsServers, $0)
                }
                guard let end = batch.last else { break }
                last = end
                read += batch.count
                changed += batch.changed
                onProgress(read)
            }
        }
        let version = collator.version
        try await pool.transaction { try $0.execute(SortKeyStatements.setVersion, [.text(version)]) }
        return changed
    }

    /// Returns the collator of the deployment.
    ///
    /// - Throws: kind `decoding` without a collation, or with one that ICU cannot open.
    static func collator(_ connection: isolated PostgresConnection) throws -> LanguageCollator {
        let locale = try connection.query(SortKeyStatements.locale) { try $0.first { try $0.textOrNil(0) } ?? nil }
        guard let locale, let collator = LanguageCollator(locale, comparesDecimals: false) else {
            throw PostgresError(.decoding, "the collation “catalog” has no valid locale: \(locale ?? "none")")
        }
        return collator
    }

    /// Returns the version of the collator that computed the keys of all products; nil if none has.
    static func version(_ connection: isolated PostgresConnection) throws -> String? {
        try connection.query(SortKeyStatements.version) { try $0.first { try $0.textOrNil(0) } ?? nil }
    }

    static func warning(stored: String?, own: String) -> String {
        """
        sort keys were computed by collator \(stored ?? "none"), but this program has \(own): names and brands may be missorted
        """
    }

    /// The command that computes all keys again.
    static let remedy = "aisle db recollate"

    /// Computes the keys of the next products of a store.
    ///
    /// - Returns: their number, how many keys changed, and the last product; nil at the end.
    private static func computeBatch(
        of store: Int32,
        after last: String,
        _ collator: LanguageCollator,
        tellsServers: Bool,
        _ connection: isolated PostgresConnection
    ) throws -> (count: Int, changed: Int, last: String?) {
        let scope: [PostgresValue] = [.int4(store), .text(last), .int4(Int32(batchSize))]
        let rows = try connection.query(SortKeyStatements.productsAfter, scope) { rows in
            try rows.map { row in
                let keys = SortKeys(name: try row.text(1), brand: try row.textOrNil(2), collator)
                let isRight = try row.byteaOrNil(3) == keys.name && row.byteaOrNil(4) == keys.brand
                return (sku: try row.text(0), isRight: isRight)
            }
        }
        let outdated = rows.filter { !$0.isRight }.map(\.sku)
        if !outdated.isEmpty {
            try write(outdated, of: store, collator, tellsServers: tellsServers, connection)
        }
        return (rows.count, outdated.count, rows.last?.sku)
    }

    /// Writes the keys of products, which may have other names since they were read.
    private static func write(
        _ skus: [String],
        of store: Int32,
        _ collator: LanguageCollator,
        tellsServers: Bool,
        _ connection: isolated PostgresConnection
    ) throws {
        let scope: [PostgresValue] = [.int4(store), .textArray(skus)]
        let locked = try ShelfLocks.lockShelves(of: .textArray(skus), store, connection)
        let products = try connection.query(SortKeyStatements.texts, scope) {
            try $0.map { row in
                (try row.text(0), SortKeys(name: try row.text(1), brand: try row.textOrNil(2), collator))
            }
        }
        try locked.check(found: products.count)
        try connection.execute(
            SortKeyStatements.write,
            [
                .int4(store), .textArray(products.map(\.0)), .byteaArray(products.map(\.1.name)),
                .byteaArray(products.map(\.1.brand)),
            ]
        )
        guard tellsServers else { return }
        let changes = try connection.query(PlacementStatements.ofProducts, scope) { try ShelfChanges($0) }
        try ShelfLocks.bump(changes, store, connection)
    }
}
