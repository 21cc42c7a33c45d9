/// The products of a page, in the form that its reader needs.
package protocol PageItems: Sendable {
    /// Adds a product by its key, if the receiver already has this state of it.
    ///
    /// - Parameters:
    ///   - modifiedAt: identifies the product's state, apart from its popularity.
    /// - Returns: false if the receiver needs the whole product; it was not added.
    mutating func addKnown(_ sku: SKU, modifiedAt: Timestamp, popularity: Popularity) -> Bool
    /// Adds a product.
    mutating func add(_ product: Product)
}

extension [Product]: PageItems {
    package func addKnown(_ sku: SKU, modifiedAt: Timestamp, popularity: Popularity) -> Bool { false }
    package mutating func add(_ product: Product) { append(product) }
}
