import JSON
import TestSupport
import Testing

@testable import Catalog

/// Sorts, filters and facets by attributes, from their texts to the plan of a page.
@Suite(.timeLimit(.minutes(15))) struct AttributePlanTests {
    private static let attributes = ResolvedAttributes.sample
    private static let key = CatalogKey("s")!

    private static func head(shelf: Sort? = nil, store: Sort? = nil) -> ShelfHead {
        var settings = Store(key: key, title: "S", currency: Currency("EUR")!)
        settings.defaultSort = store
        let state = ShelfState(
            shelf: Shelf(key: key, title: "X", defaultSort: shelf),
            productCount: 0,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 7,
            orderVersion: 1
        )
        return ShelfHead(store: settings, storeVersion: 2, attributeRevision: 3, state: state)
    }

    private static func plan(
        _ sort: String?,
        _ filter: String = "",
        facets: String? = nil,
        after: Cursor? = nil,
        remembering: RememberedSorts = .none,
        head: ShelfHead = Self.head(),
        attributes: ResolvedAttributes = attributes
    ) throws -> PagePlan {
        var request = PageRequest(store: key, shelf: key, sort: try sort.map { try Sort.parse($0) }, after: after)
        if !filter.isEmpty { request.filter = try Filter(query: filter) }
        request.facets = try facets.map { try Facet.parse($0) } ?? []
        return try request.plan(for: head, remembering: remembering, attributes: attributes)
    }

    private static func error(_ body: () throws -> Void) -> CatalogError? {
        do {
            try body()
            return nil
        } catch { return error as? CatalogError }
    }

    /// Returns the same attributes with another form of one.
    private static func retyped(_ name: String, _ form: AttributeForm) throws -> ResolvedAttributes {
        let others = AttributeSet.sample.attributes.map(\.definition).filter { $0.name.text != name }
        let definition = try AttributeDefinition(name: AttributeName(name)!, form: form)
        return ResolvedAttributes(AttributeSet(deployment: (others + [definition]).map { .definition($0) }))
    }

    // MARK: - Names

    @Test("The name of a built-in key means the built-in key, except with a path")
    func names() throws {
        let sort = try Sort.parse("price,attributes.price,-attributes.rating")
        #expect(sort.terms.map(\.key.isAttribute) == [false, true, true])
        #expect(sort.description == "price,attributes.price,-rating")
        #expect(try Sort.parse("attributes.rating") == Sort.parse("rating"))
        let filter = try Filter(
            query: "attributes.brand=x&attributes.price_min=1&brand=y&rating_min=2&attributes.sort=3"
        )
        #expect(
            filter.keys.map(\.name)
                == ["brand", "attributes.brand", "attributes.price_min", "attributes.sort", "rating_min"]
        )
        #expect(filter.keys.map(\.isAttribute) == [false, true, true, true, true])
        for name in ["Rating", "_min", "1a", "attributes.", "rating-min", "", "a.b", String(repeating: "x", count: 33)]
        {
            #expect(FilterKey(name: name) == nil, "\(name)")
        }
        #expect(
            Set(try Facet.parse("price,attributes.price,attributes.total,rating").map(\.name)) == [
                "price", "attributes.price", "attributes.total", "rating",
            ]
        )
        for key in FilterKey.allCases { #expect(FilterKey(name: key.name) == key) }
    }

    @Test("A request has at most eight facets, and a sort at most four attributes")
    func limits() throws {
        #expect(try Facet.parse("a,b,c,d,e,f,g,brand").count == 8)
        #expect(throws: CatalogError.self) { try Facet.parse("a,b,c,d,e,f,g,h,brand") }
        #expect(throws: CatalogError.self) { try Facet.parse("a,attributes.a") }
        #expect(try Sort.parse("a,b,c,d,price").terms.count == 5)
    }

    @Test("An attribute that the store does not have is an unknown sort key, with a hint and the allowed keys")
    func unknownSorts() throws {
        for (sort, hint) in [("ratng", "rating"), ("prise", "price"), ("-orgin", "origin"), ("xyzzy", nil)]
            as [(String, String?)]
        {
            guard case .unknownSortKey(let error, "sort")? = Self.error({ _ = try Self.plan(sort) }) else {
                Issue.record("\(sort) is accepted")
                continue
            }
            #expect(error.word == sort && error.hint == hint && error.reason == "unknown sort key")
            #expect(error.allowed.contains("-rating") && error.allowed.contains("position"))
            #expect(!error.allowed.contains("allergens") && error.allowed.contains("attributes.price"))
        }
        guard case .unknownSortKey(let error, _)? = Self.error({ _ = try Self.plan("-allergens") }) else {
            Issue.record("a set is accepted")
            return
        }
        #expect(error.word == "-allergens" && error.hint == nil && error.reason.contains("set"))
    }

    @Test("An attribute that the store does not have is an unknown filter, with a hint")
    func unknownFilters() throws {
        for (query, hint) in [
            ("limt=5", nil), ("ratng_min=4", "rating_min"), ("xyzzy=1", nil), ("prise_min=4", "price_min"),
        ] as [(String, String?)] {
            let name = String(query.prefix { $0 != "=" })
            guard case .unknownFilter(let error)? = Self.error({ _ = try Self.plan(nil, query) }) else {
                Issue.record("\(query) is accepted")
                continue
            }
            #expect(error.parameter == name && error.hint == hint && error.detail == "unknown filter “\(name)”")
            #expect(error.allowed.contains("allergens_none") && error.allowed.contains("tags_all"))
            guard case .unknownFilter(let inner) = CatalogError.unknownFilter(error).inside("filter").inside("value")
            else { continue }
            #expect(inner.parameter == "value.filter.\(name)" && inner.detail == error.detail)
        }
        for (query, parameter) in [
            ("rating_any=1", "rating_any"), ("allergens=n", "allergens"), ("grade_min=a", "grade_min"),
            ("protein_price=1", "protein_price"), ("organic_max=true", "organic_max"),
        ] {
            guard case .malformed(let name, let detail, let allowed, _)? = Self.error({ _ = try Self.plan(nil, query) })
            else {
                Issue.record("\(query) is accepted")
                continue
            }
            #expect(name == parameter && detail.contains("does not apply") && !allowed.isEmpty, "\(query)")
        }
        guard
            case .malformed("facets", _, let allowed, "rating")? = Self.error({
                _ = try Self.plan(nil, facets: "ratng")
            })
        else {
            Issue.record("an unknown facet is accepted")
            return
        }
        #expect(allowed.contains("protein_price") && allowed.contains("brand"))
    }

    // MARK: - Values

    @Test(
        "Equal filters have equal texts",
        arguments: [
            ("rating=4.50&rating=4.5", "rating=4.5"), ("rating=4.50&brand=x&tag=y", "brand=x&tag=y&rating=4.5"),
            ("rating_min=4.0", "rating_min=4"),
            ("rating_min=4.450", "rating_min=4.45"),
            ("rating_max=4.49&rating_min=4.41", "rating_max=4.49&rating_min=4.41"),
            ("rating_min=-4.450", "rating_min=-4.45"),
            ("rating_max=-4.450", "rating_max=-4.45"),
            ("attributes.rating_min=1&rating_max=1", "rating_max=1&rating_min=1"), ("rating=", "rating="),
            ("origin=%20Istria%20&origin=Istria", "origin=Istria"), ("origin=e%CC%81", "origin=%C3%A9"),
            ("grade=b&grade=a", "grade=a&grade=b"),
            ("organic=true&organic=false&organic=", "organic=&organic=false&organic=true"),
            ("harvest_min=2026-03-01", "harvest_min=2026-03-01"),
            ("allergens_any=n&allergens_any=", "allergens_any=&allergens_any=n"),
            ("protein_price_max=0.500000", "protein_price_max=0.5"), ("labels_none=x", "labels_none=x"),
            ("protein_price_min=9999999999999999999999.999999", "protein_price_min=9999999999999999999999.999999"),
            ("rating_min=99999999999999.95", "rating_min=99999999999999.95"),
            ("attributes.price_min=999999999999999.5", "attributes.price_min=999999999999999.5"),
        ]
    )
    func texts(_ query: String, _ expected: String) throws {
        let filter = try Filter(query: query).resolved(in: Self.attributes)
        #expect(filter.query == expected)
        #expect(try Filter(query: filter.query).resolved(in: Self.attributes) == filter)
        #expect(try Filter(json: filter.json).resolved(in: Self.attributes) == filter)
        #expect(try filter.resolved(in: Self.attributes) == filter)
    }

    @Test("A filter has at most eight attributes, with any number of conditions")
    func attributeLimit() throws {
        func query(_ names: ClosedRange<Int>) -> String {
            names.map { "a\($0)_min=1&a\($0)_max=2&a\($0)=1" }.joined(separator: "&")
        }
        let most = try Filter(query: query(1...8) + "&brand=x&tag=y")
        #expect(most.keys.count == 26)
        #expect(try Filter(json: most.json) == most)
        guard
            case .malformed("a9", "the filter has 9 attributes; the maximum is 8", _, _)? = Self.error({
                _ = try Filter(query: query(1...9))
            })
        else {
            Issue.record("a filter by nine attributes was accepted")
            return
        }
        let json = JSONValue.object((1...9).map { .init("a\($0)", .number("1")) })
        guard case .malformed("filter.a9", _, _, _)? = Self.error({ _ = try Filter(json: json) }) else {
            Issue.record("nine attributes in JSON were accepted")
            return
        }
    }

    @Test(
        "A value of another type is refused, and names its parameter",
        arguments: [
            "rating=4.55", "rating=x", "rating_min=", "rating_min=x", "rating_min=1&rating_min=2", "rating_min=1e3",
            "rating_min=4.1234567", "rating_max=1000000000000000.1", "grade=z", "organic=yes", "harvest=2026-02-30",
            "harvest_min=2026", "allergens_any=x", "allergens_all=", "allergens_none=", "labels_none=", "tags_all=",
            "tags_none=",
            "origin=%07", "rating_min=2&rating_max=1", "harvest_min=2026-03-02&harvest_max=2026-03-01",
            "protein_price_min=0.2&protein_price_max=0.1", "protein_price_max=",
        ]
    )
    func refusedValues(_ query: String) {
        guard case .malformed(let parameter?, _, _, _)? = Self.error({ _ = try Self.plan(nil, query) }) else {
            Issue.record("\(query) is accepted")
            return
        }
        #expect(query.contains("\(parameter)="), "\(parameter)")
    }

    @Test(
        "The end of a range has six decimals, or as many as the number has",
        arguments: [(0, 6), (6, 6), (7, 7), (9, 9)]
    )
    func decimalsOfLimits(_ decimals: Int, _ most: Int) throws {
        let attributes = try Self.retyped("rating", .number(decimals: decimals))
        func filter(_ digits: Int) throws -> Filter {
            try Filter(query: "rating_max=4.\(String(repeating: "1", count: digits))").resolved(in: attributes)
        }
        #expect(try filter(most).query == "rating_max=4.\(String(repeating: "1", count: most))")
        guard case .malformed("rating_max", let detail, _, _)? = Self.error({ _ = try filter(most + 1) }) else {
            Issue.record("\(most + 1) decimals are accepted")
            return
        }
        #expect(detail.contains("with at most \(most) decimals"))
    }

    @Test("Scalars and arrays of JSON are values of filters")
    func json() throws {
        let given =
            #"{"rating":[4.5,"4"],"rating_min":4,"organic":true,"allergens_none":"n","grade":["a"],"origin":null}"#
        let filter = try Filter(json: try JSONReader.parse(Array(given.utf8))).resolved(in: Self.attributes)
        #expect(filter.query == "allergens_none=n&grade=a&organic=true&rating=4&rating=4.5&rating_min=4")
        #expect(
            filter.json.text
                == #"{"allergens_none":["n"],"grade":["a"],"organic":["true"],"rating":["4","4.5"],"rating_min":"4"}"#
        )
    }

    private static func accepts(_ query: String, _ attributes: String, price: Int64? = nil) throws -> Bool {
        var product = Product(sku: SKU("a")!, name: "N", priceMinor: price, tags: ["x", "y"])
        product.size = try Size(amount: ExactDecimal(300), unit: .g)
        product.attributes = attributes
        return try Filter(query: query).resolved(in: Self.attributes).accepts(product, in: Currency("EUR")!)
    }

    @Test(
        "A product without the attribute fails every condition but the one that asks for it",
        arguments: ResolvedAttributes.sample.filterKeys.map(\.name)
    )
    func unknownIsNotEmpty(_ name: String) throws {
        let isDate = name.hasPrefix("harvest")
        let isText = ["grade", "origin", "labels"].contains { name.hasPrefix($0) }
        let value =
            isDate
            ? "2026-03-01" : isText ? "a" : name.hasPrefix("organic") ? "true" : name.hasPrefix("allergens") ? "n" : "1"
        let other = name.hasPrefix("attributes.") ? String(name.dropFirst(11)) : name
        let member = AttributeOperator.allCases.reduce(other) {
            $1 != .equals && $0.hasSuffix($1.ending) ? String($0.dropLast($1.ending.count)) : $0
        }
        for attributes in ["{}", "{\"\(member)\":null}", "{\"\(member)\":{}}"] {
            #expect(try !Self.accepts("\(name)=\(value)", attributes), "\(attributes)")
        }
        guard let key = FilterKey(name: name), case .attribute(_, .equals) = key else { return }
        #expect(try Self.accepts("\(name)=", "{}"))
    }

    @Test(
        "Values match exactly",
        arguments: [
            ("rating_min=4.5", #"{"rating":4.5}"#, true), ("rating_min=4.51", #"{"rating":4.5}"#, false),
            ("rating_min=4.45", #"{"rating":4.4}"#, false), ("rating_min=4.45", #"{"rating":4.5}"#, true),
            ("rating_max=4.45", #"{"rating":4.4}"#, true), ("rating_max=4.45", #"{"rating":4.5}"#, false),
            ("rating_min=-4.45", #"{"rating":-4.4}"#, true), ("rating_min=-4.45", #"{"rating":-4.5}"#, false),
            ("rating_max=-4.45", #"{"rating":-4.4}"#, false), ("rating_max=-4.45", #"{"rating":-4.5}"#, true),
            // No number with one decimal is in this range.
            ("rating_min=4.41&rating_max=4.49", #"{"rating":4.4}"#, false),
            ("rating_min=4.41&rating_max=4.49", #"{"rating":4.5}"#, false),
            ("rating=4.5&rating=3", #"{"rating":4.50}"#, true), ("rating_max=4", #"{"rating":"4"}"#, false),
            ("organic=false", #"{"organic":false}"#, true), ("origin=a&origin=", #"{"origin":" a"}"#, true),
            ("origin=A", #"{"origin":"a"}"#, false), ("harvest_max=2026-03-01", #"{"harvest":"2026-03-01"}"#, true),
            ("allergens_any=n&allergens_any=m", #"{"allergens":["m"]}"#, true),
            ("allergens_any=", #"{"allergens":[]}"#, true),
            ("allergens_any=n", #"{"allergens":[]}"#, false),
            ("allergens_all=n&allergens_all=m", #"{"allergens":["m","g","n"]}"#, true),
            ("allergens_all=n&allergens_all=m", #"{"allergens":["m"]}"#, false),
            ("allergens_none=n", #"{"allergens":["m"]}"#, true),
            ("allergens_none=n&allergens_none=m", #"{"allergens":["m"]}"#, false),
            ("allergens_none=n", #"{"allergens":[]}"#, true),
            ("allergens_none=n", #"{"allergens":["x"]}"#, false),
            // 200 × 10,000 ÷ (20 × 300) is 1000 ÷ 3.
            ("protein_price_max=333.333333", #"{"protein":20}"#, false),
            ("protein_price_max=333.333334", #"{"protein":20}"#, true),
            ("protein_price_min=333.333333", #"{"protein":20}"#, true),
            ("protein_price_min=0", #"{"protein":0}"#, false),
            ("tags_all=x&tags_all=y", "{}", true), ("tags_all=x&tags_all=z", "{}", false), ("tags_none=z", "{}", true),
            ("tags_none=z&tags_none=x", "{}", false),
        ]
    )
    func matches(_ query: String, _ attributes: String, _ isLeft: Bool) throws {
        #expect(try Self.accepts(query, attributes, price: 200) == isLeft)
    }

    // MARK: - Plans

    @Test("A remembered or default sort by an unknown attribute is ignored and reported, and the next one applies")
    func ignoredSorts() throws {
        let (known, unknown) = (try Sort.parse("rating"), try Sort.parse("price,gone"))
        let gone = try Filter(query: "gone_min=1")
        func shown(_ plan: PagePlan) -> String {
            "\(plan.sort) \(plan.source) \(plan.resolvedSort.filter.query) \(plan.resolvedSort.ignored.map { "\($0)" } ?? "-")"
        }
        func plan(
            _ shelf: RememberedSort?,
            _ store: RememberedSort? = nil,
            _ filter: String = "",
            head: ShelfHead = Self.head()
        )
            throws -> PagePlan
        {
            try Self.plan(nil, filter, remembering: RememberedSorts(shelf: shelf, store: store), head: head)
        }
        #expect(try shown(plan(RememberedSort(known))) == "rating user  -")
        #expect(try shown(plan(RememberedSort(unknown))) == "-popularity system  user")
        #expect(try shown(plan(RememberedSort(unknown), RememberedSort(known))) == "rating user  user")
        #expect(try shown(plan(RememberedSort(known, gone))) == "-popularity system  user")
        // A filter in the request replaces the unknown one.
        #expect(try shown(plan(RememberedSort(known, gone), nil, "rating_min=4")) == "rating user rating_min=4 -")
        // Event streams ask for the same view.
        let sorts = RememberedSorts(shelf: RememberedSort(known, gone), store: RememberedSort(.position))
        let filter = try Filter(query: "rating_min=4")
        for (filter, allowsPositions, sort, isAnyIgnored) in [
            (filter, true, known, false), (nil, true, .position, true), (nil, false, nil, true),
        ] as [(Filter?, Bool, Sort?, Bool)] {
            let found = sorts.applying(to: filter, allowsPositions: allowsPositions, in: Self.attributes)
            #expect(found.own?.sort == sort && found.isAnyIgnored == isAnyIgnored)
        }
        #expect(try shown(plan(nil, head: Self.head(shelf: unknown, store: known))) == "rating store  shelf")
        #expect(try shown(plan(nil, head: Self.head(store: unknown))) == "-popularity system  store")
        #expect(
            try shown(plan(RememberedSort(unknown), head: Self.head(shelf: unknown, store: known)))
                == "rating store  user"
        )
        // The tag is another one, too.
        let (ignored, system) = (try plan(RememberedSort(unknown)), try plan(nil))
        #expect(ignored.entityTag(Self.head(), day: 1) != system.entityTag(Self.head(), day: 1))
    }

    @Test("Entity tags change with the definitions in use, and with no other")
    func tags() throws {
        let other = try Self.retyped("rating", .number(decimals: 2))
        func tag(_ sort: String?, _ filter: String = "", _ facets: String? = nil, _ attributes: ResolvedAttributes)
            throws -> String
        {
            try Self.plan(sort, filter, facets: facets, attributes: attributes).entityTag(Self.head(), day: 1)
        }
        for (sort, filter, facets) in [
            ("rating", "", nil), (nil, "rating_min=1", nil), (nil, "", "rating"), ("worth", "", nil),
        ]
            as [(String?, String, String?)]
        {
            #expect(try tag(sort, filter, facets, Self.attributes) != tag(sort, filter, facets, other))
        }
        for (sort, filter) in [("price", ""), ("grade", "origin=x"), ("protein_price", "organic=true")] {
            #expect(try tag(sort, filter, nil, Self.attributes) == tag(sort, filter, nil, other))
        }
    }

    @Test("A cursor of an attribute that was retyped or deleted is invalid, and other cursors stay valid")
    func cursors() throws {
        func cursor(_ sort: String, _ filter: String = "", _ values: [SortValue]) throws -> Cursor {
            try Self.plan(sort, filter).cursor(at: SKU("a")!, "N", values, isSoldOut: false)
        }
        let retyped = try Self.retyped("rating", .text)
        let (rating, grade) = (try cursor("-rating", "", [.integer(45)]), try cursor("grade", "", [.integer(1)]))
        let price = try cursor("price", "", [.integer(5)])
        let filtered = try cursor("price", "rating_min=4.0", [.integer(5)])
        #expect(price.attributes.isEmpty && !rating.attributes.isEmpty && rating.attributes != grade.attributes)
        for cursor in [rating, grade, price, filtered] {
            #expect(throws: Never.self) { try Self.plan(nil, after: cursor) }
        }
        #expect(try Self.plan("-attributes.rating", after: rating).sort == Self.plan("-rating").sort)
        #expect(try Self.plan(nil, "rating_min=4.00", after: filtered).resolvedSort.filter.query == "rating_min=4")
        #expect(Self.error { _ = try Self.plan("rating", after: rating) } == .invalidCursor)
        #expect(Self.error { _ = try Self.plan(nil, "rating_min=5", after: filtered) } == .invalidCursor)
        for attributes in [retyped, .none] {
            #expect(Self.error { _ = try Self.plan(nil, after: rating, attributes: attributes) } == .invalidCursor)
            #expect(Self.error { _ = try Self.plan(nil, after: filtered, attributes: attributes) } == .invalidCursor)
            #expect(throws: Never.self) { try Self.plan(nil, after: price, attributes: attributes) }
        }
        #expect(throws: Never.self) { try Self.plan(nil, after: grade, attributes: retyped) }
    }

    @Test("Equal definitions are equal, whatever their titles, units, search and other attributes")
    func definitions() throws {
        var definition = try #require(AttributeSet.sample[AttributeName("rating")!]?.definition)
        definition.unit = "stars"
        definition.title = .none
        definition.isSearchable.toggle()
        let other = ResolvedAttributes(AttributeSet(deployment: [.definition(definition)]))
        let name = AttributeName("rating")!
        #expect(other[name] == Self.attributes[name] && other[name]?.digest == Self.attributes[name]?.digest)
        definition.naturalDirection = .ascending
        let reversed = ResolvedAttributes(AttributeSet(deployment: [.definition(definition)]))
        #expect(reversed[name] != other[name] && reversed[name]?.digest != other[name]?.digest)
        let alike = try ["a", "b"].map { try AttributeDefinition(name: AttributeName($0)!, form: .text) }
        let named = ResolvedAttributes(AttributeSet(deployment: alike.map { .definition($0) }))
        #expect(Set(named.all.map(\.digest)).count == 2)
        // A ratio depends on its numbers.
        let (ratio, changed) = (AttributeName("worth")!, try Self.retyped("protein", .number(decimals: 1)))
        #expect(changed[ratio] != Self.attributes[ratio] && changed[ratio]?.digest != Self.attributes[ratio]?.digest)
        #expect(try Self.retyped("protein", .text)[ratio] == nil)
    }

    // MARK: - Remembered sorts

    @Test("A filter by attributes is only remembered with consent, which is part of the value")
    func consent() throws {
        let filter = try Filter(query: "in_stock=true&rating_min=4")
        let value = RememberedSort(.system, filter).value
        #expect(value[RememberedSort.consent] == .bool(true))
        #expect(try RememberedSort(value, field: "value").filter == filter)
        #expect(RememberedSort(.system, filter.withoutAttributes).value[RememberedSort.consent] == nil)
        #expect(filter.withoutAttributes.query == "in_stock=true")
        for consent in ["false", "null", "1"] {
            let text = #"{"sort":"price","filter":{"rating_min":"4"},"remember_attributes":\#(consent)}"#
            let value = try JSONReader.parse(Array(text.utf8))
            #expect(throws: CatalogError.self) { try RememberedSort(value, field: "value") }
        }
        let plain = try JSONReader.parse(Array(#"{"sort":"rating","filter":{"in_stock":true}}"#.utf8))
        #expect(try RememberedSort(plain, field: "value").namesAttributes)
        #expect(try RememberedSort(plain, field: "value").isKnown(in: Self.attributes))
        #expect(try !RememberedSort(plain, field: "value").isKnown(in: .none))
    }

    @Test("New sorts of shelves and stores are checked, and old ones are kept")
    func defaultSorts() throws {
        let rating = try Sort.parse("rating")
        var shelf = Shelf(key: Self.key, title: "X", defaultSort: rating, positionSource: rating)
        #expect(shelf.attributeSorts().map(\.field) == ["default_sort", "position_source"])
        #expect(shelf.attributeSorts(since: shelf).isEmpty)
        let old = shelf
        shelf.defaultSort = try Sort.parse("gone")
        #expect(shelf.attributeSorts(since: old).map(\.field) == ["default_sort"])
        #expect(throws: Never.self) { try Self.attributes.check(old.attributeSorts()) }
        let error = Self.error { try Self.attributes.check(shelf.attributeSorts(since: old)) }
        guard case .unknownSortKey(_, parameter: "default_sort")? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        shelf.defaultSort = .system
        #expect(shelf.attributeSorts(since: old).isEmpty)
    }

    // MARK: - Facets

    @Test("Ranges of numbers, dates and ratios have round limits and exact ends")
    func ranges() throws {
        func range(_ name: String, _ counts: [AttributeRange.Count]) throws -> AttributeRange {
            AttributeRange(counts, of: try #require(Self.attributes[AttributeName(name)!]))
        }
        func count(_ units: Int128, _ count: Int = 1, isRounded: Bool = false) -> AttributeRange.Count {
            .init(units, isRounded: isRounded, count)
        }
        #expect(try range("rating", []).min == nil && range("rating", []).buckets.isEmpty)
        let one = try range("rating", [count(45, 3)])
        #expect(one.min == "4.5" && one.max == "4.5" && one.buckets == [.init(count: 3)])
        let even = try range("rating", (-500...499).map { count(Int128($0)) })
        #expect(even.min == "-50" && even.max == "49.9")
        #expect(even.buckets.map(\.from) == [nil, "-30", "-10", "10", "30"])
        #expect(even.buckets.map(\.to) == ["-30.1", "-10.1", "9.9", "29.9", nil])
        let days = try range("harvest", (0..<3650).map { count(Int128($0)) })
        #expect(days.buckets.compactMap(\.from).allSatisfy { $0.hasSuffix("-01-01") } && days.buckets.count > 3)
        let months = try range("harvest", (0..<365).map { count(Int128($0)) })
        #expect(months.buckets.compactMap(\.from).allSatisfy { $0.hasSuffix("-01") } && months.buckets.count > 3)
        #expect(months.min == "1970-01-01" && months.max == "1970-12-31")
        // A value between a limit and the end of the bucket below would be in neither.
        let close = try range("worth", [count(999_999, 5, isRounded: true), count(1_000_000, 5)])
        #expect(close.min == "0.999999" && close.max == "1")
        #expect(close.buckets.reduce(0) { $0 + $1.count } == 10 && close.buckets.count == 1)
        let apart = try range("worth", [count(500_000, 5), count(1_000_000, 5)])
        #expect(apart.buckets.map(\.from) == [nil, "1"] && apart.buckets.map(\.to) == ["0.999999", nil])
        #expect(try range("worth", [count(-AttributeFraction.unitsLimit), count(1)]).min == nil)
    }

    @Test("The units of a ratio are rounded down or up, exactly")
    func units() throws {
        let value = try #require(Self.attributes[AttributeName("worth")!])
        func units(_ numerator: Int128, _ denominator: Int128) throws -> [Int128] {
            let fraction = try #require(AttributeFraction(numerator, over: denominator))
            return [false, true].map { value.units(of: fraction, roundedUp: $0) }
        }
        // A rating has one decimal, and protein two: 1 ÷ 3 is 0.1 ÷ 0.03.
        #expect(try units(1, 3) == [3_333_333, 3_333_334])
        #expect(try units(-1, 3) == [-3_333_334, -3_333_333])
        #expect(try units(1, 10) == [1_000_000, 1_000_000] && units(0, 5) == [0, 0])
        #expect(try units(1, -4) == [-2_500_000, -2_500_000])
        let price = try #require(Self.attributes[AttributeName("protein_price")!])
        let huge = try #require(AttributeFraction(999_999_999_999, over: 1))
        #expect(price.units(of: huge, roundedUp: false) == AttributeFraction.unitsLimit)
    }
}
