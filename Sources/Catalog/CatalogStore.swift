internal import Synchronization

/// Where a catalog is kept. `InMemoryCatalog` specifies it, `PostgresCatalog` serves it; one conformance suite holds for
/// both.
package protocol CatalogStore: SettingsStore {
    func stores() async throws(CatalogError) -> [Store]
    /// - Throws: `notFound`.
    func store(_ key: CatalogKey) async throws(CatalogError) -> Store
    /// - Throws: `notFound`, where there is no such store.
    func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage
    /// - Throws: `notFound`, for the store or the shelf.
    func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead
    /// A page of a shelf's products, and the shelf's settings, of one moment.
    ///
    /// - Parameter isKept: whether the caller has kept the answer to a plan, under its tag: it is then not made again.
    func page(
        _ request: PageRequest,
        unless isKept: (PagePlan, _ tag: String) -> Bool
    ) async throws(CatalogError) -> PageAnswer
    /// Reads a shelf's ids in several orders, all of one moment.
    ///
    /// - Parameters:
    ///   - views: what is shown, and in which order.
    ///   - remembered: what comes before the shelf's own.
    ///   - limit: only the first so many of each; nil for all.
    ///   - body: gets the orders as the views were given, and what reads products by id, at the same moment.
    func withOrders<T: Sendable>(
        of shelf: CatalogKey,
        in store: CatalogKey,
        by views: [ShelfView],
        remembering remembered: RememberedViews,
        first limit: Int?,
        _ body: @escaping @Sendable ([ShelfOrder], (_ ids: [String]) throws -> [Product]) throws -> T
    ) async throws(CatalogError) -> T
    func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct
    /// Those of the products that exist, in any order.
    func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage
    /// All products by sku, behind one of them.
    func products(_ store: CatalogKey, after: Cursor?, limit: Int) async throws(CatalogError) -> ProductsPage

    /// Creates or replaces; true where it was created.
    func put(_ store: Store) async throws(CatalogError) -> Bool
    /// - Parameter expected: the version that the shelf must still have, where it matters.
    /// - Throws: `conflict` where it has another.
    func put(_ shelf: Shelf, in store: CatalogKey, replacing expected: Int64?) async throws(CatalogError) -> Bool
    /// Creates or replaces. The creation time and the popularity stay; the modification time is now, if anything changed.
    ///
    /// - Parameters:
    ///   - currency: the currency of its prices, which must still be the store's; nil where that is sure.
    ///   - expected: the modification time that the product must still have, where it matters.
    /// - Throws: `conflict` where it has another.
    func put(
        _ product: Product,
        in store: CatalogKey,
        pricedIn currency: Currency?,
        replacing expected: Timestamp?
    ) async throws(CatalogError) -> Bool
    /// Changes a shelf's manual order; a request that was answered before is answered with that answer again.
    ///
    /// - Parameters:
    ///   - call: nil for a request without a key.
    ///   - render: makes the answer, which is recorded together with the change.
    /// - Throws: `stale`, `keyReused`, `conflict` (also while the same call is under way), and as `OrderEdit.check`.
    func editOrder(
        _ request: OrderEditRequest,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (OrderEditOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer
    /// The first answer under a key of a call that writes nothing by itself; nil for a new one.
    ///
    /// - Parameter store: nil for a call about no store.
    func recall(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstAnswer?
    /// Keeps the answer to such a call; the first one holds.
    func record(_ answer: RecordedAnswer, of call: IdempotentCall, in store: CatalogKey?) async throws(CatalogError)
    /// The changes of a shelf's manual order that are remembered, from the latest on.
    func orderHistory(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> [OrderChange]
    /// Moves shelves in their store's manual order.
    ///
    /// - Parameter expected: the version of that order which it must still have, where it matters.
    func moveShelves(
        _ moves: [OrderMove],
        in store: CatalogKey,
        expected: Int64?,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (OrderEditOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer
    /// Takes purchases in: each event once, however often it is told. Their popularity is counted by the next re-sort.
    func add(
        _ purchases: [Purchase],
        to store: CatalogKey,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (PurchaseOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer
    /// Sets many prices, all or none.
    ///
    /// - Parameter currency: the currency of the prices, which must still be the store's; nil where that is sure.
    /// - Throws: `unprocessable` for a product that is not there, or there twice.
    func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency?,
        once call: IdempotentCall?,
        _ render: @escaping @Sendable (PriceOutcome) -> RecordedAnswer
    ) async throws(CatalogError) -> RecordedAnswer
    func remove(product: SKU, from store: CatalogKey) async throws(CatalogError)
    func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError)
    /// Puts a product on a shelf, behind all others in the manual order, or at the place that it had there before.
    func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool
    func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError)
    /// The versions of shelves; none for one that is not there.
    func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion]
    /// What can be served now. A database of another schema is unavailable.
    func readiness() async -> Readiness
}

extension CatalogStore {
    package func page(_ request: PageRequest) async throws(CatalogError) -> PageAnswer {
        try await page(request) { _, _ in false }
    }

    /// Every product's id, in order; of those that a filter leaves.
    package func order(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ sort: Sort?,
        filter: Filter? = nil,
        remembering remembered: RememberedViews = .none
    ) async throws(CatalogError) -> ShelfOrder {
        let view = ShelfView(sort: sort, filter: filter)
        return try await withOrders(of: shelf, in: store, by: [view], remembering: remembered, first: nil) {
            orders,
            _ in orders[0]
        }
    }

    package func put(_ shelf: Shelf, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await put(shelf, in: store, replacing: nil)
    }

    package func put(_ product: Product, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await put(product, in: store, pricedIn: nil, replacing: nil)
    }

    /// Changes a manual order for a caller that needs no recorded answer.
    package func editOrder(_ request: OrderEditRequest) async throws(CatalogError) -> OrderEditOutcome {
        try await outcome { render throws(CatalogError) in
            try await editOrder(request, once: nil, render)
        }
    }

    /// The same of prices.
    package func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency? = nil
    ) async throws(CatalogError) -> PriceOutcome {
        try await outcome { render throws(CatalogError) in
            try await setPrices(prices, in: store, pricedIn: currency, once: nil, render)
        }
    }

    /// The same of purchases.
    package func add(_ purchases: [Purchase], to store: CatalogKey) async throws(CatalogError) -> PurchaseOutcome {
        try await outcome { render throws(CatalogError) in
            try await add(purchases, to: store, once: nil, render)
        }
    }

    /// What a call tells whoever renders its answer.
    private func outcome<Outcome: Sendable>(
        of call: (@escaping @Sendable (Outcome) -> RecordedAnswer) async throws(CatalogError) -> RecordedAnswer
    ) async throws(CatalogError) -> Outcome {
        let told = Mutex<Outcome?>(nil)
        _ = try await call { outcome in
            told.withLock { $0 = outcome }
            return RecordedAnswer(body: [])
        }
        guard let outcome = told.withLock({ $0 }) else { throw .fault("a call was answered without an outcome") }
        return outcome
    }

    package static func productsScope(_ store: CatalogKey) -> String { "products/\(store)" }
}
