/// The order of a shelf's products, optionally filtered; ids only.
package struct ShelfOrder: Sendable {
    package let head: ShelfHead
    /// The shelves of an order with descendants; nil for an order of one shelf.
    package let union: ShelfUnion?
    package let view: ResolvedView
    package let list: OrderedIDs

    package init(head: ShelfHead, union: ShelfUnion? = nil, view: ResolvedView, list: OrderedIDs) {
        self.head = head
        self.union = union
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

    /// The version of the shelf; nil for several shelves.
    package var version: Int64? { union == nil ? head.state.version : nil }

    package var sort: Sort { view.sort }
    package var source: SortSource { view.source }
}
