package import Catalog

extension Product {
    /// Reads a product from a body; what the server makes is ignored.
    package init(sku: SKU, currency: Currency, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        try reader.checkKey("sku", sku.text)
        reader.ignore("unit_price", "popularity", "as_of", "shelves", "created_at", "modified_at")
        guard let name = try reader.words("name", bytes: Self.nameLimit) else {
            throw .unprocessable(field: "name", detail: "name is missing")
        }
        if let code = try reader.string("currency", bytes: 16), code != currency.code {
            throw .unprocessable(field: "currency", detail: "the store's currency is \(currency.code), not \(code)")
        }
        let tags = try reader.strings("tags") ?? []
        guard tags.count <= Self.tagCountLimit, tags.allSatisfy(Self.isTag), Set(tags).count == tags.count else {
            throw .unprocessable(
                field: "tags",
                detail: "there are at most \(Self.tagCountLimit) different tags, each \(Self.tagRule)"
            )
        }
        let imageURL = try reader.words("image_url", bytes: Self.imageURLLimit)
        guard imageURL.map(Self.isImageURL) ?? true else {
            throw .unprocessable(field: "image_url", detail: "image_url must be \(Self.imageURLRule)")
        }
        let attributes = reader.value("attributes") ?? .object([])
        guard attributes.isWithinNumberLimits else {
            throw .unprocessable(field: "attributes", detail: "a number in attributes has more than 64 digits")
        }
        guard case .object = attributes, attributes.text.utf8.count <= Self.attributesLimit else {
            throw .unprocessable(field: "attributes", detail: "attributes must be an object of at most 4096 bytes")
        }
        self.init(
            sku: sku,
            name: name,
            brand: try reader.words("brand", bytes: Self.brandLimit),
            priceMinor: try reader.price("price_minor"),
            regularPriceMinor: try reader.price("regular_price_minor"),
            size: try Size(field: "size", body: reader.value("size")),
            barcode: try reader.words("barcode", bytes: Self.barcodeLimit),
            imageURL: imageURL,
            attributes: attributes.text,
            inStock: try reader.bool("in_stock") ?? true,
            tags: tags
        )
        try reader.end()
        guard regularPriceMinor == nil || priceMinor != nil else {
            throw .unprocessable(
                field: "regular_price_minor",
                detail: "there is a crossed-out price only beside a price; leave regular_price_minor out too"
            )
        }
    }
}

extension Size {
    /// Reads a size from a body; nil for null or an amount of zero.
    fileprivate init?(field: String, body: JSONValue?) throws(CatalogError) {
        guard let body else { return nil }
        var reader = try BodyReader(body)
        guard let amount = try reader.decimal("amount"), let spelling = try reader.string("unit", bytes: 32) else {
            throw .unprocessable(field: field, detail: "a size needs an amount and a unit")
        }
        guard let unit = MeasureUnit(spelling: spelling) else {
            throw .malformed(
                parameter: field,
                detail: "no such unit: “\(spelling)”",
                allowed: MeasureUnit.allCases.map(\.rawValue)
            )
        }
        let packs = try reader.integer("packs") ?? 1
        let drained = try reader.decimal("drained")
        let isApproximate = try reader.bool("approximate") ?? false
        try reader.end()
        do {
            try self.init(
                amount: amount,
                unit: unit,
                packs: Int(packs),
                drained: drained,
                isApproximate: isApproximate
            )
        } catch {
            throw .unprocessable(field: field, detail: error.reason)
        }
    }
}

extension BodyReader {
    fileprivate mutating func price(_ name: String) throws(CatalogError) -> Int64? {
        guard let price = try integer(name) else { return nil }
        guard price >= 0, price < Product.priceLimit else {
            throw .unprocessable(field: name, detail: "\(name) must be from 0 to 999999999999 minor units")
        }
        return price
    }
}
