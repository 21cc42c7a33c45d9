/// Compares two texts in the language of the store: negative, zero or positive. It is passed in, because this
/// target has no ICU.
package typealias Collator = @Sendable (String, String) -> Int

extension Sort {
    /// Returns whether one product precedes another. The database's order is tested against this specification.
    ///
    /// - Parameters:
    ///   - dimension: the shelf's comparison dimension.
    ///   - collate: the store's language; equal texts are then compared by bytes.
    ///   - relevance: returns how well a product matches the search; nil without a search.
    package func precedes(
        _ a: Listing,
        _ b: Listing,
        dimension: Dimension,
        collate: Collator,
        relevance: (Product) -> SearchRelevance? = { _ in nil }
    ) -> Bool {
        if respectsAvailability, a.isSoldOut != b.isSoldOut { return b.isSoldOut }
        for term in comparedTerms {
            if term.key.readsMatches {
                func value(_ listing: Listing) -> UInt8 { relevance(listing.product)?.value(of: term.key) ?? .max }
                let (x, y) = (value(a), value(b))
                if x != y { return x < y }
                continue
            }
            let order = compare(a, b, by: term.key, dimension: dimension, collate: collate)
            switch order {
            case .same: continue
            case .fixed(let isBefore): return isBefore
            case .directional(let isBefore): return isBefore == (term.direction == .ascending)
            }
        }
        let names = Self.compare(a.product.name, b.product.name, collate)
        let isBefore = names == 0 ? a.product.sku < b.product.sku : names < 0
        let isSame = names == 0 && a.product.sku == b.product.sku
        return !isSame && isBefore == (tieBreakerDirection == .ascending)
    }

    private enum Order {
        case same
        /// An order that the direction does not reverse: missing values and dimensions.
        case fixed(Bool)
        case directional(Bool)

        init(_ isLess: Bool, _ isGreater: Bool) {
            self = isLess ? .directional(true) : isGreater ? .directional(false) : .same
        }
    }

    private func compare(
        _ a: Listing,
        _ b: Listing,
        by key: SortKey,
        dimension: Dimension,
        collate: Collator
    ) -> Order {
        if key == .unitPrice { return compareUnitPrices(a, b, dimension) }
        return switch (key.value(of: a), key.value(of: b)) {
        case (.missing, .missing): .same
        case (.missing, _): .fixed(false)
        case (_, .missing): .fixed(true)
        case (.integer(let x), .integer(let y)): Order(x < y, x > y)
        case (.real(let x), .real(let y)): Order(x < y, x > y)
        case (.fraction(let x), .fraction(let y)): Order(x < y, y < x)
        case (.bytes(let x), .bytes(let y)): Order(x.lexicographicallyPrecedes(y), y.lexicographicallyPrecedes(x))
        case (.text(let x), .text(let y)):
            { order in Order(order < 0, order > 0) }(Self.compare(x, y, collate))
        default: preconditionFailure("a key's values have one type")
        }
    }

    /// Compares exact fractions, not stored keys: the keys are tested against this.
    private func compareUnitPrices(_ a: Listing, _ b: Listing, _ dimension: Dimension) -> Order {
        switch (a.product.unitPrice, b.product.unitPrice) {
        case (nil, nil): return .same
        case (nil, _): return .fixed(false)
        case (_, nil): return .fixed(true)
        case (let x?, let y?):
            if x.dimension != y.dimension {
                let order = dimension.groupOrder
                return .fixed(order.firstIndex(of: x.dimension)! < order.firstIndex(of: y.dimension)!)
            }
            return Order(x.isLess(than: y), y.isLess(than: x))
        }
    }

    private static func compare(_ x: String, _ y: String, _ collate: Collator) -> Int {
        let order = collate(x, y)
        if order != 0 { return order }
        if x.utf8.elementsEqual(y.utf8) { return 0 }
        return x.utf8.lexicographicallyPrecedes(y.utf8) ? -1 : 1
    }
}
