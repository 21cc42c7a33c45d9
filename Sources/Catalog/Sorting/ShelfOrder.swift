/// The order of a shelf's products, optionally filtered; ids only.
package struct ShelfOrder: Sendable {
    package let head: ShelfHead
    package let view: ResolvedView
    package let list: OrderedIDs

    package init(head: ShelfHead, view: ResolvedView, list: OrderedIDs) {
        self.head = head
        self.view = view
        self.list = list
    }

    package init(head: ShelfHead, view: ResolvedView, ids: [String]) {
        self.init(head: head, view: view, list: OrderedIDs(ids))
    }

    /// The ids as an array.
    ///
    /// - Complexity: O(*n*).
    package var ids: [String] { Array(list) }

    package var sort: Sort { view.sort }
    package var source: SortSource { view.source }
}
