/// A field of a product. All optional texts share one case.
package enum ProductField: CaseIterable, Hashable, Sendable {
    case sku, name, priceMinor, currency, regularPriceMinor, size, unitPrice, attributes
    case popularity, inStock, tags, asOf, shelves, createdAt, modifiedAt
    case text(ProductText)

    /// All fields, in the order of JSON. Import rows are read in this order, too: a size needs the name and the prices.
    package static let allCases: [ProductField] = {
        var fields: [ProductField] = [
            .sku, .name, .text(.brand), .priceMinor, .currency, .regularPriceMinor, .size, .unitPrice,
        ]
        for text in ProductText.allCases where text != .brand { fields.append(.text(text)) }
        fields += [.attributes, .popularity, .inStock, .tags, .asOf, .shelves, .createdAt, .modifiedAt]
        return fields
    }()

    /// Whether requests set the field: whether `Product.members` has it.
    package var isSetByRequests: Bool {
        switch self {
        case .name, .priceMinor, .regularPriceMinor, .size, .text, .attributes, .inStock, .tags: true
        case .sku, .currency, .unitPrice, .popularity, .asOf, .shelves, .createdAt, .modifiedAt: false
        }
    }
}
