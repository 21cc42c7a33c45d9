import Catalog
import Ordering
import Shelves
import Testing

@Suite struct FacetTests {
    @Test(
        "Facets count the products that the specification keeps without each facet's own filter",
        arguments: 0..<40 as Range<UInt64>
    )
    func oracle(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = RandomShelf(Int.random(in: 1...150, using: &generator), using: &generator)
        let table = shelf.table
        for keys in 0...4 {
            guard let filter = shelf.filter(keys, using: &generator) else { continue }
            let facets = table.facets(Set(Facet.allCases), filter, in: RandomShelf.currency)
            func products(_ facet: Facet) -> [Product] {
                shelf.listings.map(\.product).filter {
                    filter.without(facet.keys).accepts($0, in: RandomShelf.currency)
                }
            }
            #expect(facets.total == shelf.sorted(.system, filter).count)
            #expect(facets.brands == Self.counts(products(.brand).map { $0.brand.map { [$0] } ?? [] }))
            #expect(facets.tags == Self.counts(products(.tag).map(\.tags)))
            #expect(facets.inStock == products(.inStock).count { $0.inStock })
            #expect(facets.soldOut == products(.inStock).count { !$0.inStock })
            let prices = products(.price).compactMap(\.priceMinor)
            #expect(
                facets.prices == Set(prices).sorted().map { price in PriceCount(price, prices.count { $0 == price }) }
            )
            #expect(facets.unpriced == products(.price).count { $0.priceMinor == nil })
        }
    }

    /// Counts values by hand: by descending count, then in the order of texts, of which none is first.
    private static func counts(_ values: [[String]]) -> [Facets.Count] {
        var counts: [Facets.Count] = []
        for text in values.flatMap({ $0.isEmpty ? [""] : $0 }) {
            if let index = counts.firstIndex(where: { $0.value.utf8.elementsEqual(text.utf8) }) {
                counts[index] = Facets.Count(text, counts[index].count + 1)
            } else {
                counts.append(Facets.Count(text, 1))
            }
        }
        return counts.sorted { a, b in
            if a.count != b.count { return a.count > b.count }
            let order = RandomShelf.collate(a.value, b.value)
            return order != 0 ? order < 0 : a.value.utf8.lexicographicallyPrecedes(b.value.utf8)
        }
    }

    @Test("Prices of any range are counted", arguments: [0, 4095, 4096, 999_999_999_999] as [Int64])
    func priceRanges(highest: Int64) {
        var generator = SeededGenerator(seed: 2)
        var table = RandomShelf(20, using: &generator).table
        var prices: [Int64?] = [nil, highest]
        for _ in 2..<20 { prices.append([0, highest, highest / 2].randomElement(using: &generator)!) }
        for (row, price) in prices.enumerated() {
            var changed = table.values(row)
            changed.priceMinor = price
            table = table.applying([changed.sku: changed])
        }
        let facets = table.facets([.price], .none, in: RandomShelf.currency)
        let known = prices.compactMap { $0 }
        #expect(facets.prices == Set(known).sorted().map { price in PriceCount(price, known.count { $0 == price }) })
        #expect(facets.unpriced == 1)
    }

    @Test("Only the requested facets are counted")
    func requested() {
        var generator = SeededGenerator(seed: 1)
        let facets = RandomShelf(50, using: &generator).table.facets([.brand], .none, in: RandomShelf.currency)
        #expect(!facets.brands.isEmpty)
        #expect(facets.tags.isEmpty && facets.prices.isEmpty && facets.inStock + facets.soldOut + facets.unpriced == 0)
        #expect(facets.total == 50)
    }
}
