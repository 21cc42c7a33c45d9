package import JSON
package import Catalog
internal import CatalogImport

extension PriceChange {
    /// Parses a body with an array of price changes, all or none.
    package static func list(body: JSONValue?) throws(CatalogError) -> [PriceChange] {
        guard case .array(let values)? = body else {
            throw .malformed(parameter: nil, detail: "the body must be an array of prices")
        }
        let columns = ["sku", "price_minor", "regular_price_minor"]
        let changes = try values.rows(
            limit: countLimit,
            columns: columns,
            numbers: ["price_minor", "regular_price_minor"]
        ) { row throws(ImportRejection) in
            guard row.has("price_minor") else {
                throw row.reject("price_minor", "is required; use null for no price")
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

    private static func minor(_ column: String, _ row: FieldRow) throws(ImportRejection) -> Int64? {
        guard let text = row.text(column) else { return nil }
        guard let value = Int64(text), value >= 0, value < Product.priceLimit else {
            throw row.reject(column, "must be an integer number of minor units between 0 and 10^12 − 1")
        }
        return value
    }
}
