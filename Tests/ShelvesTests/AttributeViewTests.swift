import Catalog
import Ordering
@testable import Shelves
import TestSupport
import Testing

/// Orders, filters and facets by attributes, compared with the specification, which parses each product.
@Suite(.timeLimit(.minutes(15))) struct AttributeViewTests {
    static let attributes = ResolvedAttributes.sample

    /// Returns a shelf whose products have random attributes.
    static func shelf(_ count: Int, using generator: inout SeededGenerator) -> RandomShelf {
        var shelf = RandomShelf(count, using: &generator)
        for index in shelf.listings.indices {
            shelf.listings[index].product.attributes = Product.randomAttributes(using: &generator)
        }
        return shelf
    }

    static func columns(_ table: ShelfTable) -> [AttributeColumn] {
        attributes.all.compactMap { attribute in
            if case .ratio = attribute.form { nil } else { table.column(of: attribute, key: RandomShelf.key) }
        }
    }

    static func sort(using generator: inout SeededGenerator) -> Sort {
        let own = attributes.sortKeys.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
        let keys = (own + SortKey.allCases.shuffled(using: &generator).prefix(1)).shuffled(using: &generator)
        let terms = keys.map { ($0.isReversible && Bool.random(using: &generator) ? "-" : "") + $0.name }
        return try! Sort.parse(terms.joined(separator: ",")).resolved(in: attributes)
    }

    static func filter(
        _ keys: Int,
        _ shelf: RandomShelf,
        using generator: inout SeededGenerator
    ) throws -> Filter {
        let products = shelf.listings.map(\.product)
        for _ in 0..<50 {
            let chosen = (attributes.filterKeys + FilterKey.allCases).shuffled(using: &generator).prefix(keys)
            let query = chosen.flatMap { key in
                key.random(products, RandomShelf.currency, using: &generator).map {
                    "\(key.name)=\(PercentEncoding.encode($0))"
                }
            }
            // An empty range is not a filter.
            if let filter = try? Filter(query: query.joined(separator: "&")).resolved(in: attributes) { return filter }
        }
        return .none
    }

    @Test("Each attribute sorts like the specification, in both directions", arguments: 0..<4 as Range<UInt64>)
    func sorts(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 1...60, using: &generator), using: &generator)
        let table = shelf.table
        let withColumns = table.with(Self.columns(table))
        let single = Self.attributes.sortKeys.flatMap { key in
            [SortDirection.ascending, .descending].map { Sort(key, $0)! }
        }
        for sort in single + (0..<10).map({ _ in Self.sort(using: &generator) }) {
            let view = withColumns.view(shelf.request(sort))
            #expect(view.skus(table) == shelf.sorted(sort).map(\.product.sku.text), "\(sort)")
        }
    }

    @Test("Random products have several values of each attribute, and none", arguments: Self.attributes.all)
    func randomValues(_ attribute: ResolvedAttribute) {
        var generator = SeededGenerator(seed: 3)
        let products = Self.shelf(200, using: &generator).listings.map(\.product)
        let values = products.map { attribute.value(of: $0) }
        #expect(Set(values.compactMap { $0 }).count > 1)
        #expect(values.contains(nil))
    }

    @Test("Each filter keeps the same products as the specification", arguments: Self.attributes.filterKeys)
    func filters(_ key: FilterKey) throws {
        var generator = SeededGenerator(seed: 11)
        let shelf = Self.shelf(60, using: &generator)
        let table = shelf.table
        let withColumns = table.with(Self.columns(table))
        var sizes: Set<Int> = []
        for _ in 0..<40 {
            let texts = key.random(shelf.listings.map(\.product), RandomShelf.currency, using: &generator)
            let query = texts.map { "\(key.name)=\(PercentEncoding.encode($0))" }.joined(separator: "&")
            let filter = try Filter(query: query).resolved(in: Self.attributes)
            let view = withColumns.view(shelf.request(.system, filter))
            #expect(view.skus(table) == shelf.sorted(.system, filter).map(\.product.sku.text), "\(query)")
            #expect(try Filter(query: filter.query).resolved(in: Self.attributes) == filter, "\(query)")
            sizes.insert(view.rows.count)
        }
        #expect(sizes.count > 1, "the filter makes a difference")
    }

    @Test("Filters and sorts by attributes combine with built-in ones", arguments: 0..<6 as Range<UInt64>)
    func combinations(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 1...60, using: &generator), using: &generator)
        let table = shelf.table
        let withColumns = table.with(Self.columns(table))
        for keys in 0..<12 {
            let sort = Self.sort(using: &generator)
            let filter = try Self.filter(keys % 4, shelf, using: &generator)
            let view = withColumns.view(shelf.request(sort, filter))
            #expect(view.skus(table) == shelf.sorted(sort, filter).map(\.product.sku.text), "\(sort) \(filter.query)")
        }
    }

    @Test(
        "The place of each product leads to the next one, also if the product has left",
        arguments: 0..<3 as Range<UInt64>
    )
    func places(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let all = Self.shelf(30, using: &generator)
        var rest = all
        rest.listings.removeAll { _ in Bool.random(using: &generator) }
        let (table, restTable) = (all.table, rest.table)
        let (withColumns, restWithColumns) = (table.with(Self.columns(table)), restTable.with(Self.columns(restTable)))
        for _ in 0..<10 {
            let sort = Self.sort(using: &generator)
            let request = all.request(sort)
            let (view, restView) = (withColumns.view(request), restWithColumns.view(request))
            for (index, listing) in all.sorted(sort).enumerated() {
                let cursor = Cursor(
                    scope: "",
                    sort: sort.description,
                    source: .query,
                    dimension: all.dimension,
                    isSoldOut: listing.isSoldOut,
                    values: sort.terms.map { $0.key.value(of: listing) },
                    name: listing.product.name,
                    id: listing.product.sku.text
                )
                // The columns are those of the view, not of the table.
                #expect(table.values(Int(view.rows[index]), in: view) == cursor.values, "\(sort)")
                let place = ViewPlace(cursor, key: RandomShelf.key)
                #expect(table.index(after: place, in: view) == index + 1, "\(sort)")
                let expected = rest.listings.count {
                    !sort.precedes(listing, $0, dimension: all.dimension, collate: RandomShelf.collate)
                }
                #expect(restTable.index(after: place, in: restView) == expected, "\(sort)")
            }
        }
    }

    @Test("Columns and views follow changed values like ones that are read again", arguments: 0..<6 as Range<UInt64>)
    func followsChanges(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 20...60, using: &generator), using: &generator)
        var table = shelf.table
        var columns = Self.columns(table)
        for _ in 0..<15 {
            let sort = Self.sort(using: &generator)
            let request = shelf.request(sort, try Self.filter(2, shelf, using: &generator))
            let view = table.with(columns).view(request)
            var changes: [SKU: TableRow?] = [:]
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let row = Int.random(in: 0..<table.count, using: &generator)
                var product = try #require(table.product(row))
                product.attributes = Product.randomAttributes(using: &generator)
                product.priceMinor = Int64.random(in: 0..<300, using: &generator)
                let position = table.values(row).position
                changes[product.sku] = TableRow(product, position: position, key: RandomShelf.key)
            }
            let next = table.changed(by: changes)
            let rows = try #require(next.rows, "the products keep their rows")
            #expect(next.table.attributes.isEmpty)
            let followed = columns.map { next.table.column($0, changed: rows, key: RandomShelf.key) }
            let read = Self.columns(next.table)
            let (a, b) = (next.table.with(followed), next.table.with(read))
            #expect(a.view(request) == b.view(request), "\(sort) \(request.filter.query)")
            #expect(a.view(view, changed: rows) == b.view(request), "\(sort) \(request.filter.query)")
            let facets = Set(Self.attributes.facets.shuffled(using: &generator).prefix(Facet.countLimit))
            #expect(
                a.facets(facets, request.filter, in: RandomShelf.currency)
                    == b.facets(facets, request.filter, in: RandomShelf.currency)
            )
            (table, columns) = (next.table, followed)
        }
    }

    @Test("A column that follows many changes drops the values that no product has", arguments: ["origin", "labels"])
    func followedColumnsStaySmall(_ name: String) throws {
        var generator = SeededGenerator(seed: 5)
        var table = Self.shelf(10, using: &generator).table
        let attribute = try #require(Self.attributes[AttributeName(name)!])
        var column = table.column(of: attribute, key: RandomShelf.key)
        for number in 0..<200 {
            let row = number % table.count
            var product = try #require(table.product(row))
            // Most values are new, and some are those of other products.
            let word = number % 5 == 0 ? "same" : "word \(number)"
            product.attributes =
                name == "labels" ? #"{"labels":["\#(word)","all"]}"# : #"{"origin":"\#(word)"}"#
            let position = table.values(row).position
            let changes = [product.sku: TableRow(product, position: position, key: RandomShelf.key)]
            let next = table.changed(by: changes)
            column = next.table.column(column, changed: try #require(next.rows), key: RandomShelf.key)
            table = next.table
            let read = table.column(of: attribute, key: RandomShelf.key)
            #expect(Self.values(column) == Self.values(read), "\(number)")
            switch column.values {
            case .texts(_, let texts): #expect(texts.count <= 2 * table.count + 1)
            case .sets(_, let lists, let texts):
                #expect(lists.count <= table.count && texts.count <= 3 * table.count + 3)
                #expect(Set(lists.map(Array.init)).count == lists.count, "equal sets are kept once")
            case .numbers: Issue.record("the attribute has texts")
            }
        }
    }

    /// The texts of each row; nil for one without a value.
    private static func values(_ column: AttributeColumn) -> [[String]?] {
        switch column.values {
        case .numbers: []
        case .texts(let rows, let texts):
            rows.map { $0 == ShelfTable.none ? nil : [texts[Int($0)].text] }
        case .sets(let rows, let lists, let texts):
            rows.map { $0 == ShelfTable.none ? nil : lists[Int($0)].map { texts[Int($0)].text } }
        }
    }

    @Test("A union of shelves has the attributes of all", arguments: 0..<2 as Range<UInt64>)
    func unions(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let all = Self.shelf(40, using: &generator)
        var (a, b) = (all, all)
        a.listings.removeAll { _ in Int.random(in: 0..<3, using: &generator) == 0 }
        let inA = Set(a.listings.map(\.product.sku))
        b.listings.removeAll { inA.contains($0.product.sku) && Bool.random(using: &generator) }
        let table = ShelfTable.union([a.table, b.table])
        let union = table.with(Self.columns(table))
        for key in Self.attributes.sortKeys {
            let sort = try #require(Sort(key, .descending))
            #expect(union.view(all.request(sort)).skus(table) == all.sorted(sort).map(\.product.sku.text), "\(sort)")
        }
    }

    // MARK: - Facets

    @Test(
        "A count of a facet is what its filter keeps with the filters of others",
        arguments: 0..<12 as Range<UInt64>
    )
    func facetCounts(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let shelf = Self.shelf(Int.random(in: 1...80, using: &generator), using: &generator)
        let table = shelf.table
        let withColumns = table.with(Self.columns(table))
        let filter = try Self.filter(Int(seed % 4), shelf, using: &generator)
        let chosen = (Self.attributes.facets + Facet.allCases).shuffled(using: &generator).prefix(Facet.countLimit)
        let facets = withColumns.facets(Set(chosen), filter, in: RandomShelf.currency)
        #expect(facets.total == shelf.sorted(.system, filter).count)
        #expect(facets.attributes.map(\.attribute) == Set(chosen).ordered.compactMap(\.attribute))
        func kept(_ others: Filter, _ name: String, _ texts: [(String, String?)]) throws -> Int {
            let own = texts.compactMap { ending, text in text.map { "\(name)\(ending)=\(PercentEncoding.encode($0))" } }
            let query = (others.query.isEmpty ? [] : [others.query]) + own
            let all = try Filter(query: query.joined(separator: "&")).resolved(in: Self.attributes)
            return shelf.sorted(.system, all).count
        }
        for facet in facets.attributes {
            let others = filter.without(Facet.attribute(.resolved(facet.attribute)).keys)
            let left = shelf.sorted(.system, others).map(\.product)
            #expect(facet.unknown == left.count { facet.attribute.value(of: $0) == nil }, "\(facet.name)")
            let name = facet.name
            switch facet.counts {
            case .values(let counts):
                let ending = facet.attribute.form.operators.contains(.anyOf) ? "_any" : ""
                for count in counts {
                    #expect(try kept(others, name, [(ending, count.value)]) == count.count, "\(name) \(count.value)")
                }
                let isSet = ending == "_any"
                #expect(isSet || counts.reduce(facet.unknown) { $0 + $1.count } == left.count, "\(name)")
            case .range(let range):
                #expect(range.buckets.count <= PriceBucket.limit)
                #expect(range.buckets.allSatisfy { $0.count > 0 })
                for bucket in range.buckets {
                    let limits = [("_min", bucket.from), ("_max", bucket.to)]
                    // Without limits, the bucket has all products with a value.
                    let found =
                        bucket.from == nil && bucket.to == nil
                        ? left.count - facet.unknown : try kept(others, name, limits)
                    #expect(found == bucket.count, "\(name) \(bucket)")
                }
                #expect(range.buckets.reduce(facet.unknown) { $0 + $1.count } == left.count, "\(name)")
                guard left.count > facet.unknown else { continue }
                let all = try kept(others, name, [("_min", range.min), ("_max", range.max)])
                #expect(all == left.count - facet.unknown, "\(name) \(range)")
            }
        }
    }

    @Test(
        "Each bucket of a number with many decimals is a filter that keeps as many products as it counts",
        arguments: [7, 9]
    )
    func bucketsOfManyDecimals(_ decimals: Int) throws {
        var generator = SeededGenerator(seed: UInt64(decimals))
        let definition = try AttributeDefinition(name: AttributeName("dose")!, form: .number(decimals: decimals))
        let attributes = ResolvedAttributes(AttributeSet(deployment: [.definition(definition)]))
        var shelf = RandomShelf(60, using: &generator)
        for index in shelf.listings.indices {
            let value = ExactDecimal(Int128(Int.random(in: -9999...9999, using: &generator)), scale: decimals)
            shelf.listings[index].product.attributes = #"{"dose":\#(value)}"#
        }
        let attribute = try #require(attributes.all.first)
        let table = shelf.table.with([shelf.table.column(of: attribute, key: RandomShelf.key)])
        let facets = table.facets([.attribute(.resolved(attribute))], .none, in: RandomShelf.currency)
        guard case .range(let range)? = facets.attributes.first?.counts else {
            Issue.record("the facet has no range")
            return
        }
        #expect(range.buckets.count > 1)
        for bucket in range.buckets {
            let limits = [("dose_min", bucket.from), ("dose_max", bucket.to)]
            let query = limits.compactMap { name, text in text.map { "\(name)=\($0)" } }.joined(separator: "&")
            let filter = try Filter(query: query).resolved(in: attributes)
            #expect(table.view(shelf.request(.system, filter)).rows.count == bucket.count, "\(query)")
            #expect(shelf.sorted(.system, filter).count == bucket.count, "\(query)")
        }
    }

    // MARK: - Reading

    @Test("A member is found among others, whatever they contain")
    func members() {
        func value(_ text: String, _ name: String = "a") -> String? {
            Array(text.utf8).withUnsafeBytes { bytes in
                JSONMembers.value(of: Array(name.utf8), in: bytes).map { String(decoding: $0, as: UTF8.self) }
            }
        }
        for (text, expected) in [
            (#"{"a": 1}"#, "1"), (#"{"a":1}"#, "1"), (#" { "b" : 2 , "a" : "x" } "#, #""x""#),
            (#"{"a": -1.5e3 , "b": 1}"#, "-1.5e3"),
            (#"{"b": {"a": 1}, "a": [1, {"a": "]"}]}"#, #"[1, {"a": "]"}]"#),
            (#"{"b": "\"a\": 3", "a": true}"#, "true"),
            (#"{"b": "\\", "a": null}"#, "null"), (#"{"b": [[], {}, "}"], "a": {}}"#, "{}"), (#"{}"#, nil),
            (#"{"b": 1}"#, nil),
            (#"{"aa": 1, "b": "a"}"#, nil), (#"[]"#, nil), (#"{"a"#, nil), (#"{"a": "x"#, nil), ("", nil),
            (#"{"b": [1, "a": 2"#, nil),
        ] as [(String, String?)] {
            #expect(value(text) == expected, "\(text)")
        }
    }

    @Test("The attributes of a product are found behind the other values of its details")
    func details() throws {
        var product = Product(sku: SKU("a")!, name: "N")
        func found() -> String? {
            ProductDetails(product).bytes.withUnsafeBytes { bytes in
                ProductDetails.attributes(in: bytes).map { String(decoding: $0, as: UTF8.self) }
            }
        }
        #expect(found() == nil)
        product.attributes = #"{"a": 1}"#
        #expect(found() == product.attributes)
        product.regularPriceMinor = 5
        #expect(found() == product.attributes)
        product.size = try Size(amount: ExactDecimal(1), unit: .l, packs: 6)
        product.barcode = "4006381333931"
        #expect(found() == product.attributes)
        product.attributes = "{\"a\": \"\(String(repeating: "x", count: 4000))\"}"
        #expect(found() == product.attributes)
        let bytes = ProductDetails(product).bytes
        for count in [0, 1, 2, 5, 13, 14, 15, 100] {
            #expect(bytes.prefix(count).withUnsafeBytes { ProductDetails.attributes(in: $0) == nil }, "\(count) bytes")
        }
    }

    @Test("The size of a column is about that of its values")
    func sizes() {
        var generator = SeededGenerator(seed: 5)
        let table = Self.shelf(3000, using: &generator).table
        for column in Self.columns(table) {
            #expect(column.size > table.count)
            #expect(column.size < 40 * table.count, "\(column.attribute.name)")
        }
    }
}
