/// A product as it stands on a shelf: what an order compares.
package struct Listing: Hashable, Sendable {
    package var product: Product
    /// Its place in the shelf's manual order, by bytes.
    package var position: [UInt8]
    /// Whether it sorts behind what is in stock.
    package var isSoldOut: Bool

    package init(product: Product, position: [UInt8], isSoldOut: Bool) {
        self.product = product
        self.position = position
        self.isSoldOut = isSoldOut
    }
}
