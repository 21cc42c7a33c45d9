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

    @Test("Rows with close keys are in their exact order, and equal ones keep theirs", arguments: [1, 2, 300, 1500])
    func closeKeys(_ count: Int) {
        var generator = SeededGenerator(seed: UInt64(count) + 3)
        for limit in [UInt64(count) / 4 + 1, UInt64(count) * 40] {
            let exact = (0..<count).map { _ in UInt64.random(in: 0...limit, using: &generator) }
            let keys = exact.map { 10 * $0 + UInt64.random(in: 0...15, using: &generator) }
            var rows = (0..<UInt32(count)).shuffled(using: &generator)
            let expected = rows.enumerated().sorted {
                (exact[Int($0.element)], $0.offset) < (exact[Int($1.element)], $1.offset)
            }
            RowOrder.sort(&rows, by: keys, within: 15) { exact[$0] < exact[$1] }
            #expect(rows == expected.map(\.element))
        }
    }

    @Test("Unit prices are in the order of their approximate values, unless these are close")
    func unitPrices() throws {
        var generator = SeededGenerator(seed: 11)
        var differing = 0
        for _ in 0..<20_000 {
            let digits = UInt128(1) << UInt128.random(in: 37...74, using: &generator)
            func price(_ minor: Int64, _ quantity: UInt128) -> UnitPrice {
                UnitPrice(priceMinor: minor, baseQuantity: BaseQuantity(dimension: .mass, digits: quantity)!)!
            }
            // Values of equal fractions, of fractions beside each other, and of others.
            let minor = Int64.random(in: 1..<Int64(Product.priceLimit) / 2 - 3, using: &generator)
            let quantity = digits + UInt128.random(in: 0..<digits / 2, using: &generator)
            let a = price(minor, quantity)
            let others = [
                price(2 * minor, 2 * quantity), price(minor + 1, quantity), price(minor, quantity + 1),
                price(minor + Int64.random(in: 0...2, using: &generator), digits + 5),
            ]
            for b in others {
                let (x, y) = (a.approximateValue.bitPattern, b.approximateValue.bitPattern)
                if max(x, y) - min(x, y) > UnitPrice.approximationError {
                    #expect(x < y ? a.isLess(than: b) : b.isLess(than: a))
                } else if x != y {
                    differing += 1
                }
            }
        }
        #expect(differing > 100, "some values are close and differ")
    }

    @Test("Unit prices that differ beyond 53 bits are ordered exactly")
    func exactUnitPrices() {
        // Quantities that differ in the last digits. Two products have each quantity, and their order is the order of their skus.
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
            let expected = sort.sorted(listings, dimension: .mass, collate: RandomShelf.collate)
            #expect(view.skus(table) == expected.map(\.product.sku.text))
        }
        let values = Set((0..<table.count).map { table.unitPrice($0)!.approximateValue })
        #expect(values.count < 100, "some values of different prices are equal")
    }
}
