import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct SortTests {
    private static func compare(_ a: String, _ b: String) -> Int { a < b ? -1 : a > b ? 1 : 0 }

    private static func listing(
        _ sku: String,
        name: String = "N",
        price: Int64? = 100,
        size: Size? = nil,
        brand: String? = nil,
        isSoldOut: Bool = false
    ) -> Listing {
        let product = Product(sku: SKU(sku)!, name: name, brand: brand, priceMinor: price, size: size)
        return Listing(product: product, position: Array(sku.utf8), isSoldOut: isSoldOut)
    }

    private func order(_ sort: String, _ listings: [Listing], _ dimension: Dimension = .mass) throws -> [String] {
        let sort = try Sort.parse(sort)
        return sort.sorted(listings.shuffled(), dimension: dimension, collate: Self.compare)
            .map(\.product.sku.text)
    }

    @Test("Products sort by price in both directions, and those without a price come last")
    func pricesAndMissingValues() throws {
        let listings = [
            Self.listing("a", price: 300), Self.listing("b", price: nil), Self.listing("c", price: 100),
            Self.listing("d", price: 200),
        ]
        #expect(try order("price", listings) == ["c", "d", "a", "b"])
        #expect(try order("-price", listings) == ["a", "d", "c", "b"])
    }

    @Test("Ties are broken by name, then by SKU")
    func tieBreakers() throws {
        let listings = [
            Self.listing("c", name: "A"), Self.listing("a", name: "B"), Self.listing("b", name: "A"),
        ]
        #expect(try order("price", listings) == ["b", "c", "a"])
    }

    @Test("Sold-out products come last in both directions, but not in the manual order")
    func soldOutProducts() throws {
        let listings = [
            Self.listing("a", price: 1, isSoldOut: true), Self.listing("b", price: 3), Self.listing("c", price: 2),
        ]
        #expect(try order("price", listings) == ["c", "b", "a"])
        #expect(try order("-price", listings) == ["b", "c", "a"])
        #expect(try order("position", listings) == ["a", "b", "c"])
    }

    @Test("Unit prices compare exactly within a dimension, and the dimension groups are never reversed")
    func unitPrices() throws {
        func size(_ amount: Int128, _ unit: MeasureUnit) throws -> Size? {
            try Size(amount: ExactDecimal(amount), unit: unit, packs: 1, drained: nil, isApproximate: false)
        }
        let listings = [
            Self.listing("kg", price: 300, size: try size(1, .kg)),
            Self.listing("g", price: 100, size: try size(500, .g)),
            Self.listing("l", price: 1, size: try size(1, .l)), Self.listing("none", price: 1),
        ]
        #expect(try order("unit_price", listings) == ["g", "kg", "l", "none"])
        #expect(try order("-unit_price", listings) == ["kg", "g", "l", "none"])
        #expect(try order("unit_price", listings, .volume) == ["l", "g", "kg", "none"])
    }

    @Test("Later keys break ties of earlier ones")
    func severalKeys() throws {
        let listings = [
            Self.listing("a", price: 1, brand: "Y"), Self.listing("b", price: 2, brand: "X"),
            Self.listing("c", price: 1, brand: "X"),
        ]
        #expect(try order("brand,-price", listings) == ["b", "c", "a"])
        #expect(try order("price,brand", listings) == ["c", "a", "b"])
    }

    @Test("Every sort is a total order")
    func totalOrders() throws {
        var listings: [Listing] = []
        for index in 0..<60 {
            listings.append(
                Self.listing(
                    "p\(index)",
                    name: "N\(index % 4)",
                    price: index % 5 == 0 ? nil : Int64(index % 3),
                    brand: index % 4 == 0 ? nil : "B\(index % 2)",
                    isSoldOut: index % 7 == 0
                )
            )
        }
        for sort in Sort.allSingle {
            func precedes(_ a: Int, _ b: Int) -> Bool {
                sort.precedes(listings[a], listings[b], dimension: .mass, collate: Self.compare)
            }
            for a in listings.indices {
                #expect(!precedes(a, a))
                for b in listings.indices where a != b { #expect(precedes(a, b) != precedes(b, a)) }
            }
        }
    }

    @Test(
        "An invalid sort is rejected",
        arguments: [
            "", ",", "price,", "Cost", "attributes.", "attributes.1", "a.b", "rating,-rating",
            "rating,attributes.rating",
            "a,b,c,d,e", "-", "--price", "price,price", "price,-price", "-position", "PRICE", " price",
        ]
    )
    func invalidSorts(_ text: String) {
        #expect(throws: SortError.self) { try Sort.parse(text) }
    }

    @Test(
        "A sort survives parsing and writing",
        arguments: [
            "price", "-price", "unit_price,-name", "position", "-tags,brand", "rating", "-rating,price",
            "attributes.price",
            "price,-attributes.price",
        ]
    )
    func roundTrips(_ text: String) throws {
        #expect(try Sort.parse(text).description == text)
    }
}
