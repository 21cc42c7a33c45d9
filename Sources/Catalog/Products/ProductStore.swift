/// The products of a store, and the shelves on which they are placed.
package protocol ProductStore: Sendable {
    func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct
    /// Returns the existing products among the given ones, in any order.
    func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage
    /// Returns a page of all products, ordered by SKU.
    func products(_ store: CatalogKey, after: Cursor?, limit: Int) async throws(CatalogError) -> ProductsPage
    /// Creates or replaces a product. Its creation time and popularity stay; its modification time is now if anything
    /// changed.
    ///
    /// - Parameters:
    ///   - currency: the currency of its prices, which must still be the store's; nil if that is certain.
    ///   - expected: the modification time that the product must still have; nil for any.
    /// - Returns: whether it was created.
    /// - Throws: `conflict` if it has another modification time.
    func put(
        _ product: Product,
        in store: CatalogKey,
        pricedIn currency: Currency?,
        replacing expected: Timestamp?
    ) async throws(CatalogError) -> Bool
    func remove(product: SKU, from store: CatalogKey) async throws(CatalogError)
    /// Places a product on a shelf: at the end of the manual order, or where it was before it was removed.
    ///
    /// - Returns: whether the product was newly placed.
    func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool
    func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError)
}

extension ProductStore {
    package func put(_ product: Product, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await put(product, in: store, pricedIn: nil, replacing: nil)
    }

    /// Returns the listing that a cursor of a store's products belongs to.
    package static func productsScope(_ store: CatalogKey) -> String { "products/\(store)" }
}
