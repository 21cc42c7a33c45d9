/// A page of a shelf.
package struct ShelfPage: Sendable {
    package let planned: PlannedPage
    package let products: [Product]
    /// Where the next page begins; nil on the last.
    package let next: Cursor?
    /// Those that were asked for.
    package var facets: Facets?

    package var head: ShelfHead { planned.basis.head }
    package var plan: PagePlan { planned.plan }

    package init(_ planned: PlannedPage, products: [Product], next: Cursor?) {
        self.planned = planned
        self.products = products
        self.next = next
    }

    /// A page from up to `limit + 1` listings: the one too many tells that there is a next page.
    package init(_ planned: PlannedPage, scope: String, listings: [Listing]) {
        let plan = planned.plan
        let shown = listings.prefix(plan.limit)
        let next = listings.count > plan.limit ? shown.last.map { plan.cursor(at: $0, scope: scope) } : nil
        self.init(planned, products: shown.map(\.product), next: next)
    }
}
