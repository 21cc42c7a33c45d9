/// A page of a shelf, with its products.
package typealias ShelfPage = PageOf<[Product]>

/// A page of a shelf.
package struct PageOf<Items: PageItems>: Sendable {
    package let planned: PlannedPage
    package let items: Items
    /// The cursor of the next page; nil on the last page.
    package let next: Cursor?
    /// The requested facets.
    package var facets: Facets?

    package var head: ShelfHead { planned.basis.head }
    package var plan: PagePlan { planned.plan }

    package init(_ planned: PlannedPage, _ items: Items, next: Cursor?) {
        self.planned = planned
        self.items = items
        self.next = next
    }

    /// Creates a page from up to `limit + 1` listings; the extra one shows that there is a next page.
    package init(_ planned: PlannedPage, scope: String, listings: [Listing], into items: Items) {
        let plan = planned.plan
        let shown = listings.prefix(plan.limit)
        var items = items
        for listing in shown { items.add(listing.product) }
        let next = listings.count > plan.limit ? shown.last.map { plan.cursor(at: $0, scope: scope) } : nil
        self.init(planned, items, next: next)
    }
}

extension ShelfPage {
    package var products: [Product] { items }
}
