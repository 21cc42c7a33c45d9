import Catalog
import Ordering
import TestSupport
import Testing

@testable import Shelves

@Suite struct ShelfImageTests {
    private static func read(_ bytes: [UInt8]) -> ShelfImage? { bytes.withUnsafeBytes { ShelfImage($0) } }

    @Test("An image is read as it was written, with all values, orders and products", arguments: [0, 1, 90])
    func roundTrip(_ count: Int) throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let shelf = RandomShelf(count, using: &generator)
        let table = shelf.table
        let image = try #require(Self.read(RandomShelf.image(shelf.listings).bytes))
        #expect(image.table.firstDifference(from: table) == nil)
        for sort in Sort.allSingle { #expect(image.table.view(shelf.request(sort)) == table.view(shelf.request(sort))) }
        #expect(
            (0..<count).map { image.table.product($0) } == (0..<count).map { shelf.products[table.sku($0)] }
        )
        #expect(
            image.table.facets(Set(Facet.allCases), .none, in: RandomShelf.currency)
                == table.facets(Set(Facet.allCases), .none, in: RandomShelf.currency)
        )
    }

    @Test("Values that only pages show are read as they were written")
    func details() throws {
        func size(_ packs: Int, drained: ExactDecimal? = nil, isApproximate: Bool = false) throws -> Size? {
            try Size(
                amount: ExactDecimal(15, scale: 1),
                unit: .kg,
                packs: packs,
                drained: drained,
                isApproximate: isApproximate
            )
        }
        var products: [Product] = []
        for (number, size) in [
            nil, try size(1), try size(400_000), try size(6, drained: ExactDecimal(1)),
            try size(1, isApproximate: true),
        ].enumerated() {
            var product = Product(sku: SKU("s\(number)")!, name: "N", size: size)
            for barcode in [nil, "4000000000001"] {
                for address in [nil, "/a.png"] {
                    for price in [nil, 0, Int64.max] {
                        product.sku = SKU("s\(products.count)")!
                        (product.barcode, product.imageURL, product.regularPriceMinor) = (barcode, address, price)
                        product.attributes = #"{"key": "\#(String(repeating: "ž", count: products.count * 50))"}"#
                        products.append(product)
                    }
                }
            }
        }
        let listings = products.map { Listing(product: $0, position: [1], isSoldOut: false) }
        let image = try #require(Self.read(RandomShelf.image(listings).bytes))
        for product in products {
            let row = try #require(image.table.rows(of: [product.sku])[product.sku])
            #expect(image.table.product(row) == product)
        }
    }

    @Test("An image has every field of a product")
    func everyField() {
        let image = RandomShelf.image([Listing(product: .complete, position: [1], isSoldOut: true)])
        #expect(Self.read(image.bytes)?.table.product(0) == Product.complete)
    }

    @Test("A layout has one number: images of another one are not read")
    func format() throws {
        let size = try Size(amount: ExactDecimal(15, scale: 1), unit: .kg, packs: 2, drained: ExactDecimal(1))
        var product = Product(
            sku: SKU("s")!,
            name: "Milk",
            brand: "Arla",
            priceMinor: 129,
            size: size,
            tags: ["a", "b"]
        )
        (product.barcode, product.imageURL, product.regularPriceMinor) = ("4000000000001", "/a.png", 199)
        product.attributes = #"{"a": 1}"#
        let image = RandomShelf.image([Listing(product: product, position: [1], isSoldOut: false)])
        // After a change of the layout, update both numbers. The format begins the image, and changes with other texts, too.
        #expect(ShelfImage.layout == 6)
        #expect(ShelfImage.checksum(Array(image.bytes.dropFirst(4).dropLast(8))) == 6_745_371_328_320_313_935)
        #expect(image.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) } == ShelfImage.format)
        #expect(Self.read(image.bytes)?.table.product(0) == product)
    }

    @Test("The format has another number with other texts, or with another order of them")
    func formatOfTexts() {
        let lists: [[ProductText]] = [[], [.barcode], [.barcode, .brand], [.brand, .barcode]]
        #expect(Set(lists.map(ShelfImage.formatNumber)).count == lists.count)
        #expect(ShelfImage.format == ShelfImage.formatNumber(ProductDetails.texts))
    }

    @Test("An image of a part, or with a changed bit, is not read")
    func damage() {
        var generator = SeededGenerator(seed: 4)
        let shelf = AttributeViewTests.shelf(20, using: &generator)
        let image = RandomShelf.image(shelf.listings)
        #expect(image.table.details.parts.count > 10)
        var bytes = image.bytes
        #expect(Self.read(bytes) != nil)
        for length in bytes.indices {
            let isRead = bytes.withUnsafeBytes { ShelfImage(UnsafeRawBufferPointer(rebasing: $0[..<length])) != nil }
            #expect(!isRead, "\(length) bytes")
        }
        for index in bytes.indices {
            let bit: UInt8 = 1 << UInt8.random(in: 0..<8, using: &generator)
            bytes[index] ^= bit
            #expect(Self.read(bytes) == nil, "byte \(index)")
            bytes[index] ^= bit
        }
        #expect(bytes == image.bytes)
    }

    @Test("Values that no writer produces are refused, or do no harm")
    func impossibleValues() throws {
        var generator = SeededGenerator(seed: 6)
        let shelf = RandomShelf(12, using: &generator)
        func image(_ change: (inout ShelfTable) -> Void) -> ShelfImage? {
            var table = shelf.table
            change(&table)
            return Self.read(ShelfImage(table).bytes)
        }
        #expect(image { _ in } != nil)
        #expect(image { $0.prices[3] = -2 } == nil)
        #expect(image { $0.prices[3] = Int64(Product.priceLimit) } == nil)
        #expect(image { $0.popularities[3] = .nan } == nil)
        #expect(image { $0.sizes[3] = UInt32($0.sizeValues.count) } == nil)
        #expect(image { $0.brands[3] = UInt32($0.brandTexts.count) } == nil)
        #expect(image { $0.tagSets[3] = UInt32($0.tagSetValues.count) } == nil)
        let unknownTag = image { table in
            table.tagSetValues = NumberLists(table.tagSetValues.map { _ in [UInt32(table.tagTexts.count)] })
        }
        #expect(unknownTag == nil)
        for bytes in [
            [], [16], [16, 0], [16, 0, 2, 0x7B], [16, 0, 128, 128, 128, 128, 128, 0], [0, 0, 0], [4, 0, 1],
            [2, 0, 1, 0x67], [64, 0, 1],
        ] as [[UInt8]] {
            #expect(image { $0.details = $0.details.replacing([3: bytes]) } == nil, "\(bytes)")
        }
        // A size with an unknown unit.
        let unknownUnit = try #require(image { $0.details = $0.details.replacing([3: [2, 0, 1, 0, 1, 0x31]]) })
        #expect(unknownUnit.table.product(3) == nil)
        // Rows out of order.
        #expect(image { (table: inout ShelfTable) in (table.names, table.nameKeys) = (table.skus, table.skus) } == nil)
        // Sizes and sets of tags that occur twice.
        let twice = try #require(
            image {
                $0.sizeValues = Quantities(Array($0.sizeValues) + Array($0.sizeValues))
                $0.tagSetValues = NumberLists(Array($0.tagSetValues) + Array($0.tagSetValues))
            }
        )
        var row = twice.table.values(5)
        row.size = twice.table.values(6).size
        row.tags = twice.table.values(7).tags
        #expect(twice.table.applying([row.sku: row]).values(5) == row)
    }

    @Test("Damage with a right checksum never produces an image with numbers out of range")
    func hostile() throws {
        var generator = SeededGenerator(seed: 5)
        let shelf = AttributeViewTests.shelf(20, using: &generator)
        let image = RandomShelf.image(shelf.listings)
        let (rows, details) = (image.table.rows, image.table.details)
        #expect(details.parts.count > 10)
        let bytes = Array(image.bytes.dropLast(8))
        /// Returns the places of the bytes of a column.
        func places(_ column: TextColumn) throws -> Range<Int> {
            let start = try #require(bytes.indices.first { bytes[$0...].starts(with: column.arena) })
            return start..<(start + column.arena.count)
        }
        let inDetails = try Array(places(details.codes)) + places(details.parts)
        let elsewhere = Set(bytes.indices).subtracting(inDetails).sorted()
        // Apart, because details have half of the bytes.
        for (places, rounds) in [(inDetails, 600), (elsewhere, 3000)] {
            var (read, changed) = (0, 0)
            for _ in 0..<rounds {
                var damaged = bytes
                for _ in 0...Int.random(in: 0..<3, using: &generator) {
                    damaged[places.randomElement(using: &generator)!] = UInt8.random(in: 0...255, using: &generator)
                }
                withUnsafeBytes(of: ShelfImage.checksum(damaged)) { damaged.append(contentsOf: $0) }
                guard let image = Self.read(damaged) else { continue }
                read += 1
                // Reading every value would trap if a number were out of range.
                #expect(image.table.rows.count == 20)
                let sort = Sort.allSingle.randomElement(using: &generator)!
                #expect(image.table.view(shelf.request(sort)).rows.count == 20)
                for row in 0..<20 { _ = image.table.product(row) }
                _ = image.table.facets(Set(Facet.allCases), .none, in: RandomShelf.currency)
                // One product gets other details, and sometimes another one leaves the shelf.
                var row = rows[Int.random(in: 0..<10, using: &generator)]
                row.details = rows[Int.random(in: 0..<20, using: &generator)].details
                var changes: [SKU: TableRow?] = [row.sku: row]
                if Bool.random(using: &generator) {
                    changes[rows[Int.random(in: 10..<20, using: &generator)].sku] = TableRow?.none
                }
                let table = image.table.applying(changes)
                if let found = table.rows(of: [row.sku])[row.sku], table.details[found] == row.details.bytes {
                    changed += 1
                }
                #expect(table.rows.count == table.count)
            }
            #expect(read > rounds / 10 && changed > read / 2)
        }
    }
}
