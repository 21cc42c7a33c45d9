package import Ordering

/// Applies days of price changes in sequence, and reports the moves on changed shelves.
package struct PriceReplay {
    /// A shelf's order by one sort, before and after a day's changes.
    package struct Step: Sendable {
        package let shelf: CatalogKey
        package let sort: Sort
        package let old: [String]
        package let new: [String]
        package let diff: MoveDiff

        /// The number of moved products.
        package var moved: Int { diff.moves.count }
    }

    private let catalog: CatalogStorage
    private let store: CatalogKey
    private let sorts: [Sort]
    /// The current orders of shelves.
    private var orders: [CatalogKey: [[String]]] = [:]

    /// - Parameter sorts: the sorts whose moves are reported.
    package init(_ catalog: CatalogStorage, store: CatalogKey, sorts: [Sort]) {
        self.catalog = catalog
        self.store = store
        self.sorts = sorts
    }

    /// Applies a day's changes in one transaction.
    ///
    /// - Parameter currency: the currency of the prices, which must still be the store's; nil if that is certain.
    /// - Returns: the outcome, and a step per changed shelf and sort.
    package mutating func play(
        _ prices: [PriceChange],
        pricedIn currency: Currency? = nil
    ) async throws(CatalogError) -> (outcome: PriceOutcome, steps: [Step]) {
        for shelf in sorts.isEmpty ? [] : try await catalog.prices.shelves(of: prices.map(\.sku), in: store)
        where orders[shelf] == nil {
            orders[shelf] = try await read(shelf)
        }
        let outcome = try await catalog.prices.setPrices(prices, in: store, pricedIn: currency)
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
        try await catalog.pages.orders(
            ShelfAddress(store, shelf),
            sorts.map { RequestedSort(sort: $0, collapsesGroups: false) }
        ).map(\.ids)
    }
}
