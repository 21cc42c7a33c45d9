/// A facet of a shelf. Each facet's counts ignore that facet's own filter.
package enum Facet: Sendable, Hashable {
    case brand, tag, inStock, price
    case attribute(AttributeReference)

    /// The built-in facets.
    package static let allCases: [Facet] = [.brand, .tag, .inStock, .price]

    /// The maximum number of facets in a request.
    package static let countLimit = 8

    /// The name in the API.
    package var name: String {
        switch self {
        case .brand: "brand"
        case .tag: "tag"
        case .inStock: "in_stock"
        case .price: "price"
        case .attribute(let attribute):
            attribute.path(attribute.name.text, isBuiltIn: Self.isTaken(attribute.name.text))
        }
    }

    /// Whether a name alone has another meaning in a request or a response.
    private static func isTaken(_ name: String) -> Bool { name == "total" || allCases.contains { $0.name == name } }

    /// The filter keys that are ignored for this facet's counts: those that choose its values. Those that require or exclude some are not
    /// among them, so a count equals what the filter keeps.
    package var keys: Set<FilterKey> {
        switch self {
        case .brand: [.brand]
        case .tag: [.tag]
        case .inStock: [.inStock]
        case .price: [.priceMin, .priceMax]
        case .attribute(let attribute): Set([.equals, .anyOf, .atLeast, .atMost].map { .attribute(attribute, $0) })
        }
    }

    /// The attribute in effect; nil for a built-in facet, and before the attribute is looked up.
    package var attribute: ResolvedAttribute? {
        if case .attribute(let attribute) = self { attribute.resolved } else { nil }
    }

    package var isAttribute: Bool { if case .attribute = self { true } else { false } }

    /// Parses comma-separated facet names. Any name of an attribute is accepted: `resolved` looks it up.
    ///
    /// - Throws: `malformed` for an unknown or repeated name, and for too many.
    package static func parse(_ text: String) throws(CatalogError) -> Set<Facet> {
        var facets: Set<Facet> = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            let builtIn = allCases.first { $0.name == name }
            let attribute = AttributeReference(name) { name in allCases.contains { $0.name == name } }
            guard let facet = builtIn ?? attribute.map({ .attribute($0) }), facets.insert(facet).inserted else {
                throw unknown(String(name), allCases.map(\.name))
            }
        }
        guard facets.count <= countLimit else {
            throw .malformed(
                parameter: "facets",
                detail: "facets has \(facets.count) names; the maximum is \(countLimit)"
            )
        }
        return facets
    }

    fileprivate static func unknown(_ name: String, _ allowed: [String]) -> CatalogError {
        .malformed(
            parameter: "facets",
            detail: "unknown or repeated facet “\(name.prefix(64))”",
            allowed: allowed,
            hint: name.closest(among: allowed)
        )
    }
}

extension Set<Facet> {
    /// The built-in facets in declaration order, then attributes by name.
    package var ordered: [Facet] {
        let builtIn = Facet.allCases.filter(contains)
        return builtIn.count == count ? builtIn : builtIn + filter(\.isAttribute).sorted { $0.name < $1.name }
    }

    /// Looks up the attributes.
    ///
    /// - Throws: `malformed` for an attribute that the store does not have.
    func resolved(in attributes: ResolvedAttributes) throws(CatalogError) -> Set<Facet> {
        guard contains(where: \.isAttribute) else { return self }
        var resolved: Set<Facet> = []
        for facet in self {
            guard case .attribute(let reference) = facet else {
                resolved.insert(facet)
                continue
            }
            guard let attribute = attributes[reference.name] else {
                let known = attributes.all.map { Facet.attribute(.resolved($0)).name }
                throw Facet.unknown(facet.name, Facet.allCases.map(\.name) + known)
            }
            resolved.insert(.attribute(.resolved(attribute)))
        }
        return resolved
    }
}
