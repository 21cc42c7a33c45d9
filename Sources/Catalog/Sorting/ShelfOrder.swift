/// The ids of a shelf's products in order, optionally filtered.
package struct ShelfOrder: Sendable {
    package let head: ShelfHead
    /// The union of shelves that the order shows; nil if it has the products of one shelf only.
    package let union: ShelfUnion?
    package let resolvedSort: ResolvedSort
    package let list: OrderedIDs
    /// The result of the search; nil without a search.
    package let search: SearchSummary?
    /// The number of products whose search index was built for the order.
    package let indexedProducts: Int

    package init(
        head: ShelfHead,
        union: ShelfUnion? = nil,
        resolvedSort: ResolvedSort,
        list: OrderedIDs,
        search: SearchSummary? = nil,
        indexedProducts: Int = 0
    ) {
        self.search = search
        self.indexedProducts = indexedProducts
        self.head = head
        self.union = union
        self.resolvedSort = resolvedSort
        self.list = list
    }

    package init(head: ShelfHead, resolvedSort: ResolvedSort, ids: [String]) {
        self.init(head: head, resolvedSort: resolvedSort, list: OrderedIDs(ids))
    }

    /// The ids as an array.
    ///
    /// - Complexity: O(*n*).
    package var ids: [String] { Array(list) }

    /// The version of the shelf; nil for several shelves.
    package var version: Int64? { union == nil ? head.state.version : nil }

    package var sort: Sort { resolvedSort.sort }
    package var source: SortSource { resolvedSort.source }
}

/// A request for the ids of all products of a shelf, in order.
package struct OrderRequest: Sendable, Hashable {
    package var address: ShelfAddress
    package var requested: RequestedSort
    /// Whether the order has the products of the shelves below, too; nil for what the shelf says.
    package var includesDescendants: Bool?
    /// The user whose remembered sort applies if none is requested.
    package var user: UserID?

    package init(address: ShelfAddress, requested: RequestedSort, user: UserID? = nil) {
        self.address = address
        self.requested = requested
        self.user = user
    }

    /// - Throws: `malformed` for the manual order of several shelves.
    package func check() throws(CatalogError) {
        if includesDescendants == true, requested.readsPositions { throw PageRequest.positionOfSeveral("sort") }
    }
}
