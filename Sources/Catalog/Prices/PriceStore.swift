/// Price changes of many products at once. PUT and PATCH of a product set its price with `ProductStore.update`.
package protocol PriceStore: Sendable {
    /// Sets prices, all or none.
    ///
    /// - Parameter currency: the currency of the prices, which must still be the store's; nil if that is certain.
    /// - Throws: `unprocessable` for an unknown or duplicate product, or for a regular price without a price.
    func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency?,
        once call: IdempotentCall<PriceOutcome>?
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

/// A new price of a product.
package struct PriceChange: Sendable, Hashable {
    package var sku: SKU
    /// nil for no price.
    package var priceMinor: Int64?
    /// nil keeps the crossed-out price as long as it exceeds the price; a nested nil removes it.
    package var regularPriceMinor: Int64??

    package init(sku: SKU, priceMinor: Int64?, regularPriceMinor: Int64?? = nil) {
        self.sku = sku
        self.priceMinor = priceMinor
        self.regularPriceMinor = regularPriceMinor
    }

    /// Returns the prices of a product after the change.
    package func applied(to old: PriceRevision.Prices) -> PriceRevision.Prices {
        if let regular = regularPriceMinor { return .init(price: priceMinor, regular: regular) }
        guard let price = priceMinor, let regular = old.regular, regular > price else {
            return .init(price: priceMinor, regular: nil)
        }
        return .init(price: price, regular: regular)
    }

    /// The maximum number of changes per request.
    package static let countLimit = 10_000

    /// Checks the changes of one request.
    ///
    /// - Throws: `unprocessable` for a duplicate product, or for a regular price without a price.
    package static func check(_ changes: [PriceChange]) throws(CatalogError) {
        var seen: Set<SKU> = []
        for change in changes {
            guard seen.insert(change.sku).inserted else {
                throw .unprocessable(field: "sku", detail: "duplicate product “\(change.sku)”")
            }
            guard PriceRevision.Prices(price: change.priceMinor, regular: change.regularPriceMinor ?? nil).isValid
            else {
                throw .unprocessable(
                    field: "regular_price_minor",
                    detail: "product “\(change.sku)”: \(PriceRevision.Prices.rule)"
                )
            }
        }
    }

    package static func unknown(_ sku: SKU) -> CatalogError {
        .unprocessable(field: "sku", detail: "the store has no product “\(sku)”; no price was changed")
    }
}

/// The outcome of price changes.
package struct PriceOutcome: Sendable, Hashable {
    /// The number of products whose price changed.
    package var changed = 0
    /// The number of products that already had the price.
    package var unchanged = 0
    /// The shelves that show a changed product.
    package var shelves: Set<CatalogKey> = []

    package init() {}
}
