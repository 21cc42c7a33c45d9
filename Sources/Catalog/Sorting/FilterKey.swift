/// A key that products are filtered by: the name, the form of the values, the comparison, the help and the title. Its column
/// is defined in `ProductColumn.swift` of CatalogPostgres.
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
    package var form: Form {
        switch self {
        case .brand, .tag: .texts
        case .inStock: .flag
        case .priceMin, .priceMax: .amount
        case .unitPriceMax: .amountPerQuantity
        case .createdAfter, .modifiedAfter: .timestamp(isEnd: false)
        case .createdBefore, .modifiedBefore: .timestamp(isEnd: true)
        case .dimension: .dimensions
        }
    }

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
    func compared(of product: Product, in currency: Currency) -> Compared {
        switch self {
        case .brand: .texts(product.brand.map { [$0] } ?? [])
        case .tag: .texts(product.tags)
        case .inStock: .flag(product.inStock)
        case .priceMin, .priceMax: .price(product.priceMinor, in: currency)
        case .unitPriceMax: .unitPrice
        case .createdAfter, .createdBefore: .moment(product.createdAt)
        case .modifiedAfter, .modifiedBefore: .moment(product.modifiedAt)
        case .dimension: .dimension(product.size?.unit.dimension)
        }
    }

    /// Whether several values may be given, any of which may match.
    package var isRepeatable: Bool { form == .texts || form == .dimensions }

    /// The key of the range's upper limit, if this key is the lower limit.
    var upperEnd: FilterKey? {
        switch self {
        case .priceMin: .priceMax
        case .createdAfter: .createdBefore
        case .modifiedAfter: .modifiedBefore
        case .brand, .tag, .inStock, .priceMax, .unitPriceMax, .createdBefore, .modifiedBefore, .dimension: nil
        }
    }

    /// The matching products, as a phrase for help texts and the API description.
    package var summary: String {
        switch self {
        case .brand: "of this brand; an empty value matches products without a brand"
        case .tag: "with this tag; an empty value matches products without tags"
        case .inStock: "in stock (true) or sold out (false)"
        case .priceMin: "with at least this price, in the store's currency"
        case .priceMax: "with at most this price, in the store's currency"
        case .unitPriceMax:
            "with at most this unit price, such as 1.20/100g; products in other dimensions do not match"
        case .createdAfter: "created at or after this time; a day means its start in UTC"
        case .createdBefore: "created at or before this time; a day means its end in UTC"
        case .modifiedAfter: "last modified at or after this time; a day means its start in UTC"
        case .modifiedBefore: "last modified at or before this time; a day means its end in UTC"
        case .dimension: "measured by \(Dimension.allCases.map(\.rawValue).joined(separator: ", "))"
        }
    }

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

    /// The title in a picker.
    package func title(_ language: Language) -> String {
        let (en, ru) =
            switch self {
            case .brand: ("Brand", "Бренд")
            case .tag: ("Tag", "Метка")
            case .inStock: ("In stock", "В наличии")
            case .priceMin: ("Price from", "Цена от")
            case .priceMax: ("Price up to", "Цена до")
            case .unitPriceMax: ("Unit price up to", "Цена за единицу до")
            case .createdAfter: ("Added since", "Добавлено с")
            case .createdBefore: ("Added before", "Добавлено до")
            case .modifiedAfter: ("Changed since", "Изменено с")
            case .modifiedBefore: ("Not changed since", "Не менялось с")
            case .dimension: ("Sold by", "Единица измерения")
            }
        return language == .ru ? ru : en
    }
}
