/// The number of products at a price.
package struct PriceCount: Sendable, Hashable {
    package let minor: Int64
    package let count: Int

    package init(_ minor: Int64, _ count: Int) {
        self.minor = minor
        self.count = count
    }
}
