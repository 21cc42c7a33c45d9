/// A reference to a product of any store.
package struct ProductReference: Hashable, Sendable {
    package var store: CatalogKey
    package var sku: SKU

    package init(_ store: CatalogKey, _ sku: SKU) {
        self.store = store
        self.sku = sku
    }
}
