package import JSON

extension Product {
    /// Returns fields that requests set, as members of a body.
    ///
    /// - Parameter fields: the fields, of which computed ones are left out.
    /// - Throws: `fault` for attributes that are not JSON.
    package func members(of fields: [ProductField] = ProductField.allCases) throws(CatalogError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        for field in fields { if let found = try member(of: field) { members.append(found) } }
        return members
    }

    /// Returns a field as a member of a body; nil for a computed field.
    private func member(of field: ProductField) throws(CatalogError) -> JSONValue.Member? {
        switch field {
        case .name: JSONValue.Member("name", .string(name))
        case .text(let text): JSONValue.Member("\(text.name)", .text(self[text]))
        case .priceMinor: JSONValue.Member("price_minor", .integer(priceMinor))
        case .regularPriceMinor: JSONValue.Member("regular_price_minor", .integer(regularPriceMinor))
        case .size: JSONValue.Member("size", size?.json ?? .null)
        case .attributes: JSONValue.Member("attributes", try parsedAttributes())
        case .inStock: JSONValue.Member("in_stock", .bool(inStock))
        case .tags: JSONValue.Member("tags", .array(tags.map { .string($0) }))
        case .sku, .currency, .unitPrice, .popularity, .asOf, .shelves, .createdAt, .modifiedAt: nil
        }
    }

    private func parsedAttributes() throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(Array(attributes.utf8)) } catch {
            throw .fault("the attributes of product “\(sku)” are not JSON: \(error.detail)")
        }
    }
}

extension Size {
    /// The size as a member of a body.
    package var json: JSONValue {
        .object([
            .init("amount", .string(amount.description)), .init("unit", .string(unit.rawValue)),
            .init("packs", .integer(packs)), .init("drained", .text(drained?.description)),
            .init("approximate", .bool(isApproximate)),
        ])
    }
}
