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
    /// The number of products that match the filter, on all pages; nil if it was not requested.
    package var total: Int?

    package var head: ShelfHead { planned.basis.head }
    package var plan: PagePlan { planned.plan }

    /// - Parameter matches: the number of products that match the filter.
    package init(_ planned: PlannedPage, _ items: Items, next: Cursor?, matches: Int) {
        self.planned = planned
        self.items = items
        self.next = next
        total = planned.plan.wantsTotal ? matches : nil
    }
}

extension ShelfPage {
    package var products: [Product] { items }
}
