import Catalog
import Ordering
import Testing

@testable import Shelves

@Suite struct RowOrderTests {
    @Test("The radix sort equals a stable comparison sort", arguments: [0, 1, 2, 300, 1500])
    func oracle(_ count: Int) {
        var generator = SeededGenerator(seed: UInt64(count))
        for limit in [UInt64.max, 1, 1 << 40, 70_000] {
            let keys = (0..<count).map { _ in UInt64.random(in: 0...limit, using: &generator) }
            var rows = (0..<UInt32(count)).shuffled(using: &generator)
            let expected = rows.enumerated().sorted {
                (keys[Int($0.element)], $0.offset) < (keys[Int($1.element)], $1.offset)
            }
            RowOrder.sort(&rows, by: keys)
            #expect(rows == expected.map(\.element))
        }
    }

    @Test("Texts with long equal beginnings are in the order of their bytes", arguments: [0, 1, 40, 49, 2000])
    func texts(_ count: Int) {
        var generator = SeededGenerator(seed: UInt64(count) + 7)
        for (common, alphabet) in [(0, 255), (5, 2), (8, 1), (23, 3), (90, 1)] {
            var column = TextColumn()
            var texts: [[UInt8]] = []
            for _ in 0..<count {
                // Some end within the common beginning, and zeros are bytes like others.
                let length = Int.random(in: 0...common + 12, using: &generator)
                texts.append(
                    (0..<length).map { $0 < common ? 65 : UInt8(Int.random(in: 0...alphabet, using: &generator)) }
                )
                column.append(texts.last!)
            }
            let ties = (0..<count).map { _ in Int.random(in: 0..<3, using: &generator) }
            var rows = (0..<UInt32(count)).shuffled(using: &generator)
            let expected = rows.enumerated().sorted { a, b in
                let (x, y) = (Int(a.element), Int(b.element))
                if texts[x] != texts[y] { return texts[x].lexicographicallyPrecedes(texts[y]) }
                return (ties[x], a.offset) < (ties[y], b.offset)
            }
            RowOrder.sort(&rows, by: column) { ties[$0] - ties[$1] }
            #expect(rows == expected.map(\.element), "\(common) common bytes")
        }
    }

    @Test("Close unit prices have numbers in their order")
    func unitPrices() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<5000 {
            let dimension = Dimension.mass
            let digits = UInt128(1) << UInt128.random(in: 37...76, using: &generator)
            func quantity() -> BaseQuantity {
                BaseQuantity(dimension: dimension, digits: digits + UInt128.random(in: 0...5, using: &generator))!
            }
            let price = Int64.random(in: 0..<Int64(Product.priceLimit) - 3, using: &generator)
            let a = UnitPrice(priceMinor: price, baseQuantity: quantity())!
            let b = UnitPrice(priceMinor: price + Int64.random(in: 0...2, using: &generator), baseQuantity: quantity())!
            if a.isLess(than: b) { #expect(a.approximateOrder <= b.approximateOrder) }
            if b.isLess(than: a) { #expect(b.approximateOrder <= a.approximateOrder) }
            if a.isEqual(to: b) { #expect(a.approximateOrder == b.approximateOrder) }
        }
        let least = UnitPrice(
            priceMinor: 1,
            baseQuantity: BaseQuantity(dimension: .mass, digits: 100_000_000_000_000_000_000_000)
        )!
        let most = UnitPrice(
            priceMinor: 999_999_999_999,
            baseQuantity: BaseQuantity(dimension: .mass, digits: 100_000_000_000)
        )!
        #expect(0 < least.approximateOrder && least.approximateOrder < most.approximateOrder)
    }

    @Test("Unit prices that differ beyond 57 bits are ordered exactly")
    func exactUnitPrices() {
        // Quantities that differ in their last digits, each of two products, whose order is that of their skus.
        var listings: [Listing] = []
        for number in 0..<200 {
            var product = Product(sku: SKU("p\(number)")!, name: "Same", priceMinor: 500_000_000_000)
            product.size = try! Size(
                amount: ExactDecimal(Int128(900_000_000_00000000000000) + Int128(number * 7919 % 100), scale: 14),
                unit: .g
            )
            listings.append(
                Listing(product: product, position: PathKey.appending(1, after: nil)[0].bytes, isSoldOut: false)
            )
        }
        let table = ShelfTable(listings.map(RandomShelf.row))
        for direction in [SortDirection.ascending, .descending] {
            let sort = Sort(.unitPrice, direction)!
            let view = table.view(
                ViewRequest(sort: sort, dimension: .mass, sortsSoldOutLast: true, currency: RandomShelf.currency)
            )
            let expected = listings.sorted {
                sort.precedes($0, $1, dimension: .mass, collate: RandomShelf.collate)
            }
            #expect(view.skus(table) == expected.map(\.product.sku.text))
        }
        #expect(Set(table.unitPrices).count < 100, "some numbers of different prices are equal")
    }
}
