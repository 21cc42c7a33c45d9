/// The keys of a shelf and its store.
package struct ShelfAddress: Sendable, Hashable {
    package var store: CatalogKey
    package var shelf: CatalogKey

    package init(_ store: CatalogKey, _ shelf: CatalogKey) {
        self.store = store
        self.shelf = shelf
    }
}
