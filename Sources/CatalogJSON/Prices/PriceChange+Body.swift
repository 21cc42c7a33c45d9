package import Catalog
internal import CatalogImport
package import JSON

extension PriceChange {
    /// Parses a body with an array of price changes, all or none.
    package static func list(body: JSONValue?) throws(CatalogError) -> [PriceChange] {
        guard case .array(let values)? = body else {
            throw .malformed(parameter: nil, detail: "the body must be an array of prices")
        }
        let columns = ["sku", "price_minor", "regular_price_minor"]
        return try values.rows(
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
    }

    private static func minor(_ column: String, _ row: NamedRow) throws(ImportRejection) -> Int64? {
        guard let text = row.text(column) else { return nil }
        guard let value = Int64(text), value >= 0, value < Product.priceLimit else {
            throw row.reject(column, "must be an integer number of minor units between 0 and 10^12 − 1")
        }
        return value
    }
}

extension PriceOutcome {
    package var json: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("changed", changed)
            json.field("unchanged", unchanged)
            json.array("shelves", shelves.map(\.text).sorted()) { $0.string($1) }
        }
        return json.bytes
    }
}

extension PriceOutcome: RecordableOutcome {
    package var recorded: RecordedResponse { RecordedResponse(body: json) }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let changed = try reader.integer("changed"), let unchanged = try reader.integer("unchanged"),
                let shelves = try reader.strings("shelves")
            else { return nil }
            var outcome = PriceOutcome()
            (outcome.changed, outcome.unchanged) = (Int(changed), Int(unchanged))
            outcome.shelves = Set(shelves.compactMap { CatalogKey($0) })
            return outcome
        }
    }
}
