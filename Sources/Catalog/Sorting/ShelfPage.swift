/// A page of a shelf, with its products.
package typealias ShelfPage = PageOf<[Product]>

/// A page of a shelf.
package struct PageOf<Items: PageItems>: Sendable {
    package let planned: PlannedPage
    package let items: Items
    /// The cursor of the next page; nil on the last page.
    package let next: Cursor?
    /// Whether there are fewer products than the limit although it is not the last page: the filter keeps so few that looking for
    /// more would take too long.
    package let isPartial: Bool
    /// The requested facets.
    package var facets: Facets?

    package var head: ShelfHead { planned.basis.head }
    package var plan: PagePlan { planned.plan }

    package init(_ planned: PlannedPage, _ items: Items, next: Cursor?, isPartial: Bool = false) {
        self.planned = planned
        self.items = items
        self.next = next
        self.isPartial = isPartial
    }

    /// Creates a page from up to `limit + 1` listings; the extra one shows that there is a next page.
    ///
    /// - Parameter end: the listing after which a partial page continues.
    package init(
        _ planned: PlannedPage,
        scope: String,
        listings: [Listing],
        endingAt end: Listing? = nil,
        into items: Items
    ) {
        let plan = planned.plan
        let shown = listings.prefix(plan.limit)
        var items = items
        for listing in shown { items.add(listing.product) }
        let last = listings.count > plan.limit ? shown.last : end
        let next = last.map { plan.cursor(at: $0, scope: scope) }
        self.init(planned, items, next: next, isPartial: end != nil && listings.count < plan.limit)
    }
}

extension ShelfPage {
    package var products: [Product] { items }
}
