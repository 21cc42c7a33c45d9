/// A key to sort products by: its name, direction, comparison and help text.
package enum SortKey: String, CaseIterable, Sendable, Hashable {
    case price
    case unitPrice = "unit_price"
    case popularity, brand, name, created, modified, tags, position

    /// The name in the API, on the command line and in cursors.
    package var name: String { rawValue }

    /// The direction that users expect by default: cheapest, most popular or newest first.
    package var naturalDirection: SortDirection { row.direction }

    /// Whether the key may be reversed. A manual order is shown as arranged.
    package var isReversible: Bool { self != .position }

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
}
