internal import JSON

/// A row of a file as an import reads it, which a dry run shows.
package struct ImportPreview: Sendable, Hashable {
    package let line: Int
    package let store: CatalogKey
    package let currency: Currency
    /// The shelves by their keys or titles in the file, each after those above it.
    package let shelves: [[String]]
    package private(set) var product: Product
    /// Whether the file has prices, and whether it has sizes. Otherwise, stored products keep theirs.
    private let (hasPrices, hasSizes): (Bool, Bool)

    package init(
        line: Int,
        store: CatalogKey,
        currency: Currency,
        shelves: [[String]],
        product: Product,
        hasPrices: Bool = true,
        hasSizes: Bool = true
    ) {
        self.line = line
        self.store = store
        self.currency = currency
        self.shelves = shelves
        self.product = product
        (self.hasPrices, self.hasSizes) = (hasPrices, hasSizes)
    }

    /// Removes an attribute that the import clears.
    package mutating func clear(attribute name: String) {
        guard case .object(let members)? = try? JSONReader.parse(Array(product.attributes.utf8)) else { return }
        product.attributes = JSONValue.object(members.filter { $0.name != name }).text
    }

    /// The row in one line for people.
    package var description: String {
        var parts = ["\(product.sku) “\(product.name)”"]
        if let brand = product.brand { parts.append("brand \(brand)") }
        if let price = product.priceMinor {
            parts.append("\(currency.decimal(price)) \(currency.code)")
            if let regular = product.regularPriceMinor { parts.append("was \(currency.decimal(regular))") }
        } else if hasPrices {
            parts.append("no price")
        }
        if let size = product.size { parts.append(Self.text(size)) } else if hasSizes { parts.append("no size") }
        if shelves.isEmpty { parts.append("no shelf") }
        for shelf in shelves { parts.append("shelf \(shelf.joined(separator: " > "))") }
        if !product.inStock { parts.append("sold out") }
        if !product.tags.isEmpty { parts.append("tags \(product.tags.joined(separator: " | "))") }
        if let barcode = product.barcode { parts.append("barcode \(barcode)") }
        if let group = product.group { parts.append("group \(group)") }
        if product.attributes != "{}" { parts.append("attributes \(product.attributes)") }
        return "line \(line): \(parts.joined(separator: ", "))"
    }

    private static func text(_ size: Size) -> String {
        let packs = size.packs == 1 ? "" : "\(size.packs) x "
        let drained = size.drained.map { " (\($0) drained)" } ?? ""
        return "\(size.isApproximate ? "~" : "")\(packs)\(size.amount) \(size.unit.rawValue)\(drained)"
    }
}
