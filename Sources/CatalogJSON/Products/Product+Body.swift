package import JSON
package import Catalog

extension Product {
    /// Reads a product from a request body. Fields that the server computes are ignored.
    package init(sku: SKU, currency: Currency, body: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(body)
        self.init(sku: sku, name: "")
        for field in ProductField.allCases { try field.read(&reader, currency: currency, into: &self) }
        try reader.end()
        guard prices.isValid else {
            throw .unprocessable(field: "regular_price_minor", detail: PriceRevision.Prices.rule)
        }
    }
}

extension Product {
    /// Returns the product after a merge patch (RFC 7396). A regular price that is not in the patch follows the rule of `PriceChange`.
    ///
    /// - Throws: as `init(sku:currency:body:)`.
    package func merging(_ patch: JSONValue, in store: Store) throws(CatalogError) -> Product {
        var base = self
        if let price = patch["price_minor"], patch["regular_price_minor"] == nil {
            var minor: Int64?
            if case .number(let digits) = price { minor = Int64(integral: digits) }
            base.prices = PriceChange(sku: sku, priceMinor: minor).applied(to: prices)
        }
        return try Product(sku: sku, currency: store.currency, body: JSONValue.object(base.members()).merging(patch))
    }
}

extension BodyReader {
    mutating func productName() throws(CatalogError) -> String {
        guard let name = try nonBlankString("name", bytes: Product.nameLimit) else {
            throw .unprocessable(field: "name", detail: "name is required")
        }
        return name
    }

    mutating func checkCurrency(_ currency: Currency) throws(CatalogError) {
        guard let code = try string("currency", bytes: 16), code != currency.code else { return }
        throw .unprocessable(field: "currency", detail: "the store's currency is \(currency.code), not \(code)")
    }

    /// A price in minor units.
    mutating func price(_ name: String) throws(CatalogError) -> Int64? {
        guard let price = try integer(name) else { return nil }
        guard price >= 0, price < Product.priceLimit else {
            throw .unprocessable(
                field: name,
                detail: "\(name) must be between 0 and \(Product.priceLimit - 1) minor units"
            )
        }
        return price
    }

    mutating func text(_ text: ProductText) throws(CatalogError) -> String? {
        try nonBlankString(text.name.description, bytes: text.limit)
    }

    mutating func imageURL() throws(CatalogError) -> String? {
        let imageURL = try text(.imageURL)
        guard imageURL.map(Product.isImageURL) ?? true else {
            throw .unprocessable(field: "image_url", detail: "image_url must be \(Product.imageURLRule)")
        }
        return imageURL
    }

    private static let attributesRule = "attributes must be an object of at most \(Product.attributesLimit) bytes"

    mutating func attributes() throws(CatalogError) -> String {
        let attributes = value("attributes") ?? .object([])
        guard case .object(let members) = attributes else {
            throw .unprocessable(field: "attributes", detail: Self.attributesRule)
        }
        func field(_ member: JSONValue.Member) -> String { "attributes.\(member.name.prefix(64))" }
        if let member = members.first(where: { !$0.value.isWithinNumberLimits }) {
            throw .unprocessable(
                field: field(member),
                detail:
                    "numbers in \(field(member)) must have at most \(JSONValue.numberLimit) characters when written out"
            )
        }
        let text = attributes.text
        guard text.utf8.count <= Product.attributesLimit else {
            // One value may be too long without the others.
            let long = members.first { JSONValue.object([$0]).text.utf8.count > Product.attributesLimit }
            throw .unprocessable(
                field: long.map(field) ?? "attributes",
                detail: (long.map { "\(field($0)) is too long: " } ?? "") + Self.attributesRule
            )
        }
        return text
    }

    mutating func tags() throws(CatalogError) -> [String] {
        let tags = (try strings("tags") ?? []).map(\.composed)
        guard tags.count <= Product.tagCountLimit, tags.allSatisfy(Product.isTag), Set(tags).count == tags.count else {
            throw .unprocessable(
                field: "tags",
                detail: "tags must have at most \(Product.tagCountLimit) distinct strings, each \(Product.tagRule)"
            )
        }
        return tags
    }

    /// A size; nil for null or an amount of zero.
    mutating func size() throws(CatalogError) -> Size? {
        guard let body = value("size") else { return nil }
        var reader = try BodyReader(body, parameter: "size", example: #"{"amount":"1","unit":"kg"}"#)
        guard let amount = try reader.decimal("amount"), let spelling = try reader.string("unit", bytes: 32) else {
            throw .unprocessable(field: "size", detail: "size requires amount and unit")
        }
        guard let unit = MeasureUnit(spelling: spelling) else {
            throw .malformed(
                parameter: "size",
                detail: "unknown unit “\(spelling)”",
                allowed: MeasureUnit.allCases.map(\.rawValue)
            )
        }
        let packs = try reader.integer("packs") ?? 1
        let drained = try reader.decimal("drained")
        let isApproximate = try reader.bool("approximate") ?? false
        try reader.end()
        do {
            return try Size(
                amount: amount,
                unit: unit,
                packs: Int(packs),
                drained: drained,
                isApproximate: isApproximate
            )
        } catch {
            throw .unprocessable(field: "size", detail: error.reason)
        }
    }
}
