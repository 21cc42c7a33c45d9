internal import Catalog
internal import LibPQ

extension FilterKey {
    /// The column of `placement` that is compared.
    var column: SQL {
        switch self {
        case .brand: "brand"
        case .tag: "tags"
        case .inStock: "in_stock"
        case .priceMin, .priceMax: "price_minor"
        case .unitPriceMax: "unit_price"
        case .createdAfter, .createdBefore: "created_at"
        case .modifiedAfter, .modifiedBefore: "modified_at"
        case .dimension: "size_dimension"
        }
    }
}
