internal import AisleDiff

extension CatalogStore {
    /// The diff from what a client shows to a shelf's order now. Both orders, and the products that enter a window, are
    /// read at one moment.
    ///
    /// - Throws: as `OrderDiff`; `malformed` for a limit below 1; `notFound`.
    package func diff(_ request: DiffRequest) async throws(CatalogError) -> OrderDiff {
        if let limit = request.limit, !(1...DiffRequest.windowBound).contains(limit) {
            throw .malformed(parameter: "limit", detail: "limit must be from 1 to \(DiffRequest.windowBound)")
        }
        // All of the list, not only what is in the window.
        if case .list(let ids) = request.from, request.limit != nil { try OrderDiff.check(ids, "from") }
        var views = [request.to]
        if case .view(let view) = request.from { views.append(view) }
        let start = ContinuousClock.now
        return try await withOrders(
            of: request.shelf,
            in: request.store,
            by: views,
            remembering: request.remembered,
            first: request.limit
        ) { orders, fetch in
            let old: [String] =
                switch request.from {
                case .view: orders[1].ids
                case .list(let ids): request.limit.map { Array(ids.prefix($0)) } ?? ids
                }
            let diff = try OrderDiff(
                old: old,
                new: orders[0].ids,
                mode: request.mode,
                reached: orders[0],
                fromSort: orders.count > 1 ? orders[1].sort : nil
            )
            let carries =
                request.limit != nil && request.carriesProducts && !diff.isWholeOrder && !diff.diff.inserts.isEmpty
            let products = carries ? try fetch(diff.insertedIDs) : []
            return diff.with(products, reading: ContinuousClock.now - start - diff.comparing)
        }
    }
}
