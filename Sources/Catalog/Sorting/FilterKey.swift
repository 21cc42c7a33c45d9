/// A key that products are filtered by: the name, the form of the values, the comparison and the help. Its condition on
/// shelves in memory is in `ShelfTable+Filtering.swift`, its titles are in `PickerOptions.swift`.
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

    /// The form of a key's values.
    package enum Form: Sendable, Hashable {
        /// One or more texts, any of which may match; the empty text matches products without a value.
        case texts
        case flag
        /// A decimal in the store's currency.
        case amount
        /// A decimal in the store's currency per quantity: `1.20/100g`.
        case amountPerQuantity
        /// A time, or a UTC day, which means its start or its end.
        case timestamp(isEnd: Bool)
        case dimensions
    }

    /// The form of the values in requests and on the command line.
    package var form: Form { row.form }

    /// The comparison of a product's column with the values.
    package enum Comparison: Sendable, Hashable {
        /// The column equals one of the values.
        case isAny
        /// The column contains one of the values.
        case hasAny
        case equals
        case atLeast, atMost
        /// The unit price is at most the amount per quantity; other dimensions do not match.
        case atMostPerQuantity
    }

    /// How a product is compared with the values.
    package var comparison: Comparison { row.comparison }

    /// The part of a product that a filter compares.
    enum Compared {
        /// All texts of the product; none if it has none.
        case texts([String])
        case flag(Bool)
        case amount(ExactDecimal?)
        case unitPrice
        case moment(Timestamp)
        case dimension(Dimension?)

        static func price(_ minor: Int64?, in currency: Currency) -> Self {
            .amount(minor.map { ExactDecimal(Int128($0), scale: currency.exponent) })
        }
    }

    /// The part of a product that the key compares.
    func compared(of product: Product, in currency: Currency) -> Compared { row.compared(product, currency) }

    /// Whether several values may be given, any of which may match.
    package var isRepeatable: Bool { form == .texts || form == .dimensions }

    /// The key of the range's upper limit, if this key is the lower limit.
    var upperEnd: FilterKey? { row.upperEnd }

    /// The matching products, as a phrase for help texts and the API description.
    package var summary: String { row.summary }

    /// The form's name in the API.
    package var typeName: String {
        switch form {
        case .texts: "text"
        case .flag: "boolean"
        case .amount: "amount"
        case .amountPerQuantity: "amount_per_quantity"
        case .timestamp: "time"
        case .dimensions: "dimension"
        }
    }

    private struct Row {
        let form: Form
        let comparison: Comparison
        let upperEnd: FilterKey?
        let summary: String
        let compared: (Product, Currency) -> Compared

        init(
            _ form: Form,
            _ comparison: Comparison,
            upperEnd: FilterKey? = nil,
            _ summary: String,
            _ compared: @escaping (Product, Currency) -> Compared
        ) {
            (self.form, self.comparison, self.upperEnd) = (form, comparison, upperEnd)
            (self.summary, self.compared) = (summary, compared)
        }
    }

    private static let dimensionSummary =
        "measured by \(Dimension.allCases.map(\.rawValue).joined(separator: ", "))"

    /// Everything about a key but its condition on shelves in memory and its titles.
    private var row: Row {
        switch self {
        case .brand:
            Row(
                .texts,
                .isAny,
                "of this brand; an empty value matches products without a brand"
            ) { product, _ in .texts(product.brand.map { [$0] } ?? []) }
        case .tag:
            Row(
                .texts,
                .hasAny,
                "with this tag; an empty value matches products without tags"
            ) { product, _ in .texts(product.tags) }
        case .inStock:
            Row(.flag, .equals, "in stock (true) or sold out (false)") { product, _ in
                .flag(product.inStock)
            }
        case .priceMin:
            Row(
                .amount,
                .atLeast,
                upperEnd: .priceMax,
                "with at least this price, in the store's currency"
            ) { .price($0.priceMinor, in: $1) }
        case .priceMax:
            Row(.amount, .atMost, "with at most this price, in the store's currency") {
                .price($0.priceMinor, in: $1)
            }
        case .unitPriceMax:
            Row(
                .amountPerQuantity,
                .atMostPerQuantity,
                "with at most this unit price, such as 1.20/100g; products in other dimensions do not match"
            ) { _, _ in .unitPrice }
        case .createdAfter:
            Row(
                .timestamp(isEnd: false),
                .atLeast,
                upperEnd: .createdBefore,
                "created at or after this time; a day means its start in UTC"
            ) { product, _ in .moment(product.createdAt) }
        case .createdBefore:
            Row(
                .timestamp(isEnd: true),
                .atMost,
                "created at or before this time; a day means its end in UTC"
            ) { product, _ in .moment(product.createdAt) }
        case .modifiedAfter:
            Row(
                .timestamp(isEnd: false),
                .atLeast,
                upperEnd: .modifiedBefore,
                "last modified at or after this time; a day means its start in UTC"
            ) { product, _ in .moment(product.modifiedAt) }
        case .modifiedBefore:
            Row(
                .timestamp(isEnd: true),
                .atMost,
                "last modified at or before this time; a day means its end in UTC"
            ) { product, _ in .moment(product.modifiedAt) }
        case .dimension:
            Row(.dimensions, .isAny, Self.dimensionSummary) { product, _ in .dimension(product.size?.unit.dimension) }
        }
    }
}
