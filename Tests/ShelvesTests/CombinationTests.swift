import Catalog
import Foundation
import Ordering
import Testing

@testable import Shelves

/// Random combinations of sort, filters, groups and search, compared with the specifications.
@Suite(.timeLimit(.minutes(40))) struct CombinationTests {
    /// The number of combinations in each of the runs.
    private static let count =
        (ProcessInfo.processInfo.environment["AISLE_TEST_COMBINATIONS"].flatMap(Int.init) ?? 960) / runs
    private static let runs = 16

    /// A shelf with attributes and groups, whose texts are those of searches, and everything that follows from it.
    private struct Shelf {
        let shelf: RandomShelf
        let table: ShelfTable
        let catalog: RandomCatalog
        let index: SearchIndex
        let naive: NaiveSearch

        init(using generator: inout SeededGenerator) {
            var shelf = GroupTests.shelf(Int.random(in: 5...40, using: &generator), using: &generator)
            catalog = RandomCatalog(shelf.listings.count, using: &generator)
            for (number, product) in catalog.products.enumerated() {
                shelf.listings[number].product.name = product.name
                shelf.listings[number].product.brand = product.brand
                shelf.listings[number].product.barcode = product.barcode
            }
            // Random filters need a product with a brand, a price and a size.
            shelf.listings[0].product.brand = "Organic"
            shelf.listings[0].product.priceMinor = 199
            shelf.listings[0].product.size = try! Size(amount: ExactDecimal(500), unit: .g)
            self.shelf = shelf
            table = GroupTests.table(shelf)
            index = SearchIndex(table, inflection: catalog.inflection)
            naive = NaiveSearch(
                products: shelf.listings.map(\.product),
                inflection: catalog.inflection,
                synonyms: catalog.synonyms
            )
        }
    }

    private struct Combination {
        let sort: Sort
        let filter: Filter
        let query: SearchQuery?
        let limit: SearchClass?
        let collapsesGroups: Bool

        init(_ shelf: Shelf, using generator: inout SeededGenerator) throws {
            let text = shelf.catalog.query(2, using: &generator)
            query = Bool.random(using: &generator) ? try? SearchQuery(text) : nil
            limit = Bool.random(using: &generator) ? SearchClass.allCases.randomElement(using: &generator) : nil
            var sort =
                Bool.random(using: &generator)
                ? AttributeViewTests.sort(using: &generator) : Sort.random(using: &generator)
            if query != nil, Bool.random(using: &generator) {
                let keys = Bool.random(using: &generator) ? "" : ",\(sort)"
                sort = try Sort.parse("-relevance\(keys)", allowsRelevance: true).resolved(
                    in: AttributeViewTests.attributes,
                    allowsRelevance: true
                )
            }
            self.sort = sort
            filter = try AttributeViewTests.filter(
                max(0, Int.random(in: -2...3, using: &generator)),
                shelf.shelf,
                using: &generator
            )
            collapsesGroups = Bool.random(using: &generator)
        }
    }

    @Test("Views, cursors and groups are those of the specification", arguments: 0..<runs)
    func combinations(_ run: Int) throws {
        var generator = SeededGenerator(seed: UInt64(7000 + run))
        var (shelf, found, filtered, searched, grouped) = (Shelf(using: &generator), 0, 0, 0, 0)
        for number in 0..<Self.count {
            if number % 10 == 9 { shelf = Shelf(using: &generator) }
            let one = try Combination(shelf, using: &generator)
            let text = "\(one.sort) \(one.filter.query) \(one.query?.text ?? "-") \(one.limit?.name ?? "-")"
            let matches = one.query.map { query in
                shelf.index.matches(Search(query, shelf.catalog.rules), within: one.limit)
            }
            let outcome = one.query.map { shelf.naive.search($0.text, within: [one.limit])[0] }
            #expect(matches?.classInUse == outcome?.searchClass)
            let relevances = outcome.map { outcome in
                Dictionary(uniqueKeysWithValues: outcome.matches.map { (SKU($0.sku)!, $0.relevance) })
            }
            var request = shelf.shelf.request(one.sort, one.filter)
            request.collapsesGroups = one.collapsesGroups
            let view = shelf.table.view(request, matches)
            let listings: [Listing]
            if one.collapsesGroups {
                let cards = try GroupTests.cards(shelf.shelf, one.sort, one.filter, relevances)
                listings = cards.map(\.representative)
                let counts = cards.map { GroupCard(matching: $0.members.count, total: $0.total) }
                #expect(view.rows.indices.map { view.card(at: $0) } == counts, "\(text)")
                grouped += cards.count { $0.members.count > 1 }
            } else {
                listings = shelf.shelf.sorted(one.sort, one.filter, relevances)
                // A filter removes products, and moves none.
                let all = shelf.table.view(shelf.shelf.request(one.sort), matches).rows
                let kept = Set(view.rows)
                #expect(all.filter(kept.contains) == view.rows, "\(text)")
                filtered += all.count - kept.count
            }
            #expect(view.skus(shelf.table) == listings.map(\.product.sku.text), "\(text)")
            found += listings.count
            searched += one.query == nil ? 0 : listings.count
            guard let index = view.rows.indices.randomElement(using: &generator) else { continue }
            let row = Int(view.rows[index])
            let cursor = Cursor(
                scope: "",
                sort: one.sort.description,
                source: .query,
                isSoldOut: listings[index].isSoldOut,
                values: shelf.table.values(row, in: view),
                name: shelf.table.name(row),
                id: shelf.table.sku(row).text
            )
            let place = ViewPlace(cursor, key: RandomShelf.key)
            #expect(shelf.table.index(after: place, in: view) == index + 1, "\(text) at \(index)")
        }
        #expect(found > Self.count && filtered > 0 && searched > 0 && grouped > 0)
    }
}
