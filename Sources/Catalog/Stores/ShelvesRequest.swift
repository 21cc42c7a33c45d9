/// A request for a page of a store's shelves.
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

    /// The listing that a cursor of the request belongs to.
    ///
    /// - Parameter language: that of the store.
    package func scope(in language: String) -> String { "shelves/\(store) \(language)" }
}
