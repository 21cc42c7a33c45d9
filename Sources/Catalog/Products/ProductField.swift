/// A field of a product, in the order of JSON.
package enum ProductField: CaseIterable, Sendable {
    case sku, name, brand, priceMinor, currency, regularPriceMinor, size, unitPrice, barcode, imageURL, attributes
    case popularity, inStock, tags, asOf, shelves, createdAt, modifiedAt

    /// Whether entries of the audit log have the field. They have the fields that requests set, not the computed fields: those of
    /// `Product.members`.
    package var isAudited: Bool {
        switch self {
        case .name, .brand, .priceMinor, .regularPriceMinor, .size, .barcode, .imageURL, .attributes, .inStock, .tags:
            true
        case .sku, .currency, .unitPrice, .popularity, .asOf, .shelves, .createdAt, .modifiedAt: false
        }
    }
}
