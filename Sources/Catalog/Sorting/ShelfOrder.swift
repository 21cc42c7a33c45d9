/// The order of a shelf's products, optionally filtered; ids only.
package struct ShelfOrder: Sendable {
    package let head: ShelfHead
    package let view: ResolvedView
    package let ids: [String]

    package init(head: ShelfHead, view: ResolvedView, ids: [String]) {
        self.head = head
        self.view = view
        self.ids = ids
    }

    package var sort: Sort { view.sort }
    package var source: SortSource { view.source }
}
