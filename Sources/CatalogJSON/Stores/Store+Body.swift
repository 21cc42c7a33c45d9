package import Catalog

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
        let locale = try reader.string("locale", bytes: 35) ?? "en"
        guard Store.isLocale(locale) else {
            throw .unprocessable(field: "locale", detail: "“\(locale)” is not a BCP 47 language tag, such as en-IE")
        }
        self.init(
            key: key,
            title: title,
            currency: currency,
            locale: locale,
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
