/// A key to sort products by: its name, direction, comparison, help text and titles.
package enum SortKey: String, CaseIterable, Sendable, Hashable {
    case price
    case unitPrice = "unit_price"
    case popularity, brand, name, created, modified, tags, position

    /// The name in the API, on the command line and in cursors.
    package var name: String { rawValue }

    /// The direction that users expect by default: cheapest, most popular or newest first.
    package var naturalDirection: SortDirection {
        switch self {
        case .price, .unitPrice, .brand, .name, .position: .ascending
        case .popularity, .created, .modified, .tags: .descending
        }
    }

    /// Whether the key may be reversed.
    package var isReversible: Bool { self != .position }

    /// Whether available products come first. A manual order is shown as arranged.
    package var respectsAvailability: Bool { self != .position }

    /// Returns the compared value of a product; `.missing` if there is none.
    package func value(of listing: Listing) -> SortValue {
        let product = listing.product
        return switch self {
        case .price: product.priceMinor.map(SortValue.integer) ?? .missing
        case .unitPrice: product.unitPrice.map { .unitPrice($0.dimension, digits: $0.key) } ?? .missing
        case .popularity: .real(product.popularity.log2)
        case .brand: product.brand.map(SortValue.text) ?? .missing
        case .name: .text(product.name)
        case .created: .integer(product.createdAt.microseconds)
        case .modified: .integer(product.modifiedAt.microseconds)
        case .tags: .integer(Int64(product.tags.count))
        case .position: .bytes(listing.position)
        }
    }

    /// The meaning of the key, as a phrase for help texts and the API description.
    package var summary: String {
        switch self {
        case .price: "the current price"
        case .unitPrice: "the exact price per kg, litre, piece, metre, m² or dose"
        case .popularity: "how often the product was bought recently"
        case .brand: "the brand, in the language of the store"
        case .name: "the name, in the language of the store"
        case .created: "when the product was created"
        case .modified: "when the product last changed"
        case .tags: "the number of tags"
        case .position: "the manual order of the shelf"
        }
    }

    /// Returns the title of the key and direction in a picker.
    package func title(_ direction: SortDirection, _ language: Language) -> String {
        let isNatural = direction == naturalDirection
        let (en, ru) =
            switch self {
            case .price:
                isNatural ? ("Price: low to high", "Сначала дешёвые") : ("Price: high to low", "Сначала дорогие")
            case .unitPrice:
                isNatural
                    ? ("Unit price: low to high", "Цена за единицу: по возрастанию")
                    : ("Unit price: high to low", "Цена за единицу: по убыванию")
            case .popularity: isNatural ? ("Popularity", "По популярности") : ("Least popular", "Сначала непопулярные")
            case .brand: isNatural ? ("Brand", "По бренду") : ("Brand: Z to A", "По бренду: в обратном порядке")
            case .name: isNatural ? ("Name", "По названию") : ("Name: Z to A", "По названию: в обратном порядке")
            case .created: isNatural ? ("Newest", "Сначала новые") : ("Oldest", "Сначала старые")
            case .modified:
                isNatural
                    ? ("Recently changed", "Недавно изменённые") : ("Least recently changed", "Давно не изменённые")
            case .tags: isNatural ? ("Most tags", "Больше меток") : ("Fewest tags", "Меньше меток")
            case .position: ("Our selection", "Наша подборка")
            }
        return language == .ru ? ru : en
    }
}
