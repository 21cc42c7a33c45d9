package import Catalog

extension ShelfTable {
    /// Counts facets; each one's counts ignore its own filter.
    ///
    /// - Complexity: O(*n* + *v* log *v*) for *n* products with *v* distinct values.
    package func facets(_ counted: Set<Facet>, _ filter: Filter, in currency: Currency) -> Facets {
        // A row counts for a facet if no other facet's filter excludes it.
        var excluded = [UInt8](repeating: 0, count: count)
        func exclude(_ keys: Set<FilterKey>, _ bit: UInt8) {
            let part = filter.without(Set(FilterKey.allCases).subtracting(keys))
            guard !part.isEmpty else { return }
            for (row, matches) in rows(matching: part, in: currency).enumerated() where !matches {
                excluded[row] |= bit
            }
        }
        var others = Set(FilterKey.allCases)
        for facet in Facet.allCases {
            exclude(facet.keys, facet.bit)
            others.subtract(facet.keys)
        }
        exclude(others, Self.otherFilters)

        var facets = Facets(counted: counted)
        facets.total = excluded.count { $0 == 0 }
        for facet in counted {
            let rows = (0..<count).lazy.filter { excluded[$0] & ~facet.bit == 0 }
            switch facet {
            case .brand:
                let counts = Self.counts(rows.lazy.map { self.brands[$0] }, brandTexts.count)
                facets.brands = Self.ordered(counts.numbers, counts.none, brandTexts)
            case .tag:
                let sets = Self.counts(rows.lazy.map { self.tagSets[$0] }, tagSetValues.count)
                var (tags, none) = ([Int](repeating: 0, count: tagTexts.count), 0)
                for (set, count) in zip(tagSetValues, sets.numbers) {
                    if set.isEmpty { none += count }
                    for tag in set { tags[Int(tag)] += count }
                }
                facets.tags = Self.ordered(tags, none, tagTexts)
            case .inStock:
                for row in rows { if inStock[row] { facets.inStock += 1 } else { facets.soldOut += 1 } }
            case .price: (facets.prices, facets.unpriced) = Self.counts(rows.lazy.map { self.prices[$0] })
            }
        }
        return facets
    }

    /// The bit of filters without a facet.
    private static let otherFilters: UInt8 = 0x80

    /// Counts each number, and missing ones.
    private static func counts(_ values: some Sequence<UInt32>, _ valueCount: Int) -> (numbers: [Int], none: Int) {
        var (numbers, none) = ([Int](repeating: 0, count: valueCount), 0)
        for value in values { if value == Self.none { none += 1 } else { numbers[Int(value)] += 1 } }
        return (numbers, none)
    }

    /// Counts each price in ascending order, and products without a price.
    private static func counts(_ prices: some Sequence<Int64>) -> ([PriceCount], unpriced: Int) {
        var (lowest, highest, total, unpriced) = (Int64.max, Int64.min, 0, 0)
        for price in prices {
            if price == noPrice {
                unpriced += 1
            } else {
                (lowest, highest, total) = (min(lowest, price), max(highest, price), total + 1)
            }
        }
        guard total > 0 else { return ([], unpriced) }
        // Most shelves have prices of a small range, which need neither hashes nor a sort.
        if highest - lowest < Int64(max(4096, 16 * total)) {
            var counts = [Int32](repeating: 0, count: Int(highest - lowest) + 1)
            for price in prices where price != noPrice { counts[Int(price - lowest)] += 1 }
            let found = counts.enumerated().lazy.filter { $0.element > 0 }
            return (found.map { PriceCount(lowest + Int64($0.offset), Int($0.element)) }, unpriced)
        }
        var counts: [Int64: Int] = [:]
        for price in prices where price != noPrice { counts[price, default: 0] += 1 }
        return (counts.sorted { $0.key < $1.key }.map { PriceCount($0.key, $0.value) }, unpriced)
    }

    /// Returns the counts above 0 by descending count, then by text; no text comes first.
    private static func ordered(_ counts: [Int], _ none: Int, _ texts: CollatedTexts) -> [Facets.Count] {
        let found =
            (none > 0 ? [(number: -1, count: none)] : [])
            + counts.enumerated().filter { $0.element > 0 }.map { (number: $0.offset, count: $0.element) }
        return found.sorted { ($1.count, $0.number) < ($0.count, $1.number) }
            .map { Facets.Count($0.number < 0 ? "" : texts.texts.text($0.number), $0.count) }
    }
}
