package import Catalog
package import Ordering

extension FilterKey {
    /// Returns random query values, chosen so that products lie exactly on their limits.
    package func random(_ products: [Product], _ currency: Currency, using generator: inout SeededGenerator) -> [String]
    {
        func one<T>(_ value: (Product) -> T?) -> T {
            products.compactMap(value).randomElement(using: &generator)!
        }
        switch self {
        case .brand: return ["", one(\.brand), one(\.brand)].shuffled(using: &generator).prefix(2).map { $0 }
        case .tag: return ["", "organic", "new", "sale"].shuffled(using: &generator).prefix(2).map { $0 }
        case .tagsAll: return ["organic", "čaj", "new"].shuffled(using: &generator).prefix(2).map { $0 }
        case .tagsNone: return ["čaj", "ärla", "new"].shuffled(using: &generator).prefix(2).map { $0 }
        case .inStock: return [["true", "false"].randomElement(using: &generator)!]
        case .priceMin, .priceMax:
            // Including values between two minor units.
            return [currency.decimal(one(\.priceMinor)) + ["", "4"].randomElement(using: &generator)!]
        case .unitPriceMax:
            let units: [Dimension: String] = [
                .mass: "g", .volume: "ml", .piece: "piece", .length: "m", .area: "m2", .dose: "dose",
            ]
            return [
                one { product in
                    guard let price = product.priceMinor, let size = product.size,
                        size.baseQuantity.description.utf8.count <= 12
                    else { return nil }
                    return "\(currency.decimal(price))/\(size.baseQuantity)\(units[size.unit.dimension]!)"
                }
            ]
        case .createdAfter, .createdBefore: return [one(\.createdAt).rfc3339]
        case .modifiedAfter, .modifiedBefore:
            return [String(one(\.modifiedAt).rfc3339.prefix([10, 40].randomElement(using: &generator)!))]
        case .dimension:
            return Dimension.allCases.shuffled(using: &generator).prefix(2).map(\.rawValue)
        case .attribute(let attribute, let condition):
            return attribute.resolved?.randomTexts(condition, products, using: &generator) ?? []
        }
    }
}
