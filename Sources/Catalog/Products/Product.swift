/// A product of a store.
package struct Product: Hashable, Sendable {
    package var sku: SKU
    package var name: String
    package var brand: String?
    /// The current price in minor units; below `priceLimit`.
    package var priceMinor: Int64?
    /// The crossed-out price, if there is one.
    package var regularPriceMinor: Int64?
    package var size: Size?
    package var barcode: String?
    package var imageURL: String?
    /// The key of the product's group: products with the same one are shown as one card, if a request wants that.
    package var group: String?
    /// A client-defined JSON object of at most `attributesLimit` bytes.
    package var attributes: String
    package var popularity: Popularity
    package var inStock: Bool
    package var tags: [String]
    package var createdAt: Timestamp
    package var modifiedAt: Timestamp

    package init(
        sku: SKU,
        name: String,
        brand: String? = nil,
        priceMinor: Int64? = nil,
        regularPriceMinor: Int64? = nil,
        size: Size? = nil,
        barcode: String? = nil,
        imageURL: String? = nil,
        group: String? = nil,
        attributes: String = "{}",
        popularity: Popularity = .none,
        inStock: Bool = true,
        tags: [String] = [],
        createdAt: Timestamp = Timestamp(microseconds: 0),
        modifiedAt: Timestamp = Timestamp(microseconds: 0)
    ) {
        self.sku = sku
        self.name = name
        self.brand = brand
        self.priceMinor = priceMinor
        self.regularPriceMinor = regularPriceMinor
        self.size = size
        self.barcode = barcode
        self.imageURL = imageURL
        self.group = group
        self.attributes = attributes
        self.popularity = popularity
        self.inStock = inStock
        self.tags = tags
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
    }

    package var unitPrice: UnitPrice? { UnitPrice(priceMinor: priceMinor, size: size) }

    /// The exclusive upper limit of a price, in minor units.
    package static let priceLimit: Int128 = 1_000_000_000_000
    package static let nameLimit = 500
    package static let tagCountLimit = 50
    package static let tagLimit = 64
    package static let attributesLimit = 4096

    package static let tagRule =
        "1 to \(tagLimit) bytes of printable text without | or ; and without leading or trailing spaces"

    package static func isTag(_ text: String) -> Bool {
        (1...tagLimit).contains(text.utf8.count) && text.isPrintable && !text.utf8.contains { $0 == 0x7C || $0 == 0x3B }
            && text.first?.isWhitespace == false && text.last?.isWhitespace == false
    }

    package static let imageURLRule = "an http:// or https:// address, or a path that starts with /"

    package static func isImageURL(_ text: String) -> Bool {
        let isPlain = text.unicodeScalars.allSatisfy { $0.value > 0x20 && !$0.properties.isWhitespace }
        return isPlain && ["https://", "http://", "/"].contains { text.lowercased().hasPrefix($0) }
    }
}

/// An optional text of a product, with one row for all layers.
///
/// Requests, responses, the columns of files and of the database, and the images of shelves follow from this enum. A text is of one line,
/// in Unicode's composed form, and never empty.
package enum ProductText: CaseIterable, Sendable {
    case brand, barcode, imageURL, group

    private var row: (name: StaticString, limit: Int, column: ImportColumn) {
        switch self {
        case .brand: ("brand", 200, .brand)
        case .barcode: ("barcode", 64, .barcode)
        case .imageURL: ("image_url", 2000, .imageURL)
        // The id of a group in an order is as long as a SKU.
        case .group: ("group", SKU.byteLimit - GroupCard.idPrefix.utf8.count, .group)
        }
    }

    /// The name in JSON.
    package var name: StaticString { row.name }
    /// The maximum length in bytes.
    package var limit: Int { row.limit }
    /// The column of files for import and of exports.
    package var column: ImportColumn { row.column }
}

extension Product {
    package var prices: PriceRevision.Prices {
        get { .init(price: priceMinor, regular: regularPriceMinor) }
        set { (priceMinor, regularPriceMinor) = (newValue.price, newValue.regular) }
    }

    /// A text of the product; nil if it is missing. Rendering uses it, so it is a switch: a key path would be slower.
    package subscript(text: ProductText) -> String? {
        get {
            switch text {
            case .brand: brand
            case .barcode: barcode
            case .imageURL: imageURL
            case .group: group
            }
        }
        set {
            switch text {
            case .brand: brand = newValue
            case .barcode: barcode = newValue
            case .imageURL: imageURL = newValue
            case .group: group = newValue
            }
        }
    }
}
