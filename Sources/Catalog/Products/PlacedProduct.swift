/// A product and the shelves that it is placed on.
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
