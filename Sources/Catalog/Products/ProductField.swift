/// A field of a product. The enum has no cases for optional texts, which are cases of `ProductText`.
package enum ProductField: CaseIterable, Hashable, Sendable {
    case sku, name, priceMinor, currency, regularPriceMinor, size, unitPrice, attributes
    case popularity, inStock, tags, asOf, shelves, createdAt, modifiedAt
    case text(ProductText)

    /// All fields, in the order of JSON.
    package static let allCases: [ProductField] = {
        var fields: [ProductField] = [
            .sku, .name, .text(.brand), .priceMinor, .currency, .regularPriceMinor, .size, .unitPrice,
        ]
        for text in ProductText.allCases where text != .brand { fields.append(.text(text)) }
        fields += [.attributes, .popularity, .inStock, .tags, .asOf, .shelves, .createdAt, .modifiedAt]
        return fields
    }()

    /// Whether entries of the audit log have the field. They have the fields that requests set, not the computed fields: those of
    /// `Product.members`.
    package var isAudited: Bool {
        switch self {
        case .name, .priceMinor, .regularPriceMinor, .size, .text, .attributes, .inStock, .tags: true
        case .sku, .currency, .unitPrice, .popularity, .asOf, .shelves, .createdAt, .modifiedAt: false
        }
    }
}
