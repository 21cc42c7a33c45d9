/// Price changes of many products at once.
package protocol PriceStore: Sendable {
    /// Sets prices, all or none.
    ///
    /// - Parameter currency: the currency of the prices, which must still be the store's; nil if that is certain.
    /// - Throws: `unprocessable` for an unknown or duplicate product.
    func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency?,
        once call: IdempotentCall?
    ) async throws(CatalogError) -> PriceOutcome
    /// Returns the shelves on which products are placed, in key order.
    func shelves(of skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> [CatalogKey]
}

extension PriceStore {
    @discardableResult
    package func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency? = nil
    ) async throws(CatalogError) -> PriceOutcome {
        try await setPrices(prices, in: store, pricedIn: currency, once: nil)
    }
}
