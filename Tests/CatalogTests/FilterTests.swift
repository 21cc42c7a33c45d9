import JSON
import Catalog
import CatalogJSON
import Testing

/// The semantics, parsing and writing of filters.
@Suite(.timeLimit(.minutes(15))) struct FilterTests {
    private static let euro = Currency("EUR")!

    private func filter(_ query: String) throws -> Filter { try Filter(query: query) }

    private func product(
        price: Int64? = nil,
        _ amount: Int = 0,
        _ unit: MeasureUnit = .g,
        brand: String? = nil,
        tags: [String] = [],
        inStock: Bool = true,
        createdAt: String = "2026-03-01T00:00:00Z"
    ) throws -> Product {
        Product(
            sku: SKU("x")!,
            name: "X",
            brand: brand,
            priceMinor: price,
            size: amount == 0 ? nil : try Size(amount: ExactDecimal(Int128(amount)), unit: unit, packs: 1),
            inStock: inStock,
            tags: tags,
            createdAt: Timestamp(rfc3339: createdAt)!
        )
    }

    @Test(
        "Price limits are inclusive and exact",
        arguments: [
            ("price_max=0.99", Int64(99), true), ("price_max=0.989", 99, false), ("price_max=0.9901", 99, true),
            ("price_min=0.99", 99, true), ("price_min=0.991", 99, false), ("price_min=0&price_max=0", 0, true),
            ("price_min=1&price_max=1.00", 100, true),
        ]
    ) func priceLimitsAreInclusive(_ query: String, _ price: Int64, _ isLeft: Bool) throws {
        #expect(try filter(query).accepts(try product(price: price), in: Self.euro) == isLeft)
        #expect(try !filter(query).accepts(try product(), in: Self.euro), "without a price")
    }

    @Test("Filter prices are in the store's currency")
    func pricesAreInTheStoresCurrency() throws {
        let five = try filter("price_max=5")
        #expect(five.accepts(try product(price: 5), in: Currency("JPY")!))
        #expect(!five.accepts(try product(price: 6), in: Currency("JPY")!))
        #expect(five.accepts(try product(price: 5000), in: Currency("KWD")!))
        #expect(!five.accepts(try product(price: 5001), in: Currency("KWD")!))
    }

    @Test(
        "Unit prices compare exactly within a dimension",
        arguments: [
            // 3.30 for 275 g is exactly 1.20 per 100 g.
            ("1.20/100g", Int64(330), 275, MeasureUnit.g, true), ("1.1999/100g", 330, 275, .g, false),
            ("12/kg", 330, 275, .g, true), ("12/1kg", 331, 275, .g, false), ("12/l", 330, 275, .g, false),
            // A third of a cent: no binary or decimal fraction is equal.
            ("1/3g", 100, 3, .g, true), ("1/3g", 101, 3, .g, false), ("0.5/piece", 300, 6, .piece, true),
            ("0.5 / piece", 301, 6, .piece, false), ("5.443108/lb", 1200, 1000, .g, false),
            ("5.443109/lb", 1200, 1000, .g, true),
        ]
    ) func unitPricesCompareExactly(
        _ limit: String,
        _ price: Int64,
        _ amount: Int,
        _ unit: MeasureUnit,
        _ isLeft: Bool
    ) throws {
        let filter = try Filter { $0 == .unitPriceMax ? [limit] : [] }!
        #expect(filter.accepts(try product(price: price, amount, unit), in: Self.euro) == isLeft)
        #expect(!filter.accepts(try product(price: price), in: Self.euro), "without a size")
    }

    @Test("Values of a filter are combined by OR, keys by AND")
    func combinesValuesByOrAndKeysByAnd() throws {
        let either = try filter("brand=Arla&brand=&tag=new")
        #expect(either.accepts(try product(brand: "Arla", tags: ["new", "x"]), in: Self.euro))
        #expect(either.accepts(try product(tags: ["new"]), in: Self.euro))
        #expect(!either.accepts(try product(brand: "arla", tags: ["new"]), in: Self.euro))
        #expect(!either.accepts(try product(brand: "Arla"), in: Self.euro))
        let bare = try filter("tag=&in_stock=false")
        #expect(bare.accepts(try product(inStock: false), in: Self.euro))
        #expect(!bare.accepts(try product(tags: ["new"], inStock: false), in: Self.euro))
        #expect(!bare.accepts(try product(), in: Self.euro))
        #expect(try filter("dimension=volume&dimension=mass").accepts(try product(1, .kg), in: Self.euro))
        #expect(try !filter("dimension=volume").accepts(try product(1, .kg), in: Self.euro))
        #expect(Filter.none.accepts(try product(), in: Self.euro))
    }

    @Test(
        "A date in a filter includes the whole day",
        arguments: [
            ("created_after=2026-03-01", "2026-03-01T00:00:00Z", true),
            ("created_after=2026-03-01", "2026-02-28T23:59:59.999999Z", false),
            ("created_before=2026-03-01", "2026-03-01T23:59:59.999999Z", true),
            ("created_before=2026-03-01", "2026-03-02T00:00:00Z", false),
            ("created_after=2026-03-01T02%3A00%3A00%2B02%3A00", "2026-03-01T00:00:00Z", true),
        ]
    ) func dayIncludesAllItsTimes(_ query: String, _ createdAt: String, _ isLeft: Bool) throws {
        #expect(try filter(query).accepts(try product(createdAt: createdAt), in: Self.euro) == isLeft)
    }

    @Test(
        "An invalid filter names its parameter",
        arguments: [
            ("price_min=5&price_max=4.99", "price_max"),
            ("created_after=2026-03-02&created_before=2026-03-01", "created_before"),
            (
                "modified_after=2026-03-01T00%3A00%3A00.000001Z&modified_before=2026-03-01T00%3A00%3A00Z",
                "modified_before"
            ),
            ("price_max=five", "price_max"), ("price_max=-1", "price_max"), ("price_max=1e3", "price_max"),
            ("price_max=", "price_max"),
            ("price_max=1.1234567", "price_max"), ("price_max=1000000000000", "price_max"),
            ("price_max=1&price_max=2", "price_max"),
            ("in_stock=yes", "in_stock"), ("in_stock=", "in_stock"), ("unit_price_max=1.20", "unit_price_max"),
            ("unit_price_max=1/0g", "unit_price_max"), ("unit_price_max=1/5parsec", "unit_price_max"),
            ("unit_price_max=/kg", "unit_price_max"),
            ("unit_price_max=1/2/kg", "unit_price_max"), ("created_after=2026-02-30", "created_after"),
            ("created_after=monday", "created_after"),
            ("dimension=weight", "dimension"), ("brand=a%0Ab", "brand"),
            ("created_before=9999-12-31T23%3A59%3A59-23%3A59", "created_before"),
            ("created_after=0001-01-01T00%3A00%3A00%2B01%3A00", "created_after"),
        ]
    ) func invalidFilterNamesParameter(_ query: String, _ parameter: String) {
        #expect {
            try Filter(query: query)
        } throws: { error in
            guard case .malformed(let named, let detail, _, _)? = error as? CatalogError else { return false }
            return named == parameter && detail.contains(parameter)
        }
    }

    @Test("The length of a filter is limited")
    func limitsFilterLength() throws {
        let brands = (0..<100).map { "\($0)" + String(repeating: "ä", count: 60) }
        #expect(throws: CatalogError.self) { try Filter { $0 == .brand ? brands : [] } }
        #expect(throws: CatalogError.self) { try Filter { $0 == .brand ? Array(repeating: "x", count: 101) : [] } }
        let some = try Filter { $0 == .brand ? Array(brands.prefix(10)) : [] }!
        let cursor = Cursor(scope: "products/s/x", sort: "price", source: .query, filter: some.query, id: "x")
        let codec = CursorCodec { Array($0.prefix(32)) }
        #expect(try codec.decode(codec.encode(cursor)) == cursor)
        // The maximum amount and size.
        let size = try Size(amount: ExactDecimal(999_999_999), unit: .g, packs: 1)
        let expensive = Product(sku: SKU("x")!, name: "X", priceMinor: 999_999_999_999, size: size)
        for (limit, isLeft) in [
            ("999999999999/1g", true), ("0.000001/999999999g", false), ("9999999.99999999/999999999g", false),
        ] {
            guard let filter = try? Filter({ $0 == .unitPriceMax ? [limit] : [] }) else { continue }
            #expect(filter.accepts(expensive, in: Self.euro) == isLeft, "\(limit)")
        }
    }

    @Test("A filter survives writing and parsing")
    func filterRoundTrips() throws {
        let texts: [FilterKey: [String]] = [
            .brand: ["Käse & Co=+%", "", "Arla", "Arla"], .tag: ["new"], .tagsAll: ["b", "a", "b"],
            .tagsNone: ["c"], .inStock: ["true"], .priceMin: ["1.50"],
            .priceMax: ["5"], .unitPriceMax: ["1.20/100 Gramm"], .createdAfter: ["2026-03-01"],
            .createdBefore: ["2026-03-02"], .modifiedAfter: ["2026-03-01T10:00:00+02:00"],
            .modifiedBefore: ["2026-03-05"],
            .dimension: ["volume", "mass", "volume"],
        ]
        let filter = try Filter { texts[$0] ?? [] }!
        #expect(filter.keys == FilterKey.allCases)
        #expect(try Filter(query: filter.query) == filter)
        #expect(try Filter(json: filter.json) == filter)
        #expect(
            filter.query
                == "brand=&brand=Arla&brand=K%C3%A4se%20%26%20Co%3D%2B%25&tag=new&tags_all=a&tags_all=b&tags_none=c&in_stock=true&price_min=1.5&price_max=5&unit_price_max=1.2%2F100g"
                + "&created_after=2026-03-01T00%3A00%3A00Z&created_before=2026-03-02T23%3A59%3A59.999999Z"
                + "&modified_after=2026-03-01T08%3A00%3A00Z&modified_before=2026-03-05T23%3A59%3A59.999999Z&dimension=mass&dimension=volume"
        )
        #expect(try Filter(query: "") == .none)
        #expect(try Filter { _ in [] } == nil)
    }

    @Test("A filter in JSON may have a text instead of an array")
    func jsonAcceptsSingleValues() throws {
        let given = try JSONReader.parse(Array(#"{"brand":"Arla","price_max":4.5,"in_stock":false,"tag":null}"#.utf8))
        #expect(try Filter(json: given).query == "brand=Arla&in_stock=false&price_max=4.5")
        for wrong in [
            #"{"Brands":"x"}"#, #"{"tags_all":""}"#, #"{"rating_min":["1"]}"#, #"{"brand":1}"#, #"{"brand":[]}"#,
            #"{"in_stock":"true"}"#, #"{"price_max":["1"]}"#,
            "[]",
            #"{"price_min":2,"price_max":1}"#,
        ] {
            #expect(throws: CatalogError.self, "\(wrong)") { try Filter(json: try JSONReader.parse(Array(wrong.utf8))) }
        }
    }

    @Test("Price buckets have round bounds and cover all prices")
    func bucketsAreRoundAndComplete() {
        #expect(PriceBucket.all([]).isEmpty)
        #expect(PriceBucket.all([PriceCount(99, 4)]) == [PriceBucket(count: 4)])
        let even = PriceBucket.all((1...1000).map { PriceCount(Int64($0), 1) })
        #expect(even.map(\.from) == [nil, 200, 400, 600, 800])
        #expect(even.map(\.to) == [199, 399, 599, 799, nil])
        #expect(even.map(\.count) == [199, 200, 200, 200, 201])
        // Half of the products at one price, and a few expensive ones.
        let skewed = PriceBucket.all([
            PriceCount(99, 500), PriceCount(199, 300), PriceCount(1999, 150), PriceCount(99_999, 1),
        ])
        #expect(skewed.reduce(0) { $0 + $1.count } == 951)
        #expect(skewed.allSatisfy { $0.count > 0 })
        #expect(skewed.count > 1)
        for minor in [Int64(0), 1, 7, 99, 123, 999, 1_234_567, 999_999_999_999] {
            let round = PriceBucket.round(minor)
            #expect(round >= 1, "\(minor) → \(round)")
            #expect(abs(round - minor) <= max(1, minor / 4), "\(minor) → \(round)")
        }
    }
}
