/// The products of a store, and the shelves on which they are placed.
package protocol ProductStore: Sendable {
    func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct
    /// Returns the existing products among the given ones, in any order.
    func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage
    /// Returns the products with a barcode, ordered by SKU; at most `barcodeLimit`.
    func products(_ store: CatalogKey, with barcode: Barcode) async throws(CatalogError) -> ProductsPage
    /// Returns a page of all products, ordered by SKU.
    func products(_ store: CatalogKey, after: Cursor?, limit: Int) async throws(CatalogError) -> ProductsPage
    /// Creates or changes a product in one transaction. Its creation time and popularity stay; its modification time is now if anything
    /// changed.
    ///
    /// - Parameter change: returns the new values of the stored product, which is nil for a new one, in its store. It may run several times.
    /// - Throws: `notFound` for the store; what `change` throws; `unprocessable` for a changed value of a declared attribute that does not
    ///   have its type.
    func update(
        _ sku: SKU,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Product?, Store) throws(CatalogError) -> Product
    ) async throws(CatalogError) -> UpdateEffect
    func remove(product: SKU, from store: CatalogKey) async throws(CatalogError)
    /// Places a product on a shelf: at the end of the manual order, or where it was before it was removed.
    ///
    /// - Returns: whether the product was newly placed.
    func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool
    func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError)
}

extension ProductStore {
    /// Creates or replaces a product, as `update` does; returns whether it was created.
    package func put(_ product: Product, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try await update(product.sku, in: store) { _, _ in product } == .created
    }

    /// The maximum number of products that a barcode returns.
    package static var barcodeLimit: Int { 100 }

    /// Returns the listing that a cursor of a store's products belongs to.
    package static func productsScope(_ store: CatalogKey) -> String { "products/\(store)" }
}

/// The effect of writing a product.
package enum UpdateEffect: Sendable { case created, changed, unchanged }

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

/// A product on a shelf, with everything that a sort compares.
package struct Listing: Hashable, Sendable {
    package var product: Product
    /// The ordering key in the shelf's manual order, compared by bytes.
    package var position: [UInt8]
    /// Whether the product sorts after available products.
    package var isSoldOut: Bool

    package init(product: Product, position: [UInt8], isSoldOut: Bool) {
        self.product = product
        self.position = position
        self.isSoldOut = isSoldOut
    }
}
