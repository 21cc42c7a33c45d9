/// A page of a shelf.
package struct ShelfPage: Sendable {
    package let planned: PlannedPage
    package let products: [Product]
    /// The cursor of the next page; nil on the last page.
    package let next: Cursor?
    /// The requested facets.
    package var facets: Facets?

    package var head: ShelfHead { planned.basis.head }
    package var plan: PagePlan { planned.plan }

    package init(_ planned: PlannedPage, products: [Product], next: Cursor?) {
        self.planned = planned
        self.products = products
        self.next = next
    }

    /// Creates a page from up to `limit + 1` listings; the extra one shows that there is a next page.
    package init(_ planned: PlannedPage, scope: String, listings: [Listing]) {
        let plan = planned.plan
        let shown = listings.prefix(plan.limit)
        let next = listings.count > plan.limit ? shown.last.map { plan.cursor(at: $0, scope: scope) } : nil
        self.init(planned, products: shown.map(\.product), next: next)
    }
}
