/// What a store's shelves are sorted by.
package enum ShelfSort: String, CaseIterable, Sendable, Hashable {
    case position, name
    case nameDescending = "-name"
    case modified
    case modifiedDescending = "-modified"
}

/// What a client asks of a store's shelves.
package struct ShelvesRequest: Sendable {
    package var store: CatalogKey
    package var sort: ShelfSort
    package var limit: Int
    package var after: Cursor?

    package init(
        store: CatalogKey,
        sort: ShelfSort = .position,
        limit: Int = PageRequest.limits.upperBound,
        after: Cursor? = nil
    ) {
        self.store = store
        self.sort = sort
        self.limit = limit
        self.after = after
    }

    package var scope: String { "shelves/\(store)" }
}

/// A page of a store's shelves.
package struct ShelvesPage: Sendable {
    package let shelves: [ShelfState]
    package let next: Cursor?

    package init(shelves: [ShelfState], next: Cursor?) {
        self.shelves = shelves
        self.next = next
    }
}

/// A page of all of a store's products, by sku.
package struct ProductsPage: Sendable {
    package let store: Store
    package let products: [Product]
    package let next: Cursor?

    package init(store: Store, products: [Product], next: Cursor?) {
        self.store = store
        self.products = products
        self.next = next
    }
}

/// A product and the shelves that it stands on.
package struct PlacedProduct: Sendable {
    package let store: Store
    package let product: Product
    package let shelves: [CatalogKey]

    package init(store: Store, product: Product, shelves: [CatalogKey]) {
        self.store = store
        self.product = product
        self.shelves = shelves
    }
}

/// The order of a shelf, or of what a filter leaves of it; ids only.
package struct ShelfOrder: Sendable {
    package let head: ShelfHead
    package let view: SettledView
    package let ids: [String]

    package init(head: ShelfHead, view: SettledView, ids: [String]) {
        self.head = head
        self.view = view
        self.ids = ids
    }

    package var sort: Sort { view.sort }
    package var source: SortSource { view.source }
}
