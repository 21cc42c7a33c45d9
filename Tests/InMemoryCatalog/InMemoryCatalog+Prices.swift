package import Catalog
internal import CatalogJSON
extension InMemoryCatalog {
    package func add(
        _ purchases: [Purchase],
        to store: CatalogKey,
        once call: IdempotentCall<PurchaseOutcome>?
    ) async throws(CatalogError) -> PurchaseOutcome {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            if let outcome: PurchaseOutcome = try content.responses.known(call) { return outcome }
            var outcome = PurchaseOutcome()
            for purchase in purchases {
                guard
                    content.purchases.updateValue(
                        purchase,
                        forKey: UniqueID(purchase.eventID)?.text ?? purchase.eventID
                    ) == nil
                else {
                    outcome.repeated += 1
                    continue
                }
                if content.products[purchase.sku] != nil {
                    outcome.accepted += 1
                } else {
                    outcome.unknown += 1
                    outcome.unknownSKUs.insert(purchase.sku.text)
                }
            }
            content.responses.record(outcome, call)
            content.record(.purchases(outcome), now)
            return outcome
        }
    }

    package func shelves(of skus: [SKU], in store: CatalogKey) async throws(CatalogError) -> [CatalogKey] {
        try read(store) { content in
            content.shelves.filter { !$0.value.isRemoved && !$0.value.placed.isDisjoint(with: skus) }.map(\.key)
                .sorted { $0.text < $1.text }
        }
    }

    package func setPrices(
        _ prices: [PriceChange],
        in store: CatalogKey,
        pricedIn currency: Currency?,
        once call: IdempotentCall<PriceOutcome>?
    ) async throws(CatalogError) -> PriceOutcome {
        try PriceChange.check(prices)
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            if let outcome: PriceOutcome = try content.responses.known(call) { return outcome }
            if let currency, currency != content.store.currency { throw .currencyChanged(content.store) }
            if let stranger = prices.first(where: { content.products[$0.sku] == nil }) {
                throw PriceChange.unknown(stranger.sku)
            }
            var outcome = PriceOutcome()
            var revisions: [PriceRevision] = []
            for price in prices {
                var product = content.products[price.sku]!
                let old = product
                product.prices = price.applied(to: old.prices)
                guard product != old else {
                    outcome.unchanged += 1
                    continue
                }
                product.modifiedAt = now
                content.products[price.sku] = product
                outcome.changed += 1
                revisions.append(PriceRevision(price.sku, old: old.prices, new: product.prices))
                for (key, shelf) in content.shelves where shelf.placed.contains(price.sku) {
                    outcome.shelves.insert(key)
                }
            }
            for key in outcome.shelves { content.shelves[key]!.version += 1 }
            content.record(.prices(revisions), now)
            content.responses.record(outcome, call)
            return outcome
        }
    }
}
