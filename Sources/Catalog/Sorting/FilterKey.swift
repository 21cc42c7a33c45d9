/// A key that products are filtered by: its name, the form of its values, its comparison, its help and its title. Its column
/// is beside `ProductColumn` of CatalogPostgres.
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

    /// The part of a product that a filter compares.
    enum Compared {
        /// All texts of the product; none if it has none.
        case texts([String])
        case flag(Bool)
        case amount(ExactDecimal?)
        case unitPrice
        case moment(Timestamp)
        case dimension(Dimension?)
    }

    /// The part of a product that the key compares.
    func compared(of product: Product, in currency: Currency) -> Compared {
        switch self {
        case .brand: .texts(product.brand.map { [$0] } ?? [])
        case .tag: .texts(product.tags)
        case .inStock: .flag(product.inStock)
        case .priceMin, .priceMax:
            .amount(product.priceMinor.map { ExactDecimal(Int128($0), scale: currency.exponent) })
        case .unitPriceMax: .unitPrice
        case .createdAfter, .createdBefore: .moment(product.createdAt)
        case .modifiedAfter, .modifiedBefore: .moment(product.modifiedAt)
        case .dimension: .dimension(product.size?.unit.dimension)
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

    /// The form's name in the API.
    package var typeName: String {
        switch form {
        case .texts: "text"
        case .flag: "boolean"
        case .amount: "amount"
        case .amountPerQuantity: "amount_per_quantity"
        case .moment: "time"
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
            case .createdAfter: ("New since", "Новинки с")
            case .createdBefore: ("In the range before", "В продаже до")
            case .modifiedAfter: ("Changed since", "Изменено с")
            case .modifiedBefore: ("Not changed since", "Не менялось с")
            case .dimension: ("Sold by", "Продаётся на")
            }
        return language == .ru ? ru : en
    }
}
