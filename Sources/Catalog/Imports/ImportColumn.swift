/// The columns of an import file, by their canonical names.
package enum ImportColumn: String, CaseIterable, Sendable, Hashable {
    case store, shelf, sku, name, brand, price
    case promoPrice = "promo_price"
    case currency, size, unit
    case packCount = "pack_count"
    case drained, popularity
    case inStock = "in_stock"
    case tags, position, barcode
    case imageURL = "image_url"
}
