import Catalog
import Shelves
import Testing

@testable import CatalogPostgres

/// The choice of the shelves that servers keep in memory, and of the images that they store, without a database.
@Suite(.timeLimit(.minutes(15))) struct ShelfDecisionTests {
    private static let start = ContinuousClock.now

    private static func location(_ number: Int32) -> ShelfLocation { ShelfLocation(storeID: 1, shelfID: number) }

    private static func row(_ number: Int, price: Int64 = 1) -> TableRow {
        let product = Product(sku: SKU("p\(number)")!, name: "n\(number)", priceMinor: price)
        return TableRow(product, position: [UInt8(1 + number / 250), UInt8(1 + number % 250)]) { Array($0.utf8) }
    }

    private static func table(_ count: Int) -> ShelfTable { ShelfTable((0..<count).map { row($0) }) }

    private static func read(
        _ kind: DatabaseObservation.ShelfReadKind,
        products: Int = 0,
        changes: Int = 0
    ) -> ShelfReader.ReadShelf {
        let shelf = ShelfSnapshot(version: 1, table: table(products))
        return ShelfReader.ReadShelf(shelf: shelf, kind: kind, changeCount: changes)
    }

    // MARK: - Images

    @Test("An image is stored again when more than a 32nd of its products, and more than four, have changed")
    func changesAfterImages() {
        for (products, changes, isEntered) in [(0, 4, false), (0, 5, true), (320, 10, false), (320, 11, true)] {
            var queue = ImageQueue()
            let found = Self.read(.image, products: products, changes: changes)
            queue.noteRead(found, of: Self.location(1), isDamaged: false, at: Self.start)
            #expect((queue.next(at: Self.start) != nil) == isEntered, "\(products) \(changes)")
        }
    }

    @Test("An entry says whether the image is damaged, and how old another server's image may be")
    func entries() {
        var queue = ImageQueue()
        for (number, isDamaged) in [(Int32(1), true), (2, false)] {
            queue.noteRead(Self.read(.whole), of: Self.location(number), isDamaged: isDamaged, at: Self.start)
        }
        queue.noteRead(Self.read(.changes), of: Self.location(3), isDamaged: true, at: Self.start)
        let later = Self.start + .seconds(1800)
        let entries = (0..<3).map { _ in queue.next(at: later) }
        #expect(entries.map { $0?.location.shelfID } == [1, 2, 3])
        #expect(entries.map { $0?.isDamaged } == [true, false, false])
        // Half of half an hour, in microseconds.
        #expect(entries.map { $0?.tolerance } == [0, 0, 900_000_000])
        #expect(queue.next(at: later) == nil)
    }

    @Test("A shelf waits once, and again ten minutes after its last image was taken")
    func intervals() {
        var queue = ImageQueue()
        let entry = ImageQueue.Entry(location: Self.location(1))
        queue.insert(entry, at: Self.start)
        queue.insert(entry, at: Self.start)
        #expect(queue.next(at: Self.start) != nil)
        #expect(queue.next(at: Self.start) == nil)
        queue.insert(entry, at: Self.start + .milliseconds(599_999))
        #expect(queue.next(at: Self.start + .milliseconds(599_999)) == nil)
        queue.insert(entry, at: Self.start + .seconds(600))
        #expect(queue.next(at: Self.start + .seconds(600)) != nil)
        queue.insert(entry, at: Self.start + .seconds(1199))
        #expect(queue.next(at: Self.start + .seconds(1199)) == nil)
        queue.insert(ImageQueue.Entry(location: Self.location(2)), at: Self.start + .seconds(1199))
        #expect(queue.next(at: Self.start + .seconds(1199))?.location == Self.location(2))
    }

    @Test("A shelf that changes in memory is entered half an hour after its first change, and after the next one")
    func changesInMemory() {
        var queue = ImageQueue()
        queue.noteChange(of: Self.location(1), at: Self.start)
        queue.noteChange(of: Self.location(1), at: Self.start + .seconds(1000))
        queue.noteChange(of: Self.location(2), at: Self.start + .seconds(1000))
        #expect(queue.next(at: Self.start + .milliseconds(1_799_999)) == nil)
        let due = Self.start + .seconds(1800)
        #expect(queue.next(at: due)?.location == Self.location(1))
        #expect(queue.next(at: due) == nil)
        queue.noteChange(of: Self.location(1), at: due)
        #expect(queue.next(at: Self.start + .seconds(2800))?.location == Self.location(2))
        #expect(queue.next(at: due + .seconds(1800))?.location == Self.location(1))
    }

    @Test("At most 10,000 shelves wait, and at most as many change")
    func limits() {
        var queue = ImageQueue()
        for number in 1...10_001 {
            queue.insert(ImageQueue.Entry(location: Self.location(Int32(number))), at: Self.start)
        }
        var count = 0
        while queue.next(at: Self.start) != nil { count += 1 }
        #expect(count == 10_000)
        for number in 20_001...30_001 { queue.noteChange(of: Self.location(Int32(number)), at: Self.start) }
        count = 0
        while queue.next(at: Self.start + .seconds(1800)) != nil { count += 1 }
        #expect(count == 10_000)
    }

    // MARK: - Versions

    @Test("A shelf in memory keeps the steps from earlier versions, up to a hundredth of its rows")
    func steps() {
        /// Returns a version in which some products have other prices, in the same rows.
        func changes(_ version: Int64, _ numbers: ClosedRange<Int>) -> ShelfReader.Changes {
            let rows = numbers.map { number in
                let row = Self.row(number, price: 1000 * version)
                return (row.sku, TableRow?.some(row))
            }
            return ShelfReader.Changes(version: version, rows: Dictionary(uniqueKeysWithValues: rows))
        }
        let first = ShelfSnapshot(version: 1, table: Self.table(300))
        let second = first.applying(changes(2, 1...1))
        let third = second.applying(changes(3, 2...3))
        #expect(second.version == 2 && second.steps.map(\.version) == [1])
        #expect(second.steps.map(\.rows.count) == [1])
        #expect(third.steps.map(\.version) == [2, 1])
        #expect(third.table.count == 300)
        // Now four rows have changed since the first version, and three are a hundredth.
        let fourth = third.applying(changes(4, 4...4))
        #expect(fourth.steps.map(\.version) == [3, 2])
        let fifth = fourth.applying(changes(5, 5...8))
        #expect(fifth.steps.isEmpty && fifth.version == 5)
        // A small shelf has one step of one row.
        let small = ShelfSnapshot(version: 1, table: Self.table(5)).applying(changes(2, 1...1))
        #expect(small.steps.map(\.version) == [1])
        #expect(small.applying(changes(3, 2...2)).steps.map(\.version) == [2])
        #expect(third.size > third.table.size + 128)
    }

    // MARK: - Memory

    @Test("The memory is divided into the shares of shelves, unions, views, facets, columns, indexes and products")
    func shares() {
        let shares = ShelfMemoryShares(limit: 3200)
        #expect(shares.shelves == 1400)
        #expect(shares.unions == 400)
        #expect(shares.views == 400)
        #expect(shares.columns == 200)
        #expect(shares.facets == 100)
        #expect(shares.indexes == 200)
        #expect(shares.products == 500)
        let caches = shares.unions + shares.views + shares.facets + shares.columns + shares.indexes
        #expect(shares.shelves + caches + shares.products == 3200)
        #expect(shares.shelvesLimit == 2700)
    }

    @Test("The use of the memory is that of all kinds")
    func use() {
        func used(_ size: Int) -> CacheUse {
            var use = CacheUse()
            use.size = size
            return use
        }
        var use = ShelfMemoryUse(
            limit: 100,
            shelves: used(1),
            unions: used(20),
            views: used(300),
            facets: used(4_000),
            columns: used(600_000)
        )
        use.indexes = used(7_000_000)
        use.products = used(50_000)
        #expect(use.bytes == 7_654_321)
        let names = ["shelves", "unions", "views", "facets", "attributes", "indexes", "products"]
        #expect(use.kinds.map(\.name) == names)
        #expect(use.kinds.map(\.use.size) == [1, 20, 300, 4_000, 600_000, 7_000_000, 50_000])
    }

    @Test("Half of the memory for shelves is free until their sizes reach it")
    func halfEmpty() {
        let size = ShelfSnapshot(version: 1, table: Self.table(0)).size
        let caches = ShelfCaches(ShelfMemoryShares(limit: 1 << 20))
        #expect(caches.isHalfEmpty)
        #expect(caches.use.limit == 1 << 20)
        let limit = caches.shelves.limit
        var number: Int32 = 0
        while caches.shelves.limitedSize * 2 < limit {
            #expect(caches.isHalfEmpty)
            number += 1
            let shelf = ShelfSnapshot(version: 1, table: Self.table(20))
            caches.shelves.insert(KeptShelf(shelf, isWhole: true, isUsed: false), for: Self.location(number))
            if number > 100_000 { break }
        }
        #expect(!caches.isHalfEmpty)
        #expect(size >= 128)
    }
}
