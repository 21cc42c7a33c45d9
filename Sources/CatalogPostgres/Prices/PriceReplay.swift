package import Catalog
internal import LibPQ
package import Ordering

/// Applies days of price changes one after another, and tells what moved on the shelves that changed.
package struct PriceReplay {
    /// A shelf's order by a sort, on the day before and on the day.
    package struct Step: Sendable {
        package let shelf: CatalogKey
        package let sort: Sort
        package let old: [String]
        package let new: [String]
        package let diff: MoveDiff

        /// How many products moved.
        package var moved: Int { diff.moves.count }
    }

    private let catalog: PostgresCatalog
    private let store: CatalogKey
    private let sorts: [Sort]
    /// The orders of shelves as they were left.
    private var orders: [CatalogKey: [[String]]] = [:]

    /// - Parameter sorts: those whose moves are told.
    package init(_ catalog: PostgresCatalog, store: CatalogKey, sorts: [Sort]) {
        self.catalog = catalog
        self.store = store
        self.sorts = sorts
    }

    /// Applies a day's changes in one transaction.
    ///
    /// - Parameter currency: the prices', which must still be the store's; nil where that is sure.
    /// - Returns: what became of them, and a step for each shelf that changed and each sort.
    package mutating func play(
        _ prices: [PriceChange],
        pricedIn currency: Currency? = nil
    ) async throws(CatalogError) -> (outcome: PriceOutcome, steps: [Step]) {
        for shelf in sorts.isEmpty ? [] : try await catalog.shelves(of: prices.map(\.sku), in: store)
        where orders[shelf] == nil {
            orders[shelf] = try await read(shelf)
        }
        let outcome = try await catalog.setPrices(prices, in: store, pricedIn: currency)
        var steps: [Step] = []
        for shelf in outcome.shelves.sorted(by: { $0.text < $1.text }) where !sorts.isEmpty {
            let (old, new) = (orders[shelf] ?? [], try await read(shelf))
            for (index, sort) in sorts.enumerated() where index < old.count {
                let diff = MoveDiff(from: old[index], to: new[index])
                steps.append(Step(shelf: shelf, sort: sort, old: old[index], new: new[index], diff: diff))
            }
            orders[shelf] = new
        }
        return (outcome, steps)
    }

    private func read(_ shelf: CatalogKey) async throws(CatalogError) -> [[String]] {
        try await catalog.withOrders(
            of: shelf,
            in: store,
            by: sorts.map { ShelfView(sort: $0) },
            remembering: .none,
            first: nil
        ) { orders, _ in
            orders.map(\.ids)
        }
    }
}

extension PostgresCatalog {
    /// The shelves that some products stand on.
    package func shelves(of skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> [CatalogKey] {
        try await mappingErrors {
            let storeID = try await readStore(store).id
            return try await pool.perform(within: .seconds(30)) {
                try $0.query(
                    """
                    SELECT h.key FROM shelf h WHERE h.store_id = $1 AND h.shelf_id IN (
                        SELECT p.shelf_id FROM placement p WHERE p.store_id = $1 AND p.sku = ANY ($2)) ORDER BY h.key
                    """,
                    [.int4(storeID), .textArray(skus.map(\.text))]
                ) { try $0.map { CatalogKey(try $0.text(0))! } }
            }
        }
    }

    /// Those of some products that the store has.
    package func known(_ skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> Set<SKU> {
        try await mappingErrors {
            let storeID = try await readStore(store).id
            return try await pool.perform(within: .seconds(30)) {
                try Self.known(.textArray(skus.map(\.text)), storeID, $0)
            }
        }
    }
}
