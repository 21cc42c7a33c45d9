/// A page of a store's products, ordered by SKU.
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
