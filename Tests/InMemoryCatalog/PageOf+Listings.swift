internal import Catalog

extension PageOf {
    /// Creates a page from up to `limit + 1` listings; the extra one shows that there is a next page.
    ///
    /// - Parameter matches: the number of products that match the filter.
    init(
        _ planned: PlannedPage,
        listings: [Listing],
        into items: Items,
        matches: Int
    ) {
        let plan = planned.plan
        let shown = listings.prefix(plan.limit)
        var items = items
        for listing in shown { items.add(listing.product) }
        let last = listings.count > plan.limit ? shown.last : nil
        let next = last.map { listing in
            plan.cursor(
                at: listing.product.sku,
                listing.product.name,
                plan.sort.terms.map { $0.key.value(of: listing) },
                isSoldOut: listing.isSoldOut
            )
        }
        self.init(planned, items, next: next, matches: matches)
    }
}
