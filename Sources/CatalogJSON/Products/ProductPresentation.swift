package import Catalog

/// What shows a store's products: its currency, its unit prices, and the day to which popularity is scaled.
package struct ProductPresentation: Sendable {
    package let store: Store
    package let day: Int

    package init(store: Store, day: Int = Timestamp.now().day) {
        self.store = store
        self.day = day
    }

    /// Writes a product as every answer shows it.
    ///
    /// - Parameter shelves: the shelves it stands on, where the answer tells them.
    package func write(_ product: Product, shelves: [CatalogKey]? = nil, to json: inout JSONText) {
        json.object { json in
            json.field("sku", product.sku.text)
            json.field("name", product.name)
            json.field("brand", product.brand)
            json.field("price_minor", product.priceMinor)
            json.field("currency", store.currency.code)
            json.field("regular_price_minor", product.regularPriceMinor)
            if let size = product.size {
                json.object("size") { json in
                    json.field("amount", size.amount.description)
                    json.field("unit", size.unit.rawValue)
                    json.field("packs", size.packs)
                    json.field("drained", size.drained?.description)
                    json.field("approximate", size.isApproximate)
                }
            } else {
                json.field("size", json: "null")
            }
            if let price = store.unitPricing.display(
                priceMinor: product.priceMinor,
                size: product.size,
                currency: store.currency
            ) {
                json.object("unit_price") { json in
                    json.field("value", price.value)
                    json.field("per", price.per)
                }
            } else {
                json.field("unit_price", json: "null")
            }
            json.field("barcode", product.barcode)
            json.field("image_url", product.imageURL)
            json.field("attributes", json: product.attributes)
            json.field("popularity", score(product))
            json.field("in_stock", product.inStock)
            json.array("tags", product.tags) { $0.string($1) }
            if let shelves {
                json.field("as_of", Timestamp.date(ofDay: store.scoreDay(on: day)))
                json.array("shelves", shelves) { $0.string($1.text) }
            }
            json.field("created_at", product.createdAt.rfc3339)
            json.field("modified_at", product.modifiedAt.rfc3339)
        }
    }

    /// The score of the day, to the six digits that the stored logarithm tells surely.
    package func score(_ product: Product) -> Double {
        let score = product.popularity.score(day: day, count: store.counted)
        guard score >= 1e-6 else { return 0 }
        var unit = 1e-6
        while score / unit >= 1e6 { unit *= 10 }
        let rounded = (score / unit).rounded()
        return unit < 1 ? rounded / (1 / unit).rounded() : rounded * unit
    }
}
