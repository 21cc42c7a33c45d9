package import Catalog
package import JSON

/// The context of product responses: the store's currency and unit prices, and the day that popularity is scaled to.
package struct ProductPresentation: Sendable {
    package let store: Store
    package let day: Int

    package init(store: Store, day: Int = Timestamp.now().day) {
        self.store = store
        self.day = day
    }

    /// Writes a product in the format of responses.
    ///
    /// - Parameters:
    ///   - shelves: the product's shelves, if the response lists them.
    ///   - card: what the product represents; nil unless groups are collapsed.
    package func write(
        _ product: Product,
        shelves: [CatalogKey]? = nil,
        card: GroupCard? = nil,
        to json: inout JSONWriter
    ) {
        json.object { json in
            for field in ProductField.allCases { field.write(product, self, shelves: shelves, to: &json) }
            card?.write(to: &json)
        }
    }

    /// Returns a product in the format of responses, without its popularity, which changes with the day.
    func fragment(_ product: Product) -> ProductFragments.Fragment {
        var json = JSONWriter()
        var gap = 0
        json.object { json in
            for field in ProductField.allCases {
                guard case .popularity = field else {
                    field.write(product, self, shelves: nil, to: &json)
                    continue
                }
                json.key("popularity")
                gap = json.gap()
            }
        }
        return ProductFragments.Fragment(
            bytes: json.bytes,
            gap: gap,
            modifiedAt: product.modifiedAt,
            currency: store.currency,
            unitPricing: store.unitPricing
        )
    }

    /// The unit price as shown; nil if it is unknown.
    func unitPrice(_ product: Product) -> UnitPriceDisplay? {
        store.unitPricing.display(priceMinor: product.priceMinor, size: product.size, currency: store.currency)
    }

    /// The day that scores are relative to, as a date.
    var scoreDate: String { Timestamp.date(ofDay: store.scoreDay(on: day)) }

    /// The day's score, rounded to the six digits that its stored logarithm guarantees.
    package func score(_ popularity: Popularity) -> Double {
        let score = popularity.score(day: day, count: store.lastCount)
        guard score >= 1e-6 else { return 0 }
        var unit = 1e-6
        while score / unit >= 1e6 { unit *= 10 }
        let rounded = (score / unit).rounded()
        return unit < 1 ? rounded / (1 / unit).rounded() : rounded * unit
    }
}

extension JSONWriter {
    mutating func field(_ name: StaticString, _ size: Size?) {
        guard let size else { return field(name, json: "null") }
        object(name) { json in
            json.field("amount", size.amount.description)
            json.field("unit", size.unit.rawValue)
            json.field("packs", size.packs)
            json.field("drained", size.drained?.description)
            json.field("approximate", size.isApproximate)
        }
    }

    mutating func field(_ name: StaticString, _ price: UnitPriceDisplay?) {
        guard let price else { return field(name, json: "null") }
        object(name) { json in
            json.field("value", price.value)
            json.field("per", price.per)
        }
    }
}

extension PlacedProduct {
    /// The product with its shelves, as the API returns it.
    package var json: [UInt8] {
        let presentation = ProductPresentation(store: store)
        return JSONWriter.document { presentation.write(product, shelves: shelves, to: &$0) }
    }
}
