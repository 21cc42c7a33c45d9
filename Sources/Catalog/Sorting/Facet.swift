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
