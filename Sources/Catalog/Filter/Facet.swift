/// What is counted of a shelf for a picker: each as if its own filter were off.
package enum Facet: String, CaseIterable, Sendable, Hashable {
    case brand, tag
    case inStock = "in_stock"
    case price

    /// The filter's keys that are off when it is counted.
    package var keys: Set<FilterKey> {
        switch self {
        case .brand: [.brand]
        case .tag: [.tag]
        case .inStock: [.inStock]
        case .price: [.priceMin, .priceMax]
        }
    }

    /// Reads names with commas between them.
    ///
    /// - Throws: `malformed` for one that there is not.
    package static func parse(_ text: String) throws(CatalogError) -> Set<Facet> {
        var facets: Set<Facet> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let facet = Facet(rawValue: String(name)), facets.insert(facet).inserted else {
                throw .malformed(
                    parameter: "facets",
                    detail: "no such facet, or one that is named twice: “\(name.prefix(64))”",
                    allowed: allCases.map(\.rawValue)
                )
            }
        }
        return facets
    }
}

/// How many products of a shelf have what.
package struct Facets: Sendable, Hashable {
    /// How many have a brand, or a tag; the empty text stands for those without.
    package struct Count: Sendable, Hashable {
        package let value: String
        package let count: Int

        package init(_ value: String, _ count: Int) {
            self.value = value
            self.count = count
        }
    }

    /// How many the whole filter leaves.
    package var total = 0
    /// The facets that were counted.
    package let counted: Set<Facet>
    /// Most products first, then by the value in the catalog's collation.
    package var brands: [Count] = []
    package var tags: [Count] = []
    package var inStock = 0
    package var soldOut = 0
    /// By price in minor units, ascending.
    package var prices: [PriceCount] = []
    package var unpriced = 0

    package init(counted: Set<Facet>) { self.counted = counted }

    /// The most values of a facet that are told; those that the filter names are told besides.
    package static let valueBound = 100

    package func write(to json: inout JSONText, _ filter: Filter, _ currency: Currency) {
        json.object("facets") { json in
            json.field("total", total)
            if counted.contains(.brand) { json.object("brand") { Self.write(brands, filter[.brand], to: &$0) } }
            if counted.contains(.tag) { json.object("tag") { Self.write(tags, filter[.tag], to: &$0) } }
            if counted.contains(.inStock) {
                json.object("in_stock") { json in
                    json.array("values", [(true, inStock), (false, soldOut)]) { json, value in
                        json.object { json in
                            json.field("value", value.0)
                            json.field("count", value.1)
                            json.field("selected", filter[.inStock] == .flag(value.0))
                        }
                    }
                }
            }
            if counted.contains(.price) { json.object("price") { write(PriceBucket.all(prices), currency, to: &$0) } }
        }
    }

    private static func write(_ counts: [Count], _ value: FilterValue?, to json: inout JSONText) {
        var named: [String] = []
        if case .texts(let texts)? = value { named = texts }
        let selected = Set(named)
        let shown = counts.enumerated().filter { $0 < valueBound || selected.contains($1.value) }.map(\.element)
        let known = Set(shown.map(\.value))
        json.array("values", shown + named.filter { !known.contains($0) }.map { Count($0, 0) }) { json, count in
            json.object { json in
                json.field("value", count.value)
                json.field("count", count.count)
                json.field("selected", selected.contains(count.value))
            }
        }
        json.field("more", counts.count - shown.count)
    }

    private func write(_ buckets: [PriceBucket], _ currency: Currency, to json: inout JSONText) {
        json.field("min", prices.first.map { currency.decimal($0.minor) })
        json.field("max", prices.last.map { currency.decimal($0.minor) })
        json.array("buckets", buckets) { json, bucket in
            json.object { json in
                json.field("price_min", bucket.from.map(currency.decimal))
                json.field("price_max", bucket.to.map(currency.decimal))
                json.field("count", bucket.count)
            }
        }
        json.field("unpriced", unpriced)
    }
}

/// How many products cost so much.
package struct PriceCount: Sendable, Hashable {
    package let minor: Int64
    package let count: Int

    package init(_ minor: Int64, _ count: Int) {
        self.minor = minor
        self.count = count
    }
}
