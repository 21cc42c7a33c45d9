/// The columns of an import file, by their canonical names.
package enum ImportColumn: String, CaseIterable, Sendable, Hashable {
    case store, shelf, sku, name, brand, price
    case promoPrice = "promo_price"
    case promoFrom = "promo_from"
    case promoTo = "promo_to"
    case currency, size, unit
    case packCount = "pack_count"
    case drained, popularity
    case inStock = "in_stock"
    case tags, position, barcode
    case imageURL = "image_url"

    /// The columns of exports. Of promotions, only those that apply now are stored.
    package static let exported = allCases.filter { $0 != .promoFrom && $0 != .promoTo }
}
