/// The columns of an import file.
///
/// Its raw values are numbers from 0 on: texts would be hashed for each field of each row.
package enum ImportColumn: Int, CaseIterable, Sendable, Hashable {
    case store, shelf, sku, name, brand, price, promoPrice, promoFrom, promoTo
    /// The crossed-out price of files whose `price` is the current one.
    case regularPrice
    /// The deposit for a product, of which only prices that include it make use.
    case deposit
    case currency, size, unit, packCount, drained
    /// The unit price that the file states, which checks the size.
    case unitPrice
    case popularity, inStock, tags, position, barcode, imageURL, group
    /// An object of JSON with all attributes of a product.
    case attributes

    package init?(columnName: String) {
        guard let column = Self.allCases.first(where: { $0.columnName == columnName }) else { return nil }
        self = column
    }

    /// The name of the column in files and options.
    package var columnName: String {
        switch self {
        case .store: "store"
        case .shelf: "shelf"
        case .sku: "sku"
        case .name: "name"
        case .brand: "brand"
        case .price: "price"
        case .promoPrice: "promo_price"
        case .promoFrom: "promo_from"
        case .promoTo: "promo_to"
        case .regularPrice: "regular_price"
        case .deposit: "deposit"
        case .currency: "currency"
        case .size: "size"
        case .unit: "unit"
        case .packCount: "pack_count"
        case .drained: "drained"
        case .unitPrice: "unit_price"
        case .popularity: "popularity"
        case .inStock: "in_stock"
        case .tags: "tags"
        case .position: "position"
        case .barcode: "barcode"
        case .imageURL: "image_url"
        case .group: "group"
        case .attributes: "attributes"
        }
    }

    /// The columns of exports. Of promotions, only those that apply now are stored.
    package static let exported = allCases.filter {
        ![.promoFrom, .promoTo, .regularPrice, .deposit, .unitPrice].contains($0)
    }
}
