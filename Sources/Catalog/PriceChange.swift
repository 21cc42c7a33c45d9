/// A new price of a product.
package struct PriceChange: Sendable, Hashable {
    package var sku: SKU
    /// nil where it has none.
    package var priceMinor: Int64?
    /// nil leaves the crossed-out price as it is; a nil inside takes it away.
    package var regularPriceMinor: Int64??

    package init(sku: SKU, priceMinor: Int64?, regularPriceMinor: Int64?? = nil) {
        self.sku = sku
        self.priceMinor = priceMinor
        self.regularPriceMinor = regularPriceMinor
    }

    /// The most changes of one request.
    package static let countBound = 10_000

    /// Reads the changes of a body, an array; all of them, or none.
    package static func list(body: JSONValue?) throws(CatalogError) -> [PriceChange] {
        guard case .array(let values)? = body else {
            throw .malformed(parameter: nil, detail: "the body must be an array of prices")
        }
        let columns = ["sku", "price_minor", "regular_price_minor"]
        let changes = try values.rows(
            bound: countBound,
            columns: columns,
            numbers: ["price_minor", "regular_price_minor"]
        ) { row throws(ImportRejection) in
            guard row.has("price_minor") else {
                throw row.reject("price_minor", "is missing; null stands for no price")
            }
            return PriceChange(
                sku: try row.sku(),
                priceMinor: try minor("price_minor", row),
                regularPriceMinor: row.has("regular_price_minor") ? .some(try minor("regular_price_minor", row)) : nil
            )
        }
        try checkRepeats(changes)
        return changes
    }

    /// - Throws: `unprocessable`, naming a product that is there twice.
    package static func checkRepeats(_ changes: [PriceChange]) throws(CatalogError) {
        var seen: Set<SKU> = []
        for change in changes where !seen.insert(change.sku).inserted {
            throw .unprocessable(field: "sku", detail: "product “\(change.sku)” is there more than once")
        }
    }

    package static func unknown(_ sku: SKU) -> CatalogError {
        .unprocessable(field: "sku", detail: "the store has no product “\(sku)”; no price was changed")
    }

    private static func minor(_ column: String, _ row: FieldRow) throws(ImportRejection) -> Int64? {
        guard let text = row.text(column) else { return nil }
        guard let value = Int64(text), value >= 0, value < Product.priceBound else {
            throw row.reject(column, "must be a whole number of minor units, 0 to 10^12 − 1")
        }
        return value
    }
}

/// What became of price changes.
package struct PriceOutcome: Sendable, Hashable {
    /// Products whose price is another now.
    package var changed = 0
    /// Products that had that price already.
    package var unchanged = 0
    /// The shelves that changed.
    package var shelves: Set<CatalogKey> = []

    package init() {}

    package var json: [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("changed", changed)
            json.field("unchanged", unchanged)
            json.array("shelves", shelves.map(\.text).sorted()) { $0.string($1) }
        }
        return json.bytes
    }
}
