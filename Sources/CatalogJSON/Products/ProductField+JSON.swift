internal import JSON
internal import Catalog

// How JSON shows the fields of a product, and how request bodies set them.
extension ProductField {
    /// Writes the field of a response.
    ///
    /// - Parameter shelves: the product's shelves, if the response lists them.
    func write(
        _ product: Product,
        _ presentation: ProductPresentation,
        shelves: [CatalogKey]?,
        to json: inout JSONWriter
    ) {
        switch self {
        case .sku: json.field("sku", product.sku.text)
        case .name: json.field("name", product.name)
        case .priceMinor: json.field("price_minor", product.priceMinor)
        case .currency: json.field("currency", presentation.store.currency.code)
        case .regularPriceMinor: json.field("regular_price_minor", product.regularPriceMinor)
        case .size: json.field("size", product.size)
        case .unitPrice: json.field("unit_price", presentation.unitPrice(product))
        case .text(let text): json.field(text.name, product[text])
        case .attributes: json.field("attributes", json: product.attributes)
        case .popularity: json.field("popularity", presentation.score(product.popularity))
        case .inStock: json.field("in_stock", product.inStock)
        case .tags: json.array("tags", product.tags) { $0.string($1) }
        case .asOf: if shelves != nil { json.field("as_of", presentation.scoreDate) }
        case .shelves: if let shelves { json.array("shelves", shelves) { $0.string($1.text) } }
        case .createdAt: json.field("created_at", product.createdAt.rfc3339)
        case .modifiedAt: json.field("modified_at", product.modifiedAt.rfc3339)
        }
    }

    /// Reads the field from a request body. Fields that the server computes are ignored.
    func read(
        _ body: inout BodyReader,
        currency: Currency,
        into product: inout Product
    ) throws(CatalogError) {
        switch self {
        case .sku: try body.checkKey("sku", product.sku.text)
        case .name: product.name = try body.productName()
        case .priceMinor: product.priceMinor = try body.price("price_minor")
        case .currency: try body.checkCurrency(currency)
        case .regularPriceMinor: product.regularPriceMinor = try body.price("regular_price_minor")
        case .size: product.size = try body.size()
        case .unitPrice: body.ignore("unit_price")
        case .text(.imageURL): product.imageURL = try body.imageURL()
        case .text(let text): product[text] = try body.text(text)
        case .attributes: product.attributes = try body.attributes()
        case .popularity: body.ignore("popularity")
        case .inStock: product.inStock = try body.bool("in_stock") ?? true
        case .tags: product.tags = try body.tags()
        case .asOf: body.ignore("as_of")
        case .shelves: body.ignore("shelves")
        case .createdAt: body.ignore("created_at")
        case .modifiedAt: body.ignore("modified_at")
        }
    }
}
