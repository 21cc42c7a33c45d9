/// A key that products are filtered by: the name, the form of the values, the compared part of products and the help. Its condition on
/// shelves in memory is in `ShelfTable+Filtering.swift`, its titles are in `PickerOptions.swift`.
package enum FilterKey: Sendable, Hashable {
    case brand, tag, tagsAll, tagsNone, inStock, priceMin, priceMax, unitPriceMax, createdAfter, createdBefore,
        modifiedAfter,
        modifiedBefore, dimension
    case attribute(AttributeReference, AttributeOperator)

    /// The built-in keys, in the order of queries.
    package static let allCases: [FilterKey] = [
        .brand, .tag, .tagsAll, .tagsNone, .inStock, .priceMin, .priceMax, .unitPriceMax, .createdAfter, .createdBefore,
        .modifiedAfter, .modifiedBefore, .dimension,
    ]

    private static let builtIn = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    /// Reads the name of a built-in key, or of a filter by any attribute; nil for a text that is neither.
    package init?(name: some StringProtocol) {
        if let known = Self.builtIn[String(name)] {
            self = known
            return
        }
        let condition = AttributeOperator.allCases.first { $0 != .equals && name.hasSuffix($0.ending) } ?? .equals
        // A built-in key has an ending of its own, so the rest is not compared with built-in keys.
        let attribute = AttributeReference(name.dropLast(condition.ending.utf8.count)) {
            condition == .equals && Self.builtIn[$0] != nil
        }
        guard let attribute else { return nil }
        self = .attribute(attribute, condition)
    }

    /// The name in the API and in cursors.
    package var name: String {
        switch self {
        case .brand: "brand"
        case .tag: "tag"
        case .tagsAll: "tags_all"
        case .tagsNone: "tags_none"
        case .inStock: "in_stock"
        case .priceMin: "price_min"
        case .priceMax: "price_max"
        case .unitPriceMax: "unit_price_max"
        case .createdAfter: "created_after"
        case .createdBefore: "created_before"
        case .modifiedAfter: "modified_after"
        case .modifiedBefore: "modified_before"
        case .dimension: "dimension"
        case .attribute(let attribute, let condition):
            { name in attribute.path(name, isBuiltIn: Self.isTaken(name)) }(attribute.name.text + condition.ending)
        }
    }

    package var isAttribute: Bool { if case .attribute = self { true } else { false } }

    /// The attribute in effect; nil for a built-in key, and before the attribute is looked up.
    package var attribute: ResolvedAttribute? {
        if case .attribute(let attribute, _) = self { attribute.resolved } else { nil }
    }

    /// Whether a name alone has another meaning in a query than a filter by an attribute.
    private static func isTaken(_ name: String) -> Bool {
        builtIn[name] != nil || PageRequest.parameterNames.contains(name)
    }

    /// The form of the values in requests and on the command line.
    package var form: Form { row.form }

    /// The part of a product that a filter compares.
    enum Compared {
        /// All texts of the product; none if it has none.
        case texts([String])
        /// The same, of which all or none of those of the filter are wanted.
        case allTexts([String]), noTexts([String])
        case flag(Bool)
        case amount(ExactDecimal?)
        case unitPrice
        case moment(Timestamp)
        case dimension(Dimension?)
        /// The value of an attribute; nil if it is missing.
        case attribute(AttributeValue?)

        static func price(_ minor: Int64?, in currency: Currency) -> Self {
            .amount(minor.map { ExactDecimal(Int128($0), scale: currency.exponent) })
        }
    }

    /// The part of a product that the key compares.
    func compared(of product: Product, in currency: Currency) -> Compared { row.compared(product, currency) }

    /// The key of the range's upper limit, if this key is the lower limit.
    var upperEnd: FilterKey? { row.upperEnd }

    /// The matching products, as a phrase for help texts and the API description.
    package var summary: String { row.summary }

    private struct Row {
        let form: Form
        let upperEnd: FilterKey?
        let summary: String
        let compared: (Product, Currency) -> Compared

        init(
            _ form: Form,
            upperEnd: FilterKey? = nil,
            _ summary: String,
            _ compared: @escaping (Product, Currency) -> Compared
        ) {
            (self.form, self.upperEnd) = (form, upperEnd)
            (self.summary, self.compared) = (summary, compared)
        }
    }

    private static let dimensionSummary =
        "measured by \(Dimension.allCases.map(\.rawValue).joined(separator: ", "))"

    /// Everything about a key but its condition on shelves in memory and its titles.
    private var row: Row {
        switch self {
        case .brand:
            Row(.texts, "of this brand; an empty value matches products without a brand") { product, _ in
                .texts(product.brand.map { [$0] } ?? [])
            }
        case .tag:
            Row(.texts, "with this tag; an empty value matches products without tags") { product, _ in
                .texts(product.tags)
            }
        case .tagsAll:
            Row(.tags, "with all of these tags") { product, _ in .allTexts(product.tags) }
        case .tagsNone:
            Row(.tags, "with none of these tags") { product, _ in .noTexts(product.tags) }
        case .inStock:
            Row(.flag, "in stock (true) or sold out (false)") { product, _ in
                .flag(product.inStock)
            }
        case .priceMin:
            Row(
                .amount(isEnd: false),
                upperEnd: .priceMax,
                "with at least this price, in the store's currency"
            ) { .price($0.priceMinor, in: $1) }
        case .priceMax:
            Row(.amount(isEnd: true), "with at most this price, in the store's currency") {
                .price($0.priceMinor, in: $1)
            }
        case .unitPriceMax:
            Row(
                .amountPerQuantity,
                "with at most this unit price, such as 1.20/100g; products in other dimensions do not match"
            ) { _, _ in .unitPrice }
        case .createdAfter:
            Row(
                .timestamp(isEnd: false),
                upperEnd: .createdBefore,
                "created at or after this time; a day means its start in UTC"
            ) { product, _ in .moment(product.createdAt) }
        case .createdBefore:
            Row(
                .timestamp(isEnd: true),
                "created at or before this time; a day means its end in UTC"
            ) { product, _ in .moment(product.createdAt) }
        case .modifiedAfter:
            Row(
                .timestamp(isEnd: false),
                upperEnd: .modifiedBefore,
                "last modified at or after this time; a day means its start in UTC"
            ) { product, _ in .moment(product.modifiedAt) }
        case .modifiedBefore:
            Row(
                .timestamp(isEnd: true),
                "last modified at or before this time; a day means its end in UTC"
            ) { product, _ in .moment(product.modifiedAt) }
        case .dimension:
            Row(.dimensions, Self.dimensionSummary) { product, _ in .dimension(product.size?.unit.dimension) }
        case .attribute(let attribute, let condition):
            Row(.attribute(attribute.resolved?.form, condition), "with such a value of an attribute") { product, _ in
                .attribute(attribute.resolved?.value(of: product))
            }
        }
    }
}
