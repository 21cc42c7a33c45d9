/// The columns of an import file, by their canonical names.
package enum ImportColumn: String, CaseIterable, Sendable, Hashable {
    case store, shelf, sku, name, brand, price
    case promoPrice = "promo_price"
    case promoFrom = "promo_from"
    case promoTo = "promo_to"
    /// The crossed-out price of files whose `price` is the current one.
    case regularPrice = "regular_price"
    /// The deposit for a product, of which only prices that include it make use.
    case deposit
    case currency, size, unit
    case packCount = "pack_count"
    case drained
    /// The unit price that the file states, which checks the size.
    case unitPrice = "unit_price"
    case popularity
    case inStock = "in_stock"
    case tags, position, barcode
    case imageURL = "image_url"
    /// An object of JSON with all attributes of a product.
    case attributes

    /// The columns of exports. Of promotions, only those that apply now are stored.
    package static let exported = allCases.filter {
        ![.promoFrom, .promoTo, .regularPrice, .deposit, .unitPrice].contains($0)
    }
}
