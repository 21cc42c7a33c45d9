package import Catalog

/// The values of a product on a shelf.
package struct TableRow: Sendable, Hashable {
    package var sku: SKU
    package var name: CollatedText
    package var brand: CollatedText?
    package var tags: [CollatedText]
    /// The price in minor units, from 0 to below `Product.priceLimit`.
    package var priceMinor: Int64?
    package var size: BaseQuantity?
    package var popularity: Popularity
    package var inStock: Bool
    package var createdAt: Timestamp
    package var modifiedAt: Timestamp
    /// The ordering key in the shelf's manual order.
    package var position: [UInt8]
    package var imageURL: String?
    /// The values without a column of their own.
    package var details: ProductDetails

    package init(
        sku: SKU,
        name: CollatedText,
        brand: CollatedText?,
        tags: [CollatedText],
        priceMinor: Int64?,
        size: BaseQuantity?,
        popularity: Popularity,
        inStock: Bool,
        createdAt: Timestamp,
        modifiedAt: Timestamp,
        position: [UInt8],
        imageURL: String?,
        details: ProductDetails
    ) {
        self.sku = sku
        self.name = name
        self.brand = brand
        self.tags = tags
        self.priceMinor = priceMinor
        self.size = size
        self.popularity = popularity
        self.inStock = inStock
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
        self.position = position
        self.imageURL = imageURL
        self.details = details
    }
}

extension TableRow {
    /// - Parameter key: returns the sort key of a text in the language of the store.
    package init(_ product: Product, position: [UInt8], key: (String) -> [UInt8]) {
        func collated(_ text: String) -> CollatedText { CollatedText(text, key: key(text)) }
        sku = product.sku
        name = collated(product.name)
        brand = product.brand.map(collated)
        tags = product.tags.map(collated)
        priceMinor = product.priceMinor
        size = product.size.map(BaseQuantity.init)
        popularity = product.popularity
        inStock = product.inStock
        createdAt = product.createdAt
        modifiedAt = product.modifiedAt
        self.position = position
        imageURL = product.imageURL
        details = ProductDetails(product)
    }
}

extension ShelfTable {
    /// Creates a table from its rows, in any order.
    ///
    /// - Precondition: each sku occurs once.
    /// - Complexity: as `ShelfTableBuilder.table`.
    package init(_ rows: [TableRow]) {
        let builder = ShelfTableBuilder(rows: rows.count)
        for row in rows { builder.append(row) }
        self = builder.table()
    }

    /// Returns the number of a value in a list without duplicates, to which a new value is appended.
    static func number<Value: Hashable>(
        of value: Value,
        _ numbers: inout [Value: UInt32],
        _ values: inout [Value]
    ) -> UInt32 {
        if let known = numbers[value] { return known }
        let number = UInt32(values.count)
        numbers[value] = number
        values.append(value)
        return number
    }
}
