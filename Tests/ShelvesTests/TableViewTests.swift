import Catalog
import Ordering
import Shelves
import TestSupport
import Testing

@Suite struct TableViewTests {
    @Test(
        "Every sort by up to three keys orders and filters like the specification",
        arguments: 0..<40 as Range<UInt64>
    )
    func oracle(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = RandomShelf(Int.random(in: 1...120, using: &generator), using: &generator)
        let table = shelf.table
        let sorts = Sort.allSingle + (0..<30).map { _ in Sort.random(using: &generator) }
        for sort in sorts {
            let filter = shelf.filter(Int.random(in: 0...3, using: &generator), using: &generator) ?? .none
            let view = table.view(shelf.request(sort, filter))
            let expected = shelf.sorted(sort, filter).map(\.product.sku.text)
            #expect(view.skus(table) == expected, "\(sort) \(filter)")
            let places = Dictionary(uniqueKeysWithValues: expected.enumerated().map { ($1, $0) })
            let skus = shelf.listings.map(\.product.sku)
            let found = skus.map { sku in table.rows(of: [sku])[sku].flatMap { view.rows.firstIndex(of: UInt32($0)) } }
            #expect(found == skus.map { places[$0.text] }, "\(sort) \(filter)")
        }
    }

    @Test("Each filter key keeps the same products as the specification", arguments: FilterKey.allCases)
    func filters(_ key: FilterKey) throws {
        var generator = SeededGenerator(seed: 7)
        let shelf = RandomShelf(200, using: &generator)
        let table = shelf.table
        var sizes: Set<Int> = []
        for _ in 0..<40 {
            let values = key.random(shelf.listings.map(\.product), RandomShelf.currency, using: &generator)
            let query = values.map { "\(key.name)=\(PercentEncoding.encode($0))" }.joined(separator: "&")
            let filter = try Filter(query: query)
            let view = table.view(shelf.request(.system, filter))
            #expect(view.skus(table) == shelf.sorted(.system, filter).map(\.product.sku.text), "\(query)")
            sizes.insert(view.rows.count)
        }
        #expect(sizes.count > 1, "the filter makes a difference")
    }

    @Test("An empty shelf has an empty view in every sort")
    func empty() {
        for sort in Sort.allSingle {
            let request = ViewRequest(
                sort: sort,
                dimension: .mass,
                sortsSoldOutLast: true,
                currency: RandomShelf.currency
            )
            #expect(ShelfTable().view(request).rows.isEmpty)
        }
    }

    @Test(
        "The place of each product leads to the next one, also if the product has left",
        arguments: 0..<20 as Range<UInt64>
    )
    func places(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let all = RandomShelf(80, using: &generator)
        var rest = all
        rest.listings.removeAll { _ in Bool.random(using: &generator) }
        let (table, restTable) = (all.table, rest.table)
        for sort in Sort.allSingle + (0..<10).map({ _ in Sort.random(using: &generator) }) {
            let filter = Bool.random(using: &generator) ? .none : try Filter(query: "in_stock=true")
            let request = all.request(sort, filter)
            let (view, restView) = (table.view(request), restTable.view(request))
            let sorted = all.sorted(sort, filter)
            // Their number is counted, so their order does not matter.
            let left = rest.listings.filter { filter.accepts($0.product, in: RandomShelf.currency) }
            for (index, listing) in sorted.enumerated() {
                let place = ViewPlace(Self.cursor(listing, sort, all.dimension), key: RandomShelf.key)
                #expect(table.index(after: place, in: view) == index + 1, "\(sort)")
                let expected = left.count {
                    !sort.precedes(listing, $0, dimension: all.dimension, collate: RandomShelf.collate)
                }
                #expect(restTable.index(after: place, in: restView) == expected, "\(sort)")
            }
        }
    }

    private static func cursor(_ listing: Listing, _ sort: Sort, _ dimension: Dimension) -> Cursor {
        Cursor(
            scope: "",
            sort: sort.description,
            source: .query,
            dimension: dimension,
            isSoldOut: listing.isSoldOut,
            values: sort.terms.map { $0.key.value(of: listing) },
            name: listing.product.name,
            id: listing.product.sku.text
        )
    }

    @Test("A view that follows changed values equals one that is sorted", arguments: 0..<40)
    func followsChanges(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let shelf = RandomShelf(Int.random(in: 30...60, using: &generator), using: &generator)
        var table = shelf.table
        for _ in 0..<20 {
            let sort = Sort.random(using: &generator)
            let filter = shelf.filter(Int.random(in: 0...2, using: &generator), using: &generator) ?? .none
            let request = shelf.request(sort, filter)
            let view = table.view(request)
            var changes: [SKU: TableRow?] = [:]
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                // Other values of the products that are there, in the rows where they are.
                let row = Int.random(in: 0..<table.count, using: &generator)
                let other = table.values(Int.random(in: 0..<table.count, using: &generator))
                var changed = table.values(row)
                (changed.brand, changed.tags, changed.size, changed.inStock) = (
                    other.brand, other.tags, other.size, other.inStock
                )
                changed.priceMinor =
                    Bool.random(using: &generator) ? other.priceMinor : Int64.random(in: 0..<300, using: &generator)
                (changed.popularity, changed.modifiedAt) = (other.popularity, other.modifiedAt)
                changes[changed.sku] = changed
            }
            let next = table.changed(by: changes)
            guard let rows = next.rows else {
                Issue.record("the products keep their rows")
                return
            }
            #expect(Set(rows.map { next.table.sku(Int($0)) }) == Set(changes.keys))
            #expect(next.table.view(view, changed: rows) == next.table.view(request), "\(sort) \(filter.query)")
            table = next.table
        }
    }

    @Test("Products that come, go or get another name change the rows of others")
    func rowsOfOthers() {
        var generator = SeededGenerator(seed: 1)
        let shelf = RandomShelf(10, using: &generator)
        let table = shelf.table
        var renamed = table.values(3)
        renamed.name = CollatedText("zzzz", key: RandomShelf.key("zzzz"))
        var moved = table.values(3)
        moved.position += [1]
        var added = table.values(3)
        added.sku = SKU("another")!
        let changes: [[SKU: TableRow?]] = [
            [renamed.sku: renamed], [moved.sku: moved], [added.sku: added], [moved.sku: TableRow?.none],
        ]
        for change in changes { #expect(table.changed(by: change).rows == nil) }
    }
}
