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
