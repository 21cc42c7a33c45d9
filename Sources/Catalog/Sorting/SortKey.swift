/// A key to sort products by: its name, direction, comparison and help text.
package enum SortKey: Sendable, Hashable {
    case price, unitPrice, popularity, brand, name, created, modified, tags, position
    /// How well a product matches the search of a request. Only a request with a search can have it.
    case relevance
    /// How close the name of a product is to the search. It decides between products that are equally relevant otherwise, and no request names it.
    case closeness
    case attribute(AttributeReference)

    /// The built-in keys that need no search.
    package static let allCases: [SortKey] = [
        .price, .unitPrice, .popularity, .brand, .name, .created, .modified, .tags, .position,
    ]

    private static let builtIn = Dictionary(uniqueKeysWithValues: (allCases + [.relevance]).map { ($0.name, $0) })

    /// Reads the name of a built-in key, or of any attribute; nil for a text that is neither.
    init?(name: some StringProtocol) {
        if let known = Self.builtIn[String(name)] {
            self = known
            return
        }
        guard let attribute = AttributeReference(name, isBuiltIn: { Self.builtIn[$0] != nil }) else { return nil }
        self = .attribute(attribute)
    }

    /// The name in the API, on the command line and in cursors.
    package var name: String {
        switch self {
        case .price: "price"
        case .unitPrice: "unit_price"
        case .popularity: "popularity"
        case .brand: "brand"
        case .name: "name"
        case .created: "created"
        case .modified: "modified"
        case .tags: "tags"
        case .position: "position"
        case .relevance: "relevance"
        case .closeness: "closeness"
        case .attribute(let attribute):
            attribute.path(attribute.name.text, isBuiltIn: Self.builtIn[attribute.name.text] != nil)
        }
    }

    /// The attribute in effect; nil for a built-in key, and before the attribute is looked up.
    package var attribute: ResolvedAttribute? {
        if case .attribute(let attribute) = self { attribute.resolved } else { nil }
    }

    /// Whether the key compares how well products match a search.
    package var readsMatches: Bool { self == .relevance || self == .closeness }

    package var isAttribute: Bool { if case .attribute = self { true } else { false } }

    /// The direction that users expect by default: cheapest, most popular or newest first.
    package var naturalDirection: SortDirection { row.direction }

    /// Whether the key may be reversed. A manual order is shown as arranged, and the best matches come first.
    package var isReversible: Bool { self != .position && !readsMatches }

    /// Whether available products come first. A manual order is shown as arranged.
    package var respectsAvailability: Bool { self != .position }

    /// Returns the compared value of a product; `.missing` if there is none.
    package func value(of listing: Listing) -> SortValue { row.value(listing) }

    /// The meaning of the key, as a phrase for help texts and the API description.
    package var summary: String { row.summary }

    private struct Row {
        let direction: SortDirection
        let summary: String
        let value: (Listing) -> SortValue

        init(_ direction: SortDirection, _ summary: String, _ value: @escaping (Listing) -> SortValue) {
            (self.direction, self.summary, self.value) = (direction, summary, value)
        }
    }

    /// Everything about a key but its order in memory, which `ShelfTable+SortKeys.swift` has, and its titles, which `PickerOptions.swift` has.
    private var row: Row {
        switch self {
        case .price:
            Row(.ascending, "the current price") { $0.product.priceMinor.map(SortValue.integer) ?? .missing }
        case .unitPrice:
            Row(.ascending, "the exact price per kg, litre, piece, metre, m² or dose") {
                $0.product.unitPrice.map { .unitPrice($0.dimension, digits: $0.key) } ?? .missing
            }
        case .popularity:
            Row(.descending, "how often the product was bought recently") { .real($0.product.popularity.log2) }
        case .brand:
            Row(.ascending, "the brand, in the language of the store") {
                $0.product.brand.map(SortValue.text) ?? .missing
            }
        case .name:
            Row(.ascending, "the name, in the language of the store") { .text($0.product.name) }
        case .created:
            Row(.descending, "when the product was created") { .integer($0.product.createdAt.microseconds) }
        case .modified:
            Row(.descending, "when the product last changed") { .integer($0.product.modifiedAt.microseconds) }
        case .tags:
            Row(.descending, "the number of tags") { .integer(Int64($0.product.tags.count)) }
        case .position:
            Row(.ascending, "the manual order of the shelf") { .bytes($0.position) }
        case .relevance:
            // A product alone has no relevance: it is passed in where it is known.
            Row(.descending, "how well the product matches the search") { _ in .missing }
        case .closeness: Row(.ascending, "how close the name is to the search") { _ in .missing }
        case .attribute(let attribute):
            Row(attribute.resolved?.definition.naturalDirection ?? .ascending, "an attribute") { listing in
                SortValue(attribute.resolved?.value(of: listing.product))
            }
        }
    }
}

/// The direction of a sort key.
package enum SortDirection: Sendable, Hashable {
    case ascending, descending

    package var opposite: SortDirection { self == .ascending ? .descending : .ascending }
}

/// A product's value of one sort key, as cursors contain it.
package enum SortValue: Hashable, Sendable {
    case missing
    case integer(Int64)
    /// A unit price's dimension and the digits of its exact key.
    case unitPrice(Dimension, digits: String)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    case fraction(AttributeFraction)
}

extension SortValue {
    /// The value that an attribute is compared by. A boolean ascends from true to false.
    package init(_ value: AttributeValue?) {
        switch value {
        case .number(let number): self = .integer(number)
        case .rank(let rank): self = .integer(Int64(rank))
        case .text(let text): self = .text(text)
        case .boolean(let flag): self = .integer(flag ? 0 : 1)
        case .date(let day): self = .integer(Int64(day))
        case .ratio(let fraction): self = .fraction(fraction)
        case .set, nil: self = .missing
        }
    }
}
