import Catalog
import Ordering
import TestSupport
import Testing

@testable import Shelves

/// The bounds and exact values of the parts of shelves in memory.
@Suite struct ShelfPartTests {
    @Test(
        "The hash of bytes combines eight of them at a time, and then the rest"
    )
    func hashes() {
        for count in 0..<30 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
            var hash = UInt64(count)
            func combine(_ part: some Sequence<UInt8>) {
                let word: UInt64 = part.reduce(0) { $0 << 8 | UInt64($1) }
                hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 32
            }
            for start in stride(from: 0, to: count / 8 * 8, by: 8) { combine(bytes[start..<(start + 8)].reversed()) }
            combine(bytes[(count / 8 * 8)...])
            #expect(bytes.withUnsafeBytes(ByteNumbers.hash) == hash, "\(count)")
        }
    }

    @Test("A reader returns what memory has, to its last byte, and nothing beyond")
    func reading() {
        let bytes: [UInt8] = [1, 0, 2, 3, 0, 4, 0, 5]
        bytes.withUnsafeBytes { memory in
            var reader = MemoryReader(memory)
            let first: UInt16? = reader.value()
            let second = reader.part(1).map { Array($0) }
            #expect(first == 1 && second == [2])
            var numbers: [UInt16] = []
            let isTooLong = !reader.read(&numbers, 3)
            #expect(isTooLong && numbers.isEmpty)
            let isRead = reader.read(&numbers, 2)
            #expect(isRead && numbers == [3, 4])
            let tooLong = reader.part(2)
            #expect(!reader.isAtEnd && tooLong == nil)
            let missing: UInt16? = reader.value()
            #expect(missing == nil)
            let last: UInt8? = reader.value()
            #expect(last == 5)
            let (nothing, beyond) = (reader.part(0), reader.part(1))
            #expect(reader.isAtEnd && nothing?.count == 0 && beyond == nil)
        }
    }

    @Test(
        "The ends of parts ascend to the number of elements",
        arguments: [
            ([], 0, true), ([], 1, false), ([2], 2, true), ([1], 2, false), ([3], 2, false), ([0, 0, 2], 2, true),
            ([2, 1, 2], 2, false), ([1, 2, 2], 2, true),
        ] as [([UInt32], Int, Bool)]
    )
    func divisions(_ ends: [UInt32], _ count: Int, _ isValid: Bool) {
        #expect(ends.isDivision(of: count) == isValid)
        let numbers = NumberLists(numbers: Array(repeating: 7, count: count), ends: ends)
        #expect((numbers != nil) == isValid && numbers?.count == (isValid ? ends.count : nil))
        #expect((TextColumn(arena: Array(repeating: 7, count: count), ends: ends) != nil) == isValid)
    }

    @Test(
        "Details have texts of any length",
        arguments: [0, 1, 126, 127, 128, 129, 255, 256, 16_383, 16_384, 2_100_000]
    )
    func details(_ length: Int) {
        var product = Product(sku: SKU("a")!, name: "A")
        product.attributes = String(repeating: "x", count: length)
        product.barcode = String(repeating: "b", count: length)
        let details = ProductDetails(product)
        var found = Product(sku: SKU("a")!, name: "A")
        let isRead = details.bytes.withUnsafeBytes { ProductDetails.read($0, into: &found) }
        #expect(isRead && found == product)
        // The flags take two bytes, and a length takes one for each seven bits.
        let header = length < 128 ? 1 : length < 16_384 ? 2 : length < 2_097_152 ? 3 : 4
        #expect(details.bytes.count == 2 + 2 * (header + length))
    }

    @Test("A product with nothing has details of two bytes")
    func emptyDetails() {
        #expect(ProductDetails(Product(sku: SKU("a")!, name: "A")).bytes == [0, 0])
        #expect(ProductDetails.texts == [.barcode, .group])
    }

    // MARK: - Tables

    private static func row(_ sku: String, _ change: (inout Product) -> Void = { _ in }) -> TableRow {
        var product = Product(sku: SKU(sku)!, name: sku)
        change(&product)
        return TableRow(product, position: [1], key: RandomShelf.key)
    }

    private static func request(_ filter: Filter, _ currency: String) -> ViewRequest {
        ViewRequest(
            sort: Sort(.name, .ascending)!,
            filter: filter,
            dimension: .mass,
            sortsSoldOutLast: false,
            currency: Currency(currency)!
        )
    }

    @Test(
        "Limits of prices with any number of decimals keep what the specification does",
        arguments: ["EUR", "JPY", "KWD"]
    )
    func priceLimits(_ currency: String) throws {
        let prices: [Int64] = [0, 1, 2, 9, 10, 11, 99, 100, 101, 1999, 2000, 2001, 999_999_999_999]
        let products = prices.map { Product(sku: SKU("p\($0)")!, name: "p\($0)", priceMinor: $0) }
        let table = ShelfTable(products.map { TableRow($0, position: [1], key: RandomShelf.key) })
        for limit in [
            "0", "0.001", "0.0011", "0.009", "0.01", "0.011", "1", "1.5", "2", "2.000001", "999999999999",
            "999999999.999",
        ] {
            for key in ["price_min", "price_max"] {
                let filter = try Filter(query: "\(key)=\(limit)")
                let view = table.view(Self.request(filter, currency))
                let expected = products.filter { filter.accepts($0, in: Currency(currency)!) }.map(\.sku.text)
                #expect(Set(view.skus(table)) == Set(expected), "\(key) \(limit)")
            }
        }
    }

    @Test("A value of another form than its key's matches nothing", arguments: FilterKey.allCases)
    func otherForms(_ key: FilterKey) throws {
        let table = ShelfTable([Self.row("a"), Self.row("b")])
        let value: FilterValue = key.form == .flag ? .texts([]) : .flag(true)
        #expect(table.view(Self.request(try Filter([key: value]), "EUR")).rows.isEmpty)
    }

    @Test("The values of rows are those of the specification, for cursors")
    func cursorValues() {
        var generator = SeededGenerator(seed: 21)
        let shelf = RandomShelf(60, using: &generator)
        let table = shelf.table
        for listing in shelf.listings {
            guard let row = table.rows(of: [listing.product.sku])[listing.product.sku] else {
                Issue.record("\(listing.product.sku)")
                continue
            }
            for key in SortKey.allCases { #expect(table.value(of: key, row) == key.value(of: listing), "\(key)") }
            #expect(table.name(row) == listing.product.name && table.isInStock(row) == listing.product.inStock)
            #expect(table.popularity(row) == listing.product.popularity)
            #expect(table.modifiedAt(row) == listing.product.modifiedAt)
        }
        let skus = shelf.listings.prefix(3).map(\.product.sku) + [SKU("absent")!]
        let rows = table.rows(of: skus)
        #expect(rows.count == 3)
        for (sku, row) in rows { #expect(table.sku(row) == sku) }
    }

    @Test("The most frequent dimension is that of most products with a unit price, the first one of several")
    func dimensions() throws {
        func dimension(_ units: [(MeasureUnit, Int64?)]) throws -> Dimension? {
            ShelfTable(
                try units.enumerated().map { number, unit in
                    let size = try Size(amount: ExactDecimal(Int128(number + 1)), unit: unit.0)
                    return Self.row("p\(number)") { ($0.size, $0.priceMinor) = (size, unit.1) }
                }
            ).mostFrequentDimension
        }
        #expect(try dimension([]) == nil)
        #expect(try dimension([(.g, nil)]) == nil)
        #expect(try dimension([(.l, 1)]) == .volume)
        #expect(try dimension([(.l, 1), (.g, 1)]) == .mass)
        #expect(try dimension([(.dose, 1), (.l, 1), (.dose, 0)]) == .dose)
        #expect(try dimension([(.l, 1), (.g, nil), (.g, nil)]) == .volume)
    }

    @Test("A product of several shelves has the score of the first one in their union, which has no positions")
    func unions() {
        func table(_ score: Double) -> ShelfTable {
            ShelfTable(["a", "b"].map { sku in Self.row(sku) { $0.popularity = Popularity(log2: score) } })
        }
        for count in 1...5 {
            let union = ShelfTable.union((1...count).map { table(Double($0)) })
            #expect(union.count == 2)
            for row in 0..<2 { #expect(union.popularity(row).log2 == 1 && union.values(row).position.isEmpty) }
        }
        #expect(ShelfTable.union([]).count == 0)
    }

    @Test("A view's size is that of its row numbers, with the header of their array")
    func viewSize() {
        let table = ShelfTable((0..<10).map { Self.row("p\($0)") })
        let view = table.view(Self.request(.none, "EUR"))
        #expect(view.size == MemoryLayout<TableView>.size + 48 + 4 * view.rows.capacity)
        #expect(view.rows == Array(0..<10))
    }

    @Test("A change of one value changes no other, and says which row it is in")
    func singleValues() throws {
        let size = try Size(amount: ExactDecimal(5), unit: .g)
        let start = Self.row("a") {
            ($0.brand, $0.tags, $0.size, $0.priceMinor) = ("B", ["t", "u"], size, 5)
        }
        let other = Self.row("b") { ($0.tags, $0.imageURL) = (["u"], "/b.png") }
        let table = ShelfTable([start, other])
        let changes: [(inout TableRow) -> Void] = [
            { $0.priceMinor = nil }, { $0.priceMinor = 6 }, { $0.brand = nil }, { $0.tags = other.tags },
            { $0.size = nil },
            { $0.popularity = Popularity(log2: 3) }, { $0.inStock = false },
            { $0.createdAt = Timestamp(microseconds: 9) }, { $0.modifiedAt = Timestamp(microseconds: 9) },
            { $0.imageURL = "/a.png" }, { $0.imageURL = "ftp" },
            { $0.details = ProductDetails(Product(sku: SKU("a")!, name: "", regularPriceMinor: 7)) }, { _ in },
        ]
        func values(_ row: TableRow) -> [String: String] {
            let values = Mirror(reflecting: row).children.map { ($0.label ?? "", String(reflecting: $0.value)) }
            return Dictionary(uniqueKeysWithValues: values)
        }
        var changedValues: Set<String> = []
        for (number, change) in changes.enumerated() {
            var row = start
            change(&row)
            let (old, new) = (values(start), values(row))
            changedValues.formUnion(old.keys.filter { old[$0] != new[$0] })
            let changed = table.changed(by: [row.sku: row])
            #expect(changed.rows == [0], "\(number)")
            #expect(changed.table.rows == [row, other], "\(number)")
        }
        // A change of one of these moves the row.
        let others: Set = ["sku", "name", "position"]
        #expect(changedValues == Set(values(start).keys).subtracting(others), "each value has a change of its own")
        // Values that no row had make another table.
        for change in [
            { $0.brand = CollatedText("new", key: [1]) }, { $0.tags = Array(start.tags.reversed()) }, { $0.tags = [] },
            { $0.tags = [CollatedText("new", key: [1])] },
            { $0.size = (try? Size(amount: ExactDecimal(6), unit: .g)).map(BaseQuantity.init) },
        ] as [(inout TableRow) -> Void] {
            var row = start
            change(&row)
            let changed = table.changed(by: [row.sku: row])
            #expect(changed.rows == nil && changed.table.rows == [row, other])
        }
    }
}
