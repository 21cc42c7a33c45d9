import Catalog
import Collation
import Shelves
import Testing

@testable import CatalogPostgres

/// The columns of attributes that stay in memory, without a database.
@Suite struct ShelfColumnsTests {
    private static let key = CatalogKey("s")!
    private static let table = ShelfCaches.TableKey.shelf(ShelfLocation(storeID: 1, shelfID: 1))
    private static let names = (0..<8).map { "n\($0)" } + ["word", "ratio"]
    private static let ratio = AttributeRatio(
        numerator: .number(AttributeName("n0")!),
        denominators: [.number(AttributeName("n1")!)]
    )

    private static let attributes = ResolvedAttributes(
        AttributeSet(
            deployment: names.map { name in
                let form: AttributeForm =
                    name == "word" ? .text : name == "ratio" ? .ratio(ratio) : .number(decimals: 0)
                return .definition(try! AttributeDefinition(name: AttributeName(name)!, form: form))
            }
        )
    )

    private static func row(_ number: Int, _ shift: Int = 0) -> TableRow {
        var product = Product(sku: SKU("p\(number)")!, name: "P")
        // The range of these numbers takes eight bytes.
        let numbers = (0..<8).map { "\"n\($0)\":\((number * (2 * $0 + 3) + shift) % 1009 * 100_000_000_000)" }
        product.attributes = "{\(numbers.joined(separator: ",")),\"word\":\"\(["z", "ö", "o"][number % 3])\"}"
        return TableRow(product, position: [1, UInt8(1 + number / 250), UInt8(1 + number % 250)]) { Array($0.utf8) }
    }

    private static func shelf(_ count: Int) -> ShelfSnapshot {
        ShelfSnapshot(version: 1, table: ShelfTable((0..<count).map { row($0) }))
    }

    private static func head(_ language: String) -> ShelfHead {
        var store = Store(key: key, title: "S", currency: Currency("EUR")!)
        store.collation = language
        let state = ShelfState(
            shelf: Shelf(key: key, title: "X"),
            productCount: 0,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 1,
            orderVersion: 1
        )
        return ShelfHead(store: store, storeVersion: 1, attributeRevision: 1, state: state)
    }

    private static func plan(
        _ sort: String,
        language: String = "en",
        collapsesGroups: Bool = false,
        limit: Int = 20,
        after: Cursor? = nil
    ) throws -> PagePlan {
        var request = PageRequest(store: key, shelf: key, sort: try Sort.parse(sort), limit: limit, after: after)
        request.collapsesGroups = collapsesGroups
        return try request.plan(for: head(language), attributes: attributes)
    }

    @Test("Views by the same attributes share columns, which count once")
    func sharedColumns() throws {
        let (caches, shelf) = (ShelfCaches(ShelfMemoryShares(limit: 4 << 20)), Self.shelf(2000))
        for sort in ["n0,n1", "n1,n0", "-n0,-n1", "n1", "-n0,name"] {
            let view = caches.viewNow(try Self.plan(sort), of: shelf, at: Self.table)
            #expect(view.rows.count == 2000)
        }
        #expect(caches.views.use.count == 5 && caches.columns.use.count == 2)
        #expect(caches.views.use.size < 5 * 4 * 2000 * 3 / 2, "only the rows")
        #expect(caches.use.columns.size == caches.columns.use.size)
        #expect((2 * 8 * 2000..<3 * 8 * 2000).contains(caches.columnMemory.size))
        #expect(
            caches.shelves.limit
                == ShelfMemoryShares(limit: 4 << 20).shelvesLimit - caches.views.use.size - caches.columns.use.size
        )
    }

    @Test("A column that only a view keeps takes memory from views and shelves until the view leaves")
    func evictedColumns() throws {
        let shares = ShelfMemoryShares(limit: 1 << 20)
        let (caches, shelf) = (ShelfCaches(shares), Self.shelf(2000))
        // Each view has four columns, of which three find room.
        for sort in ["n0,n1,n2,n3", "n4,n5,n6,n7"] {
            _ = caches.viewNow(try Self.plan(sort), of: shelf, at: Self.table)
        }
        let kept = caches.columns.use.size
        #expect(caches.columns.use.evictions > 0 && kept <= shares.columns)
        #expect(caches.columnMemory.size > kept && caches.use.columns.size == caches.columnMemory.size)
        #expect(caches.views.limit < shares.views && caches.views.limit >= shares.views / 2 - 1)
        #expect(
            caches.shelves.limit == shares.shelvesLimit - caches.views.use.size - caches.use.columns.size
        )
        caches.views.limit = 0
        #expect(caches.views.use.count == 0 && caches.columnMemory.size <= caches.columns.use.size)
        caches.fitShelves()
        #expect(caches.views.limit == shares.views)
        #expect(caches.shelves.limit == shares.shelvesLimit - caches.columns.use.size)
    }

    @Test("The column of a shelf that is large for the memory is kept for other orders")
    func largeColumns() throws {
        let shares = ShelfMemoryShares(limit: 160_000)
        let (caches, shelf) = (ShelfCaches(shares), Self.shelf(2000))
        for sort in ["n0", "-n0", "n0,price"] {
            _ = caches.viewNow(try Self.plan(sort), of: shelf, at: Self.table)
        }
        #expect(caches.columns.use.count == 1 && caches.columns.use.evictions == 0)
        #expect(caches.columns.use.size > shares.columns && caches.columns.limitedSize == 0)
    }

    @Test("A view follows a change although its column was evicted, which is read again")
    func evictedBeforeChange() throws {
        let (caches, shelf) = (ShelfCaches(ShelfMemoryShares(limit: 4 << 20)), Self.shelf(300))
        let plan = try Self.plan("n0,n1")
        let attributes = plan.resolvedSort.attributes
        func isFollowed(_ shelf: ShelfSnapshot) -> [Bool] {
            attributes.map { caches.isFollowed($0, plan.language, of: shelf, at: Self.table) }
        }
        #expect(isFollowed(shelf) == [false, false])
        _ = caches.viewNow(plan, of: shelf, at: Self.table)
        let changed = shelf.table.changed(by: [SKU("p7")!: Self.row(7, 500)])
        let rows = try #require(changed.rows)
        let next = ShelfSnapshot(version: 2, table: changed.table, steps: [.init(version: 1, rows: rows)])
        #expect(isFollowed(next) == [true, true])
        for entry in caches.columns.entries
        where entry.key.request == .attribute(attributes[0], language: plan.language) {
            caches.columns.remove(entry.key)
        }
        #expect(isFollowed(next) == [false, true])
        let view = caches.viewNow(plan, of: next, at: Self.table)
        let fresh = ShelfCaches(ShelfMemoryShares(limit: 4 << 20)).viewNow(plan, of: next, at: Self.table)
        #expect(view == fresh)
        #expect(caches.views.use.count == 1 && caches.columns.use.count == 2, "those of the first version have left")
    }

    @Test("Texts are ordered by the language of the store, also if another column of the attribute is in memory")
    func languages() throws {
        let (caches, shelf) = (ShelfCaches(ShelfMemoryShares(limit: 4 << 20)), Self.shelf(3))
        func order(_ sort: String, _ language: String) throws -> [UInt32] {
            caches.viewNow(try Self.plan(sort, language: language), of: shelf, at: Self.table).rows
        }
        #expect(try order("word", "en") == [2, 1, 0])
        #expect(try order("word,price", "sv") == [2, 0, 1])
        #expect(caches.columns.use.count == 2)
    }

    private static func groupedRow(_ number: Int, _ group: String, price: Int64) -> TableRow {
        var product = Product(sku: SKU("p\(number)")!, name: "P", priceMinor: price)
        product.group = group
        return TableRow(product, position: [1, UInt8(1 + number / 250), UInt8(1 + number % 250)]) { Array($0.utf8) }
    }

    @Test("Pages by attributes and ratios with collapsed groups have cursors, and follow a change")
    func groupsByAttributes() async throws {
        func row(_ number: Int, _ shift: Int = 0) -> TableRow {
            var product = Product(sku: SKU("p\(number)")!, name: "P", priceMinor: 100 + Int64(number))
            let (numerator, denominator) = ((number * 7 + shift) % 13, number % 5)
            product.attributes =
                #"{"n0":\#(numerator),"n1":\#(denominator),"word":"\#(["z", "ö", "o"][number % 3])"}"#
            product.group = number % 4 == 0 ? nil : "g\(number % 9)"
            return TableRow(product, position: [1, UInt8(1 + number)], key: LanguageCollator.of("en").key)
        }
        let shelf = ShelfSnapshot(version: 1, table: ShelfTable((0..<40).map { row($0) }))
        let changed = shelf.table.changed(by: [SKU("p7")!: row(7, 5)])
        let steps = [ShelfSnapshot.Step(version: 1, rows: try #require(changed.rows))]
        let next = ShelfSnapshot(version: 2, table: changed.table, steps: steps)
        for sort in ["n0", "-n0", "-word,n0", "ratio", "-ratio"] {
            let caches = ShelfCaches(ShelfMemoryShares(limit: 4 << 20))
            for snapshot in [shelf, next] {
                func page(_ limit: Int, after: Cursor? = nil) async throws -> ShelfPage {
                    let plan = try Self.plan(sort, collapsesGroups: true, limit: limit, after: after)
                    let basis = PageBasis(head: Self.head("en"))
                    let loaded = LoadedShelf(basis: basis, shelf: snapshot, key: Self.table, caches: caches)
                    return try await loaded.page(plan, into: [])
                }
                let whole = try await page(100)
                #expect(whole.next == nil && whole.products.count > 10)
                var (found, after): ([SKU], Cursor?) = ([], nil)
                repeat {
                    let part = try await page(3, after: after)
                    found += part.products.map(\.sku)
                    after = part.next
                } while after != nil && found.count < 100
                #expect(found == whole.products.map(\.sku), "\(sort) at version \(snapshot.version)")
            }
        }
    }

    @Test("Collapsed views share the groups of a shelf and the views with all rows, and all of them follow a change")
    func groups() throws {
        let rows = (0..<300).map { Self.groupedRow($0, "g\($0 % 7)", price: Int64($0 * 37 % 101)) }
        let shelf = ShelfSnapshot(version: 1, table: ShelfTable(rows))
        let caches = ShelfCaches(ShelfMemoryShares(limit: 4 << 20))
        func view(_ sort: String, _ shelf: ShelfSnapshot, in caches: ShelfCaches) throws -> TableView {
            caches.viewNow(try Self.plan(sort, collapsesGroups: true), of: shelf, at: Self.table)
        }
        let (cheap, dear) = (try view("price", shelf, in: caches), try view("-price", shelf, in: caches))
        #expect(cheap.rows.count == 7 && Set(cheap.rows) == Set(dear.rows))
        #expect(caches.columns.use.count == 1 && caches.columnMemory.size > 4 * 300)
        #expect(caches.views.use.count == 4, "each direction, with and without groups")
        #expect(caches.use.columns.size == caches.columns.use.size)
        // A product gets a group of its own, and is the cheapest one.
        let changed = shelf.table.changed(by: [SKU("p7")!: Self.groupedRow(7, "new", price: 0)])
        let steps = [ShelfSnapshot.Step(version: 1, rows: try #require(changed.rows))]
        let next = ShelfSnapshot(version: 2, table: changed.table, steps: steps)
        let fresh = ShelfCaches(ShelfMemoryShares(limit: 4 << 20))
        for sort in ["price", "-price"] {
            let followed = try view(sort, next, in: caches)
            #expect(try followed == view(sort, next, in: fresh) && followed.rows.count == 8)
        }
        #expect(caches.columns.use.count == 1 && caches.views.use.count == 4, "those of the first version have left")
    }
}
