package import Catalog
package import JSON

extension Store {
    /// Parses a store from a body; missing fields have their defaults.
    package init(key: CatalogKey, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        try reader.checkKey("key", key.text)
        let title = try reader.nonBlankString("title", bytes: Store.titleLimit) ?? key.text
        guard let code = try reader.string("currency", bytes: 16) else {
            throw .unprocessable(field: "currency", detail: "currency is required; use an ISO 4217 code, such as EUR")
        }
        guard let currency = Currency(code) else {
            throw .unprocessable(field: "currency", detail: "“\(code)” is not an ISO 4217 code")
        }
        let locale = try reader.languageTag("locale") ?? Self.defaultLocale
        self.init(
            key: key,
            title: title,
            currency: currency,
            locale: locale,
            collation: try reader.languageTag("collation"),
            unitPricing: try reader.choice("unit_pricing") ?? .eu,
            soldOut: try reader.choice("sold_out") ?? .last,
            defaultSort: try reader.sort("default_sort"),
            popularityMetric: try reader.choice("popularity_metric") ?? .decay,
            popularityHalfLifeDays: Int(try reader.integer("popularity_half_life_days") ?? 14),
            newcomerBoost: try reader.double("newcomer_boost") ?? 0
        )
        guard Self.halfLifeRange.contains(popularityHalfLifeDays) else {
            throw .unprocessable(
                field: "popularity_half_life_days",
                detail: "popularity_half_life_days must be between \(Self.halfLifeRange.lowerBound) and "
                    + "\(Self.halfLifeRange.upperBound)"
            )
        }
        guard (0...Self.boostLimit).contains(newcomerBoost) else {
            throw .unprocessable(
                field: "newcomer_boost",
                detail: "newcomer_boost must be between 0 and \(Int(Self.boostLimit))"
            )
        }
        try reader.end()
    }
}

extension BodyReader {
    /// Returns a language tag; nil if it is missing or null.
    fileprivate mutating func languageTag(_ name: String) throws(CatalogError) -> String? {
        guard let tag = try string(name, bytes: Store.languageTagLimit) else { return nil }
        guard Store.isLanguageTag(tag) else {
            throw .unprocessable(field: name, detail: "“\(tag)” is not a BCP 47 language tag, such as en-IE")
        }
        return tag
    }
}

extension Store {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("key", key.text)
            json.field("title", title)
            json.field("currency", currency.code)
            json.field("locale", locale)
            json.field("collation", collation)
            json.field("unit_pricing", unitPricing.rawValue)
            json.field("sold_out", soldOut.rawValue)
            json.field("default_sort", defaultSort?.description)
            json.field("popularity_metric", popularityMetric.rawValue)
            json.field("popularity_half_life_days", popularityHalfLifeDays)
            json.field("newcomer_boost", newcomerBoost)
        }
    }
}
