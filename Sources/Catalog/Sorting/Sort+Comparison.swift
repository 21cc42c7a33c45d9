/// Compares two texts in the language of the store: negative, zero or positive. It is passed in, because this
/// target has no ICU.
package typealias Collator = @Sendable (String, String) -> Int

extension Sort {
    /// Returns products in this order. The database's order is tested against this specification.
    ///
    /// - Parameters:
    ///   - dimension: the shelf's comparison dimension.
    ///   - collate: the store's language; equal texts are then compared by bytes.
    ///   - relevance: returns how well a product matches the search; nil without a search.
    /// - Complexity: O(*n* log *n*) comparisons; the values of a product are read once.
    package func sorted(
        _ listings: some Sequence<Listing>,
        dimension: Dimension,
        collate: Collator,
        relevance: (Product) -> SearchRelevance? = { _ in nil }
    ) -> [Listing] {
        let terms = comparedTerms
        return listings.map { ComparedListing($0, by: terms, relevance) }
            .sorted { precedes($0, $1, by: terms, dimension, collate) }.map(\.listing)
    }

    /// Returns whether one product precedes another, as in ``sorted(_:dimension:collate:relevance:)``.
    package func precedes(
        _ a: Listing,
        _ b: Listing,
        dimension: Dimension,
        collate: Collator,
        relevance: (Product) -> SearchRelevance? = { _ in nil }
    ) -> Bool {
        let terms = comparedTerms
        let (x, y) = (ComparedListing(a, by: terms, relevance), ComparedListing(b, by: terms, relevance))
        return precedes(x, y, by: terms, dimension, collate)
    }

    /// A product with its value of each compared term.
    private struct ComparedListing {
        let listing: Listing
        let values: [SortValue]

        init(_ listing: Listing, by terms: [Term], _ relevance: (Product) -> SearchRelevance?) {
            self.listing = listing
            values = terms.map { term in
                term.key.readsMatches
                    ? .integer(Int64(relevance(listing.product)?.value(of: term.key) ?? .max))
                    : term.key.value(of: listing)
            }
        }
    }

    private func precedes(
        _ a: ComparedListing,
        _ b: ComparedListing,
        by terms: [Term],
        _ dimension: Dimension,
        _ collate: Collator
    ) -> Bool {
        if respectsAvailability, a.listing.isSoldOut != b.listing.isSoldOut { return b.listing.isSoldOut }
        for (number, term) in terms.enumerated() {
            let order =
                term.key == .unitPrice
                ? compareUnitPrices(a.listing, b.listing, dimension)
                : Self.compare(a.values[number], b.values[number], collate)
            switch order {
            case .same: continue
            case .fixed(let isBefore): return isBefore
            // The best matches, which come first, have the least values.
            case .directional(let isLess): return isLess == (term.direction == .ascending || term.key.readsMatches)
            }
        }
        let (x, y) = (a.listing.product, b.listing.product)
        let names = Self.compare(x.name, y.name, collate)
        let isBefore = names == 0 ? x.sku < y.sku : names < 0
        let isSame = names == 0 && x.sku == y.sku
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

    private static func compare(_ a: SortValue, _ b: SortValue, _ collate: Collator) -> Order {
        switch (a, b) {
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
