/// A key that products are sorted by: its name, direction, comparison, help and titles.
///
/// Its column and index are in `SortColumns` of CatalogPostgres.
package enum SortKey: String, CaseIterable, Sendable, Hashable {
    case price
    case unitPrice = "unit_price"
    case popularity, brand, name, created, modified, tags, position

    /// The name in the API, on the command line and in cursors.
    package var name: String { rawValue }

    /// The direction that one gets by naming the key's meaning: cheapest, most popular, newest first.
    package var naturalDirection: SortDirection {
        switch self {
        case .price, .unitPrice, .brand, .name, .position: .ascending
        case .popularity, .created, .modified, .tags: .descending
        }
    }

    /// Whether a product may lack it; such products come last in both directions.
    package var canBeMissing: Bool { [.price, .unitPrice, .brand].contains(self) }

    /// Whether the values fall into groups of dimensions, whose order never turns.
    package var isGroupedByDimension: Bool { self == .unitPrice }

    /// Whether it may run against its natural direction.
    package var isReversible: Bool { self != .position }

    /// Whether what is in stock comes first. A manual order is shown as it was arranged.
    package var respectsAvailability: Bool { self != .position }

    /// The value by which a product is compared; `.missing` without one.
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

    /// What the key orders by, in a sentence for help texts and the API's description.
    package var summary: String {
        switch self {
        case .price: "what one piece costs now"
        case .unitPrice: "the exact price per kg, litre, piece, metre, m² or dose"
        case .popularity: "how often it is bought, lately"
        case .brand: "the brand, in the catalog's collation"
        case .name: "the name, in the catalog's collation"
        case .created: "when it was made"
        case .modified: "when it last changed"
        case .tags: "the number of tags"
        case .position: "the manual order of the shelf"
        }
    }

    /// What a picker calls the key in a direction.
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
            case .brand: isNatural ? ("Brand", "По бренду") : ("Brand: Z to A", "По бренду: Я–А")
            case .name: isNatural ? ("Name", "По названию") : ("Name: Z to A", "По названию: Я–А")
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
