import Catalog
import Ordering
import TestSupport
import Testing

@testable import Shelves

@Suite struct ShelfTableTests {
    @Test("A table returns the values that it was made of, in the order of names and skus")
    func values() {
        var generator = SeededGenerator(seed: 3)
        let shelf = RandomShelf(150, using: &generator)
        var mixed = shelf
        mixed.listings.shuffle(using: &generator)
        #expect(Set(mixed.table.rows) == Set(shelf.rows))
        for (row, next) in zip(mixed.table.rows, mixed.table.rows.dropFirst()) {
            let names = RandomShelf.collate(row.name.text, next.name.text)
            #expect(names <= 0)
            #expect(names < 0 || !next.name.text.utf8.lexicographicallyPrecedes(row.name.text.utf8))
            #expect(row.name != next.name || row.sku < next.sku)
        }
        for (number, row) in mixed.table.rows.enumerated() {
            #expect(mixed.table.rows(of: [row.sku])[row.sku] == number)
        }
        #expect(mixed.table.rows(of: [SKU("absent")!])[SKU("absent")!] == nil)
    }

    @Test("A derived table equals one that is made of the new rows", arguments: 0..<60 as Range<UInt64>)
    func deriving(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var shelf = RandomShelf(Int.random(in: 0...90, using: &generator), using: &generator)
        var table = shelf.table
        for step in 0..<12 {
            var changes: [SKU: TableRow?] = [:]
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                Self.change(&shelf, step, &changes, using: &generator)
            }
            table = table.applying(changes)
            let fresh = shelf.table
            #expect(table.firstDifference(from: fresh) == nil)
            let sort = Sort.random(using: &generator)
            #expect(table.view(shelf.request(sort)).rows == fresh.view(shelf.request(sort)).rows)
            #expect(
                table.facets(Set(Facet.allCases), .none, in: RandomShelf.currency)
                    == fresh.facets(Set(Facet.allCases), .none, in: RandomShelf.currency)
            )
        }
    }

    /// Makes one random change to a shelf, and adds it to the changes.
    private static func change(
        _ shelf: inout RandomShelf,
        _ step: Int,
        _ changes: inout [SKU: TableRow?],
        using generator: inout SeededGenerator
    ) {
        let last = shelf.listings.map(\.position).max { $0.lexicographicallyPrecedes($1) }
        let end = PathKey.appending(1, after: try! last.map { try PathKey(bytes: $0) })[0]
        let kind = Int.random(in: 0..<6, using: &generator)
        guard kind > 0, let index = shelf.listings.indices.randomElement(using: &generator) else {
            // No product of the shelf has this number.
            let number = 1000 * (step + 1) + changes.count
            let new = shelf.listing(number, end, using: &generator)
            shelf.listings.append(new)
            changes[new.product.sku] = RandomShelf.row(new)
            return
        }
        let sku = shelf.listings[index].product.sku
        switch kind {
        case 1:
            shelf.listings.remove(at: index)
            changes[sku] = .some(nil)
            return
        case 2:
            // Only numbers, so that rows and texts stay.
            shelf.listings[index].product.priceMinor = [nil, 0, 99, 12_345].randomElement(using: &generator)!
            shelf.listings[index].product.popularity = Popularity(log2: Double.random(in: -3...3, using: &generator))
            shelf.listings[index].product.modifiedAt = Timestamp(microseconds: Int64(step))
        case 3:
            let other = Product.random(0, using: &generator)
            shelf.listings[index].product.name = other.name
            shelf.listings[index].product.brand = other.brand
        case 4: shelf.listings[index].position = end.bytes
        default:
            var other = Product.random(0, using: &generator)
            other.sku = sku
            shelf.listings[index].product = other
        }
        shelf.listings[index].isSoldOut = shelf.sortsSoldOutLast && !shelf.listings[index].product.inStock
        changes[sku] = RandomShelf.row(shelf.listings[index])
    }

    @Test("A change of a price shares the columns of texts")
    func sharing() {
        var generator = SeededGenerator(seed: 5)
        let shelf = RandomShelf(50, using: &generator)
        let table = shelf.table
        var row = table.values(17)
        row.priceMinor = 4711
        let derived = table.applying([row.sku: row])
        #expect(derived.values(17).priceMinor == 4711)
        func address(_ table: ShelfTable) -> UnsafeRawPointer? { table.names.arena.withUnsafeBytes { $0.baseAddress } }
        #expect(address(derived) == address(table))
    }

    @Test("The size is that of all arrays, with their unused capacity")
    func size() {
        var generator = SeededGenerator(seed: 10)
        let table = RandomShelf(100, using: &generator).table
        #expect(table.size == MemoryLayout<ShelfTable>.size + sizeOfArrays(in: table))
        #expect(ShelfTable().size == MemoryLayout<ShelfTable>.size + sizeOfArrays(in: ShelfTable()))
    }

    @Test("Names that are equal with different keys keep the order of their keys, and places between them are found")
    func keysOfEqualNames() {
        let rows = [(1, [2 as UInt8]), (2, [1])].map { number, key in
            var row = RandomShelf.row(
                Listing(
                    product: Product(sku: SKU("p\(number)")!, name: "x", priceMinor: Int64(number)),
                    position: [],
                    isSoldOut: false
                )
            )
            row.name = CollatedText("x", key: key)
            return row
        }
        let table = ShelfTable(rows)
        let request = ViewRequest(
            sort: try! Sort.parse("name,price"),
            dimension: .mass,
            sortsSoldOutLast: true,
            currency: RandomShelf.currency
        )
        let view = table.view(request)
        #expect(view.skus(table) == ["p2", "p1"])
        let cursor = Cursor(
            scope: "",
            sort: "name,price",
            source: .query,
            values: [.text("x"), .integer(2)],
            name: "x",
            id: "p2"
        )
        #expect(table.index(after: ViewPlace(cursor) { _ in [1] }, in: view) == 1)
    }

    @Test("A product whose name has another sort key moves to its place")
    func newKey() {
        var generator = SeededGenerator(seed: 9)
        let table = RandomShelf(30, using: &generator).table
        var row = table.values(3)
        row.name = CollatedText(row.name.text, key: [255])
        let derived = table.applying([row.sku: row])
        #expect(derived.rows(of: [row.sku])[row.sku] == 29)
        #expect(derived.values(29) == row)
    }

    @Test("A removal of a product that is not on the shelf changes nothing")
    func unknown() {
        var generator = SeededGenerator(seed: 6)
        let table = RandomShelf(20, using: &generator).table
        #expect(table.applying([SKU("absent")!: nil]).firstDifference(from: table) == nil)
    }

    @Test("Distinct values that no row has any more are left out")
    func unusedValues() {
        var generator = SeededGenerator(seed: 8)
        let table = RandomShelf(300, using: &generator).table
        let changes = Dictionary(uniqueKeysWithValues: table.rows.dropFirst().map { ($0.sku, TableRow?.none) })
        let one = table.applying(changes)
        #expect(one.count == 1)
        #expect(one.brandTexts.count <= 1 && one.sizeValues.count <= 1 && one.tagSetValues.count == 1)
        #expect(one.size < table.size / 4)
    }

    @Test("A union has each product once, in every order but the manual one", arguments: 0..<20 as Range<UInt64>)
    func unions(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let store = RandomShelf(100, using: &generator)
        let parts = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
            store.rows.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
        }
        var products: [SKU: TableRow] = [:]
        for var row in parts.joined() {
            row.position = []
            products[row.sku] = row
        }
        let union = ShelfTable.union(parts.map { ShelfTable($0) })
        let expected = ShelfTable(Array(products.values))
        #expect(union.firstDifference(from: expected) == nil)
        let sort = Sort(.brand, .descending)!
        #expect(union.view(store.request(sort)).rows == expected.view(store.request(sort)).rows)
    }
}
