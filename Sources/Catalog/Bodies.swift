extension Store {
    /// Reads a store from a body. What the body leaves out has its default.
    package init(key: CatalogKey, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        try reader.checkKey("key", key.text)
        let title = try reader.words("title", bytes: Store.titleBound) ?? key.text
        guard let code = try reader.string("currency", bytes: 16) else {
            throw .unprocessable(field: "currency", detail: "currency is missing; give its ISO 4217 code, such as EUR")
        }
        guard let currency = Currency(code) else {
            throw .unprocessable(field: "currency", detail: "“\(code)” is no ISO 4217 code")
        }
        let locale = try reader.string("locale", bytes: 35) ?? "en"
        guard
            locale.utf8.allSatisfy({
                $0 == UInt8(ascii: "-") || Character(UnicodeScalar($0)).isLetter || (48...57).contains($0)
            })
        else { throw .unprocessable(field: "locale", detail: "“\(locale)” is no BCP 47 language tag") }
        self.init(
            key: key,
            title: title,
            currency: currency,
            locale: locale,
            unitPricing: try reader.choice("unit_pricing") ?? .eu,
            soldOut: try reader.choice("sold_out") ?? .last,
            defaultSort: try reader.sort("default_sort"),
            popularityMetric: try reader.choice("popularity_metric") ?? .decay,
            popularityHalfLifeDays: Int(try reader.integer("popularity_half_life_days") ?? 14),
            newcomerBoost: try reader.double("newcomer_boost") ?? 0
        )
        guard Self.halfLifeBounds.contains(popularityHalfLifeDays) else {
            throw .unprocessable(field: "popularity_half_life_days", detail: "the half-life must be 1 to 3650 days")
        }
        guard (0...Self.boostBound).contains(newcomerBoost) else {
            throw .unprocessable(field: "newcomer_boost", detail: "the newcomer boost must be 0 to 1000000 purchases")
        }
        try reader.end()
    }
}

extension Shelf {
    /// Reads a shelf from a body; what the server makes is ignored.
    package init(key: CatalogKey, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        try reader.checkKey("key", key.text)
        reader.ignore("product_count", "modified_at", "version", "order_version", "sort_options", "filter_options")
        var parent: CatalogKey?
        if let text = try reader.string("parent", bytes: 64) {
            parent = CatalogKey(text)
            if parent == nil { throw .unprocessable(field: "parent", detail: "a shelf's key is \(CatalogKey.rule)") }
            if parent == key { throw .unprocessable(field: "parent", detail: "a shelf cannot be its own parent") }
        }
        self.init(
            key: key,
            title: try reader.words("title", bytes: Shelf.titleBound) ?? key.text,
            parent: parent,
            defaultSort: try reader.sort("default_sort"),
            dimension: try reader.choice("dimension"),
            soldOut: try reader.choice("sold_out"),
            positionSource: try reader.sort("position_source")
        )
        try reader.end()
    }
}

extension Product {
    /// Reads a product from a body; what the server makes is ignored.
    package init(sku: SKU, currency: Currency, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        try reader.checkKey("sku", sku.text)
        reader.ignore("unit_price", "popularity", "as_of", "shelves", "created_at", "modified_at")
        guard let name = try reader.words("name", bytes: Self.nameBound) else {
            throw .unprocessable(field: "name", detail: "name is missing")
        }
        if let code = try reader.string("currency", bytes: 16), code != currency.code {
            throw .unprocessable(field: "currency", detail: "the store's currency is \(currency.code), not \(code)")
        }
        let tags = try reader.strings("tags") ?? []
        guard tags.count <= Self.tagCountBound, tags.allSatisfy(Self.isTag), Set(tags).count == tags.count else {
            throw .unprocessable(
                field: "tags",
                detail: "there are at most \(Self.tagCountBound) different tags, each \(Self.tagRule)"
            )
        }
        let imageURL = try reader.words("image_url", bytes: Self.imageURLBound)
        guard imageURL.map(Self.isImageURL) ?? true else {
            throw .unprocessable(field: "image_url", detail: "image_url must be \(Self.imageURLRule)")
        }
        let attributes = reader.value("attributes") ?? .object([])
        guard attributes.isWithinNumberBounds else {
            throw .unprocessable(field: "attributes", detail: "a number in attributes has more than 64 digits")
        }
        guard case .object = attributes, attributes.text.utf8.count <= Self.attributesBound else {
            throw .unprocessable(field: "attributes", detail: "attributes must be an object of at most 4096 bytes")
        }
        self.init(
            sku: sku,
            name: name,
            brand: try reader.words("brand", bytes: Self.brandBound),
            priceMinor: try reader.price("price_minor"),
            regularPriceMinor: try reader.price("regular_price_minor"),
            size: try Size(field: "size", body: reader.value("size")),
            barcode: try reader.words("barcode", bytes: Self.barcodeBound),
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
    fileprivate mutating func checkKey(_ name: String, _ expected: String) throws(CatalogError) {
        if let given = try string(name, bytes: 256), given != expected {
            throw .unprocessable(field: name, detail: "\(name) is “\(given)” in the body and “\(expected)” in the path")
        }
    }

    fileprivate mutating func price(_ name: String) throws(CatalogError) -> Int64? {
        guard let price = try integer(name) else { return nil }
        guard price >= 0, price < Product.priceBound else {
            throw .unprocessable(field: name, detail: "\(name) must be from 0 to 999999999999 minor units")
        }
        return price
    }
}
