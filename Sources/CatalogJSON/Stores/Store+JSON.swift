package import JSON
package import Catalog

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
