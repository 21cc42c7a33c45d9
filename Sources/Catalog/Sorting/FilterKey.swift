/// A key that products are filtered by: its name, the form of its values, its comparison and its help. Its column is in
/// `FilterColumns` of CatalogPostgres, its title in `FilterOption`.
package enum FilterKey: String, CaseIterable, Sendable, Hashable {
    case brand, tag
    case inStock = "in_stock"
    case priceMin = "price_min"
    case priceMax = "price_max"
    case unitPriceMax = "unit_price_max"
    case createdAfter = "created_after"
    case createdBefore = "created_before"
    case modifiedAfter = "modified_after"
    case modifiedBefore = "modified_before"
    case dimension

    /// The name in the API and in cursors.
    package var name: String { rawValue }

    /// What its values are.
    package enum Form: Sendable, Hashable {
        /// Any number of texts, of which one must be there; the empty one stands for products that have none.
        case texts
        case flag
        /// A decimal in the store's currency.
        case amount
        /// A decimal in the store's currency per quantity: `1.20/100g`.
        case amountPerQuantity
        /// A moment, or a day in UTC, which counts from its beginning or to its end.
        case moment(isEnd: Bool)
        case dimensions
    }

    package var form: Form {
        switch self {
        case .brand, .tag: .texts
        case .inStock: .flag
        case .priceMin, .priceMax: .amount
        case .unitPriceMax: .amountPerQuantity
        case .createdAfter, .modifiedAfter: .moment(isEnd: false)
        case .createdBefore, .modifiedBefore: .moment(isEnd: true)
        case .dimension: .dimensions
        }
    }

    /// How a product's column is compared with the values.
    package enum Comparison: Sendable, Hashable {
        /// It is one of them.
        case isAny
        /// It has one of them.
        case hasAny
        case equals
        case atLeast, atMost
        /// Its price is at most so much for the quantity; other dimensions do not compare.
        case atMostPerQuantity
    }

    package var comparison: Comparison {
        switch self {
        case .brand, .dimension: .isAny
        case .tag: .hasAny
        case .inStock: .equals
        case .priceMin, .createdAfter, .modifiedAfter: .atLeast
        case .priceMax, .createdBefore, .modifiedBefore: .atMost
        case .unitPriceMax: .atMostPerQuantity
        }
    }

    /// Whether several values may be given, of which any may hold.
    package var isRepeatable: Bool { form == .texts || form == .dimensions }

    /// The other end of the range that this begins.
    var upperEnd: FilterKey? {
        switch self {
        case .priceMin: .priceMax
        case .createdAfter: .createdBefore
        case .modifiedAfter: .modifiedBefore
        default: nil
        }
    }

    /// What is left over, in a sentence for help texts and the API's description.
    package var summary: String {
        switch self {
        case .brand: "of this brand; an empty one: without a brand"
        case .tag: "with this tag; an empty one: without tags"
        case .inStock: "in stock, or sold out"
        case .priceMin: "that cost at least so much, in the store's currency"
        case .priceMax: "that cost at most so much, in the store's currency"
        case .unitPriceMax:
            "that cost at most so much for a quantity, such as 1.20/100g; measured in another dimension: none"
        case .createdAfter: "made then or later; a day counts from its beginning, in UTC"
        case .createdBefore: "made then or before; a day counts to its end, in UTC"
        case .modifiedAfter: "changed then or later; a day counts from its beginning, in UTC"
        case .modifiedBefore: "last changed then or before; a day counts to its end, in UTC"
        case .dimension: "whose size is a \(Dimension.allCases.map(\.rawValue).joined(separator: ", "))"
        }
    }
}
