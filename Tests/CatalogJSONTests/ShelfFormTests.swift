import Catalog
import JSON
import Testing

@testable import CatalogJSON

/// The complete forms of pages, orders, diffs and facets.
@Suite("Forms of shelves") struct ShelfFormTests {
    private static let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)
    private static let head = ShelfHead(
        store: store,
        storeVersion: 3,
        state: ShelfState(
            shelf: Shelf(key: CatalogKey("tea")!, title: "Tea"),
            productCount: 2,
            comparisonDimension: .mass,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 42,
            orderVersion: 7
        )
    )
    private static let union = ShelfUnion(digest: "d", dimension: .mass)

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func product(_ sku: String, _ price: Int64? = nil) -> Product {
        Product(sku: SKU(sku)!, name: sku.uppercased(), priceMinor: price, popularity: Popularity(log2: 126))
    }

    private static func shown(_ sku: String, _ card: GroupCard? = nil) -> ShownProduct {
        ShownProduct(product(sku), card: card)
    }

    private func written(_ product: Product, _ card: GroupCard? = nil, day: Int = 20_000) -> String {
        text(
            JSONWriter.document { ProductPresentation(store: Self.store, day: day).write(product, card: card, to: &$0) }
        )
    }

    // MARK: - Pages and orders

    @Test("A page has its products, its sort, filter and facets, its version and day, and its limit, cursor and total")
    func page() throws {
        let products = [Self.product("a"), Self.product("b")]
        func json(_ request: PageRequest, _ union: ShelfUnion? = nil, facets: Facets? = nil, next: String?) throws
            -> String
        {
            let basis = PageBasis(head: Self.head, union: union)
            var items = RenderedProducts(Self.store, day: 20_000, ProductFragments(limit: 1 << 20))
            for product in products { items.add(product) }
            var page = PageOf(try PlannedPage(request, basis), items, next: nil, of: 9)
            page.facets = facets
            return text(page.json(day: 20_000, nextCursor: next))
        }
        let list = products.map { written($0) }.joined(separator: ",")
        let request = PageRequest(store: Self.store.key, shelf: CatalogKey("tea")!, limit: 5)
        #expect(
            try json(request, next: "c") == """
                {"products":[\(list)],"sort":{"keys":"-popularity","source":"system"},"filter":null,"version":42,\
                "as_of":"2024-10-04","page":{"limit":5,"next_cursor":"c"}}
                """
        )
        var rich = request
        rich.sort = try Sort.parse("price")
        rich.filter = try Filter(query: "in_stock=true")
        rich.wantsTotal = true
        var facets = Facets(counted: [.inStock])
        facets.total = 4
        #expect(
            try json(rich, Self.union, facets: facets, next: nil) == """
                {"products":[\(list)],"sort":{"keys":"price","source":"query"},\
                "filter":{"terms":{"in_stock":true},"source":"query"},\
                "facets":{"total":4,"in_stock":{"values":[{"value":true,"count":0,"selected":true},\
                {"value":false,"count":0,"selected":false}]}},\
                "as_of":"2024-10-04","page":{"limit":5,"next_cursor":null,"total":9}}
                """
        )
    }

    private static func order(
        _ ids: [String],
        _ sort: String = "price",
        _ filter: Filter = .none,
        of union: ShelfUnion? = nil
    ) throws -> ShelfOrder {
        let resolved = ResolvedSort(sort: try Sort.parse(sort), source: .query, filter: filter)
        return ShelfOrder(head: head, union: union, resolvedSort: resolved, list: OrderedIDs(ids))
    }

    @Test("An order has its sort, filter and ids, and the versions of a single shelf")
    func orders() throws {
        #expect(
            text(try Self.order(["b", "a"]).json)
                == #"{"sort":"price","source":"query","filter":null,"version":42,"order_version":7,"ids":["b","a"]}"#
        )
        let filter = try Filter(query: "in_stock=false")
        #expect(
            text(try Self.order([], "-name", filter, of: Self.union).json)
                == #"{"sort":"-name","source":"query","filter":{"terms":{"in_stock":false},"source":"query"},"ids":[]}"#
        )
    }

    // MARK: - Groups

    @Test("A page with collapsed groups is marked, and its products have the numbers of members and the members")
    func groupedPage() throws {
        let products = [Self.product("a"), Self.product("b")]
        var request = PageRequest(store: Self.store.key, shelf: CatalogKey("tea")!, limit: 5)
        (request.collapsesGroups, request.wantsMembers) = (true, true)
        var items = RenderedProducts(Self.store, day: 20_000, ProductFragments(limit: 1 << 20))
        for product in products { items.add(product) }
        var page = PageOf(try PlannedPage(request, PageBasis(head: Self.head)), items, next: nil, of: 9)
        page.cards = [GroupCard(matching: 2, total: 3), GroupCard(matching: 1, total: 1)]
        page.members = [[0, 1], [1]].map { rows in
            var members = RenderedProducts(Self.store, day: 20_000, ProductFragments(limit: 1 << 20))
            for row in rows { members.add(products[row]) }
            return members
        }
        func own(_ product: Product) -> String { String(written(product).dropLast()) }
        let members = products.map { written($0) }.joined(separator: ",")
        #expect(
            text(page.json(day: 20_000, nextCursor: nil)) == """
                {"products":[\(own(products[0])),"members_matching":2,"members_total":3,"members":[\(members)]},\
                \(own(products[1])),"members_matching":1,"members_total":1,"members":[\(written(products[1]))]}],\
                "sort":{"keys":"-popularity","source":"system"},"collapse":true,"filter":null,"version":42,\
                "as_of":"2024-10-04","page":{"limit":5,"next_cursor":null}}
                """
        )
        #expect(written(products[0], page.cards[1]) == own(products[0]) + #","members_matching":1,"members_total":1}"#)
        // Fragments have nothing of groups.
        var others = RenderedProducts(Self.store, day: 20_000, ProductFragments(limit: 1 << 20))
        for product in products { others.add(product) }
        #expect(others.bytes(with: []) == items.bytes(with: []))
    }

    @Test("Orders and diffs with collapsed groups are marked, and a changed group has its new product")
    func groupedOrders() throws {
        let resolved = ResolvedSort(sort: try Sort.parse("price"), source: .query, collapsesGroups: true)
        var tea = Self.product("a")
        tea.group = "tea"
        let target = ShelfOrder(head: Self.head, resolvedSort: resolved, ids: ["group/tea", "b"])
        #expect(
            text(target.json) == """
                {"sort":"price","source":"query","collapse":true,"filter":null,"version":42,"order_version":7,\
                "ids":["group/tea","b"]}
                """
        )
        let shown = [
            ShownProduct(tea, card: GroupCard(matching: 1, total: 2)),
            Self.shown("b", GroupCard(matching: 1, total: 1)),
        ]
        let diff = try OrderDiff(old: ["group/tea"], new: ["group/tea", "b"], mode: .moves, targetOrder: target)
            .with(shown, changed: [0])
        #expect(
            text(diff.json(day: 20_000)) == """
                {"from_version":null,"to_version":42,"to_sort":"price","collapse":true,"old_count":1,"new_count":2,"mode":"moves",\
                "deletes":[],"inserts":[{"id":"b","to":1,"after":"group/tea",\
                "product":\(written(shown[1].product, shown[1].card))}],"moves":[],\
                "changed":[{"id":"group/tea","at":0,"product":\(written(tea, shown[0].card))}]}
                """
        )
    }

    @Test("A placed product has its shelves and the day of its score")
    func placedProduct() {
        let count = PopularityCount(metric: .last7Days, halfLifeDays: 14, newcomerBoost: 0, day: 20_000)
        let store = Store(
            key: Self.store.key,
            title: "Shop",
            currency: Currency("EUR")!,
            popularityMetric: .last7Days,
            counted: count
        )
        var product = Self.product("a")
        product.popularity = Popularity(log2: 3)
        let placed = PlacedProduct(store: store, product: product, shelves: [CatalogKey("tea")!, CatalogKey("all")!])
        #expect(
            text(placed.json).contains(
                #""popularity":8.0,"in_stock":true,"tags":[],"as_of":"2024-10-04","shelves":["tea","all"],"created_at""#
            )
        )
    }

    @Test(
        "A score is rounded to six digits, and to 0 below a millionth",
        arguments: [
            (-20, 0), (-19, 2e-06), (-3, 0.125), (0, 1), (10, 1024), (19, 524_288), (20, 1_048_580), (21, 2_097_150),
            (33, 8_589_930_000), (-Double.infinity, 0),
        ] as [(Double, Double)]
    )
    func scores(_ log2: Double, _ shown: Double) {
        let count = PopularityCount(metric: .all, halfLifeDays: 14, newcomerBoost: 0)
        let store = Store(key: Self.store.key, title: "", currency: Currency("EUR")!, counted: count)
        #expect(ProductPresentation(store: store, day: 20_000).score(Popularity(log2: log2)) == shown)
    }

    // MARK: - Diffs

    private static let (old, new) = (["a", "b", "c", "d", "e"], ["c", "x", "b", "e", "a"])

    @Test("A diff has the sorts and the filter of its orders, and the products that enter")
    func diff() throws {
        let filter = try Filter(query: "in_stock=true")
        let target = try Self.order(["c", "x", "d"], "price", filter)
        let diff = try OrderDiff(
            old: ["a", "c", "d"],
            new: ["c", "x", "d"],
            mode: .moves,
            targetOrder: target,
            fromSort: try Sort.parse("name")
        ).with([Self.shown("x")], changed: [2])
        let begin = """
            {"from_version":42,"to_version":42,"from_sort":"name","to_sort":"price",\
            "filter":{"terms":{"in_stock":true},"source":"query"},"old_count":3,"new_count":3,
            """
        for day in [20_000, 20_007] {
            #expect(
                text(diff.json(day: day)) == """
                    \(begin)"mode":"moves","deletes":[{"id":"a","from":0}],\
                    "inserts":[{"id":"x","to":1,"after":"c","product":\(written(Self.product("x"), day: day))}],\
                    "moves":[],"changed":[{"id":"d","at":2}]}
                    """
            )
        }
        let whole = try OrderDiff(old: ["a"], new: ["x", "c"], mode: .order, targetOrder: try Self.order(["x", "c"]))
        let start = """
            {"from_version":null,"to_version":42,"to_sort":"price","old_count":1,"new_count":2,"mode":"order","ids":["x","c"]
            """
        #expect(text(whole.json(day: 20_000)) == start + "}")
        #expect(
            text(whole.with([Self.shown("c")], changed: []).json(day: 20_000))
                == start + #","products":[\#(written(Self.product("c")))]}"#
        )
        // Without a shelf, there is no store to show products of.
        let plain = try OrderDiff(old: [], new: ["x"], mode: .moves).with([Self.shown("x")], changed: [])
        #expect(text(plain.json()).contains(#""inserts":[{"id":"x","to":0,"after":null}]"#))
        let lists = try OrderDiff(old: [], new: ["x"], mode: .order).with([Self.shown("x")], changed: [])
        #expect(text(lists.json()).hasSuffix(#""mode":"order","ids":["x"]}"#))
    }

    @Test("A diff of a window has the cursor of the next page, or null at the end of the order")
    func nextCursor() throws {
        let codec = CursorCodec { _ in [UInt8](repeating: 7, count: 16) }
        let cursor = Cursor(scope: "s", sort: "price", source: .query, id: "a")
        let resolved = ResolvedSort(sort: try Sort.parse("price"), source: .query)
        let begin = #"{"from_version":null,"to_version":42,"to_sort":"price","old_count":1,"new_count":1,"mode":"#
        let (moves, order) = (#""deletes":[],"inserts":[],"moves":[],"changed":[]}"#, #""ids":["a"]}"#)
        for (mode, content) in [(DiffMode.moves, moves), (.order, order)] {
            func json(_ next: Cursor?, limit: Int?, _ codec: CursorCodec?) throws -> String {
                let request = DiffRequest(
                    store: Self.store.key,
                    shelf: CatalogKey("tea")!,
                    from: .list(["a"]),
                    limit: limit,
                    mode: mode
                )
                let list = OrderedIDs(["a"], next: next)
                let diff = try OrderDiff(request, [ShelfOrder(head: Self.head, resolvedSort: resolved, list: list)])
                return text(diff.json(day: 20_000, cursors: codec))
            }
            let start = "\(begin)\"\(mode.rawValue)\","
            let encoded = codec.encode(cursor)
            #expect(try json(cursor, limit: 1, codec) == start + #""next_cursor":"\#(encoded)","# + content)
            #expect(try json(nil, limit: 1, codec) == start + #""next_cursor":null,"# + content)
            #expect(try json(nil, limit: nil, codec) == start + content)
            #expect(try json(cursor, limit: 1, nil) == start + content)
        }
    }

    @Test("The steps of a JSON Patch lead from one list to the other", arguments: [DiffMode.moves, .order])
    func patch(_ mode: DiffMode) throws {
        let diff = try OrderDiff(old: Self.old, new: Self.new, mode: mode)
        let steps = try JSONReader.parse(diff.jsonPatch())
        guard case .array(let operations) = steps else {
            Issue.record("\(steps)")
            return
        }
        var list = Self.old
        var kinds: Set<String> = []
        for operation in operations {
            func place(_ name: String) throws -> Int {
                guard case .string(let path)? = operation[name] else { throw CatalogError.invalidCursor }
                #expect(path.hasPrefix("/"))
                return try #require(Int(path.dropFirst()))
            }
            guard case .string(let kind)? = operation["op"] else { throw CatalogError.invalidCursor }
            kinds.insert(kind)
            switch kind {
            case "remove": list.remove(at: try place("path"))
            case "add":
                guard case .string(let id)? = operation["value"] else { throw CatalogError.invalidCursor }
                list.insert(id, at: try place("path"))
            case "move": list.insert(list.remove(at: try place("from")), at: try place("path"))
            default:
                #expect(operation["path"] == .string(""))
                guard case .array(let ids)? = operation["value"] else { throw CatalogError.invalidCursor }
                list = ids.map { if case .string(let id) = $0 { id } else { "" } }
            }
        }
        #expect(list == Self.new)
        #expect(kinds == (mode == .order ? ["replace"] : ["remove", "add", "move"]))
    }

    // MARK: - Entity tags

    private static func request(
        from: String? = "name",
        to: String? = "price",
        limit: Int? = nil,
        mode: DiffMode = .moves
    ) throws -> DiffRequest {
        DiffRequest(
            store: store.key,
            shelf: CatalogKey("tea")!,
            from: .sort(RequestedSort(sort: try from.map { try Sort.parse($0) })),
            to: RequestedSort(sort: try to.map { try Sort.parse($0) }),
            limit: limit,
            mode: mode
        )
    }

    @Test("The tag of a diff changes with everything that the response depends on")
    func tags() throws {
        let basis = PageBasis(head: Self.head)
        let request = try Self.request()
        let limited = try Self.request(limit: 5)
        func tag(_ request: DiffRequest, _ basis: PageBasis, _ mediaType: String = "json", day: Int = 1) throws
            -> String
        {
            try #require(request.entityTag(basis, mediaType: mediaType, day: day))
        }
        var newer = Self.head
        newer.storeVersion = 4
        var changed = Self.head
        changed.state.version = 43
        var filtered = request
        filtered.to.filter = try Filter(query: "in_stock=true")
        let remembered = RememberedSorts(shelf: RememberedSort(.position))
        let own = try Self.request(to: nil)
        let tags = [
            try tag(request, basis), try tag(try Self.request(from: "price", to: "name"), basis),
            try tag(try Self.request(to: "-price"), basis), try tag(try Self.request(from: "-name"), basis),
            try tag(limited, basis), try tag(limited, basis, day: 2), try tag(try Self.request(limit: 6), basis),
            try tag(try Self.request(mode: .auto), basis), try tag(request, basis, "patch"),
            try tag(request, PageBasis(head: Self.head, union: Self.union)), try tag(filtered, basis),
            try tag(request, PageBasis(head: newer)), try tag(request, PageBasis(head: changed)),
            try tag(own, basis), try tag(own, PageBasis(head: Self.head, sorts: remembered)),
        ]
        #expect(Set(tags).count == tags.count)
        #expect(tags[0].hasPrefix("\"diff-3-42-") && tags[0].hasSuffix("\""))
        // Without a window, the response has no products, and the day does not matter.
        #expect(try tag(request, basis, day: 2) == tags[0])
        let digit = try #require(tags[0].split(separator: "-").last?.dropLast())
        #expect(UInt64(digit, radix: 36) != nil)
        let (tea, old) = (CatalogKey("tea")!, RememberedSorts.none)
        let transition = DiffRequest(store: Self.store.key, shelf: tea, from: old, to: remembered, limit: 5)
        #expect(transition.entityTag(basis, mediaType: "json") == nil)
        #expect(
            DiffRequest(store: Self.store.key, shelf: CatalogKey("tea")!, from: .list([])).entityTag(
                basis,
                mediaType: ""
            )
                == nil
        )
    }

    @Test("A computed diff has the tag of its request, also if a remembered manual order does not apply to a union")
    func tagsOfComputedDiffs() throws {
        for union in [nil, Self.union] {
            let request = try Self.request(from: nil, to: "price", limit: 3)
            let remembered = RememberedSorts(
                shelf: RememberedSort(.position),
                store: RememberedSort(try Sort.parse("name"))
            )
            let basis = PageBasis(head: Self.head, sorts: remembered, union: union)
            let start = ResolvedSort(
                sort: union == nil ? .position : try Sort.parse("name"),
                source: .user,
                filterSource: .user
            )
            let orders = [
                try Self.order(["a"], of: union),
                ShelfOrder(head: Self.head, union: union, resolvedSort: start, list: OrderedIDs(["a"])),
            ]
            let diff = try OrderDiff(request, orders)
            let tag = try #require(request.entityTag(basis, mediaType: "json", day: 5))
            #expect(request.entityTag(diff, mediaType: "json", day: 5) == tag)
            #expect(request.entityTag(diff, mediaType: "json", day: 6) != tag)
        }
        let lists = try OrderDiff(old: ["a"], new: ["b"], mode: .moves)
        #expect(try Self.request().entityTag(lists, mediaType: "json") == nil)
    }

    // MARK: - Facets

    private func facets(_ facets: Facets, _ query: String = "") throws -> JSONValue {
        let filter: Filter = query.isEmpty ? .none : try Filter(query: query)
        let bytes = JSONWriter.object { facets.write(to: &$0, filter, Currency("EUR")!) }
        return try #require(try JSONReader.parse(bytes)["facets"])
    }

    @Test("Facets have the values that were counted, and those of the filter are selected")
    func countedFacets() throws {
        var counts = Facets(counted: Set(Facet.allCases))
        counts.total = 9
        counts.brands = [.init("Alma", 3), .init("", 2)]
        counts.tags = [.init("bio", 1)]
        (counts.inStock, counts.soldOut) = (6, 3)
        counts.prices = [PriceCount(99, 2), PriceCount(1250, 1)]
        counts.unpriced = 4
        #expect(counts.buckets.count > 1)
        let buckets = counts.buckets.map { bucket in
            func price(_ minor: Int64?) -> String {
                minor.map { "\"\($0 / 100).\($0 % 100 < 10 ? "0" : "")\($0 % 100)\"" } ?? "null"
            }
            return #"{"price_min":\#(price(bucket.from)),"price_max":\#(price(bucket.to)),"count":\#(bucket.count)}"#
        }
        #expect(
            try facets(counts, "brand=&brand=Zott&in_stock=false").text == """
                {"total":9,"brand":{"values":[{"value":"Alma","count":3,"selected":false},\
                {"value":"","count":2,"selected":true},{"value":"Zott","count":0,"selected":true}],"more":0},\
                "tag":{"values":[{"value":"bio","count":1,"selected":false}],"more":0},\
                "in_stock":{"values":[{"value":true,"count":6,"selected":false},\
                {"value":false,"count":3,"selected":true}]},\
                "price":{"min":"0.99","max":"12.50","buckets":[\(buckets.joined(separator: ","))],"unpriced":4}}
                """
        )
        #expect(try facets(Facets(counted: [])).text == #"{"total":0}"#)
        let none = try facets(Facets(counted: [.price]))
        #expect(none["price"]?.text == #"{"min":null,"max":null,"buckets":[],"unpriced":0}"#)
    }

    @Test("A facet has its first hundred values, those of the filter, and the number of others")
    func manyValues() throws {
        var counts = Facets(counted: [.tag])
        counts.tags = (0..<103).map { .init("t\($0)", 200 - $0) }
        func values(_ query: String) throws -> (names: [String], selected: [String], more: JSONValue?) {
            let tag = try #require(try facets(counts, query)["tag"])
            guard case .array(let values)? = tag["values"] else { throw CatalogError.invalidCursor }
            func names(_ values: [JSONValue]) -> [String] {
                values.compactMap { if case .string(let name)? = $0["value"] { name } else { nil } }
            }
            return (names(values), names(values.filter { $0["selected"] == .bool(true) }), tag["more"])
        }
        let first = (0..<100).map { "t\($0)" }
        let all = try values("")
        #expect(all.names == first && all.selected.isEmpty && all.more == .number("3"))
        let some = try values("tag=t101&tag=t5&tag=other")
        #expect(some.names == first + ["t101", "other"])
        #expect(Set(some.selected) == ["t5", "t101", "other"])
        #expect(some.more == .number("2"))
    }

    @Test("An option of a filter has the name, title, form and selected values")
    func filterOptions() {
        let option = FilterOption(key: .brand, title: "Brand", selected: .array([.string("a")]))
        #expect(
            String(decoding: JSONWriter.document { option.write(to: &$0) }, as: UTF8.self)
                == #"{"filter":"brand","title":"Brand","type":"text","repeatable":true,"selected":["a"]}"#
        )
    }
}
