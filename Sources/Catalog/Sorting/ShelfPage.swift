/// A page of a shelf.
package struct ShelfPage: Sendable {
    package let head: ShelfHead
    package let plan: PagePlan
    package let products: [Product]
    /// Where the next page begins; nil on the last.
    package let next: Cursor?
    /// Those that were asked for.
    package var facets: Facets?

    package init(head: ShelfHead, plan: PagePlan, products: [Product], next: Cursor?) {
        self.head = head
        self.plan = plan
        self.products = products
        self.next = next
    }

    /// A page from up to `limit + 1` listings: the one too many tells that there is a next page.
    package init(head: ShelfHead, plan: PagePlan, scope: String, listings: [Listing]) {
        let shown = listings.prefix(plan.limit)
        let next = listings.count > plan.limit ? shown.last.map { plan.cursor(at: $0, scope: scope) } : nil
        self.init(head: head, plan: plan, products: shown.map(\.product), next: next)
    }
}
