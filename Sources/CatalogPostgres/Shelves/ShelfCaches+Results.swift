internal import Catalog
internal import Shelves

/// Views and facets, which are computed once for each version of a table.
extension ShelfCaches {
    /// The number of products from which a table is sorted, filtered and counted on another thread than the event loop's.
    private static let offLoopProducts = 2000
    /// The same for a shelf or a view that follows a few changes, which takes a fraction of the time.
    static let offLoopFollowedProducts = 10_000

    /// Returns a view of a shelf.
    func view(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) async -> TableView {
        let result = ResultKey(table: key, version: shelf.version, request: ViewRequest(plan))
        if let known = views[result] { return known }
        let isFollowed = shelf.steps.contains { views[result.at($0.version)] != nil }
        let limit = isFollowed ? Self.offLoopFollowedProducts : Self.offLoopProducts
        return await offLoop(if: shelf.table.count >= limit) { self.viewNow(plan, of: shelf, at: key) }
    }

    /// The same on the current thread, which is not an event loop's.
    func viewNow(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) -> TableView {
        let result = ResultKey(table: key, version: shelf.version, request: ViewRequest(plan))
        if let known = views[result] { return known }
        let view = earlierView(result, of: shelf) ?? shelf.table.view(result.request)
        views[result] = view
        fitShelves()
        return view
    }

    /// Returns a view from that of an earlier version, which leaves the memory; nil if there is none, or if too many rows have changed.
    private func earlierView(_ key: ResultKey<ViewRequest>, of shelf: ShelfSnapshot) -> TableView? {
        var changed: Set<UInt32> = []
        for step in shelf.steps {
            changed.formUnion(step.rows)
            let earlier = key.at(step.version)
            guard let view = views[earlier] else { continue }
            views[earlier] = nil
            return shelf.table.view(view, changed: Array(changed))
        }
        return nil
    }

    /// Returns the facets of a page.
    func facets(_ plan: PagePlan, of shelf: ShelfSnapshot, at key: TableKey) async -> Facets {
        let request = FacetRequest(facets: plan.facets, filter: plan.resolvedSort.filter, currency: plan.currency)
        let result = ResultKey(table: key, version: shelf.version, request: request)
        if let known = facets[result] { return known }
        return await offLoop(if: shelf.table.count >= Self.offLoopProducts) {
            if let known = self.facets[result] { return known }
            let counted = shelf.table.facets(request.facets, request.filter, in: request.currency)
            self.facets[result] = counted
            self.fitShelves()
            return counted
        }
    }
}

/// Returns the result of work, which is done on another thread than the event loop's if it takes long.
func offLoop<Value: Sendable>(if isLong: Bool, _ work: @escaping @Sendable () -> Value) async -> Value {
    guard isLong else { return work() }
    return await Task(executorPreference: globalConcurrentExecutor) { work() }.value
}

extension ShelfTable {
    /// Returns the ids of the products in the order of a sort.
    ///
    /// - Parameter head: the shelf's and the store's settings, which affect the order.
    func ids(by sort: Sort, of head: ShelfHead) -> [String] {
        let request = ViewRequest(
            sort: sort,
            dimension: head.state.comparisonDimension,
            sortsSoldOutLast: head.sortsSoldOutLast,
            currency: head.store.currency
        )
        return view(request).rows.map { sku(Int($0)).text }
    }
}

extension ViewRequest {
    init(_ plan: PagePlan) {
        self.init(
            sort: plan.sort,
            filter: plan.resolvedSort.filter,
            dimension: plan.dimension,
            sortsSoldOutLast: plan.sortsSoldOutLast,
            currency: plan.currency
        )
    }
}
