/// A facet of a shelf. Each facet's counts ignore that facet's own filter.
package enum Facet: String, CaseIterable, Sendable, Hashable {
    case brand, tag
    case inStock = "in_stock"
    case price

    /// The filter keys that are ignored for this facet's counts.
    package var keys: Set<FilterKey> {
        switch self {
        case .brand: [.brand]
        case .tag: [.tag]
        case .inStock: [.inStock]
        case .price: [.priceMin, .priceMax]
        }
    }

    /// The facet's bit in a set of facets.
    package var bit: UInt8 {
        switch self {
        case .brand: 1
        case .tag: 2
        case .inStock: 4
        case .price: 8
        }
    }

    /// Parses comma-separated facet names.
    ///
    /// - Throws: `malformed` for an unknown or repeated name.
    package static func parse(_ text: String) throws(CatalogError) -> Set<Facet> {
        var facets: Set<Facet> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let facet = Facet(rawValue: String(name)), facets.insert(facet).inserted else {
                throw .malformed(
                    parameter: "facets",
                    detail: "unknown or repeated facet “\(name.prefix(64))”",
                    allowed: allCases.map(\.rawValue)
                )
            }
        }
        return facets
    }
}
