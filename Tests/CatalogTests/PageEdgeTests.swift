import Ordering
import Testing

@testable import Catalog

/// Pages, filters, orders and their diffs at the edges of each rule.
@Suite(.timeLimit(.minutes(15))) struct PageEdgeTests {
    private static let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
    private static let euro = Currency("EUR")!
    private static let (price, name) = (Sort(.price, .ascending)!, Sort(.name, .ascending)!)

    private func head(
        default sort: Sort? = nil,
        inherited: Sort? = nil,
        store storeSort: Sort? = nil,
        includesDescendants: Bool = false,
        soldOut: SoldOut? = nil
    ) -> ShelfHead {
        var store = Store(key: Self.store, title: "S", currency: Self.euro)
        store.defaultSort = storeSort
        let shelf = Shelf(
            key: Self.shelf,
            title: "X",
            defaultSort: sort,
            soldOut: soldOut,
            includesDescendants: includesDescendants
        )
        let state = ShelfState(
            shelf: shelf,
            productCount: 0,
            comparisonDimension: .volume,
            inheritedSort: inherited,
            modifiedAt: Timestamp(microseconds: 0),
            version: 7,
            orderVersion: 1,
            keyGeneration: 3
        )
        return ShelfHead(store: store, storeVersion: 2, state: state)
    }

    private func request(
        _ sort: Sort? = nil,
        shelf: CatalogKey? = Self.shelf,
        includes: Bool? = nil,
        after: Cursor? = nil
    ) -> PageRequest {
        var request = PageRequest(store: Self.store, shelf: shelf, sort: sort, after: after)
        request.includesDescendants = includes
        return request
    }

    private func cursor(_ scope: String, sort: String = "price") -> Cursor {
        Cursor(scope: scope, sort: sort, source: .query, values: [.integer(1)], id: "a")
    }

    // MARK: - Pages

    @Test("A page shows descendants if the request, its cursor or the shelf asks for them, except in manual order")
    func descendants() {
        let (own, all) = (head(), head(includesDescendants: true))
        #expect(!request().showsUnion(of: own) && request().showsUnion(of: all))
        #expect(
            request(includes: true).showsUnion(of: own) && !request(includes: false).showsUnion(of: all)
        )
        #expect(
            request(shelf: nil).showsUnion(of: own)
                && request(shelf: nil, includes: false).showsUnion(of: own)
        )
        #expect(!request(.position).showsUnion(of: all) && request(Self.price).showsUnion(of: all))
        let (one, union) = (cursor("products/s/x en"), cursor("products/s/x/descendants en"))
        #expect(!request(after: one).showsUnion(of: all) && request(after: union).showsUnion(of: own))
        #expect(!request(includes: false, after: union).showsUnion(of: own))
        #expect(request().scope(in: own.store, isUnion: false) == "products/s/x en")
        #expect(request(shelf: nil).scope(in: own.store, isUnion: true) == "products/s/*/descendants en")
        #expect(request().address == ShelfAddress(Self.store, Self.shelf) && request(shelf: nil).address == nil)
        #expect(PageRequest.isCursor(cursor("products/s/* en"), ofAllShelvesIn: Self.store))
        #expect(!PageRequest.isCursor(cursor("products/s/x en"), ofAllShelvesIn: Self.store))
    }

    private func isRefused(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch { return true }
    }

    @Test("Limits, cursors and manual orders of several shelves are checked")
    func checks() {
        for (limit, isRefused) in [(0, true), (1, false), (100, false), (101, true)] {
            var own = request()
            own.limit = limit
            #expect(self.isRefused { try own.check() } == isRefused, "\(limit)")
        }
        #expect(!isRefused { try request(after: cursor("products/s/x/more")).check() })
        #expect(isRefused { try request(after: cursor("products/s/y")).check() })
        #expect(
            isRefused { try request(.position, includes: true).check() }
                && isRefused { try request(.position, shelf: nil).check() }
        )
        #expect(
            !isRefused { try request(.position).check() }
                && !isRefused { try request(Self.price, includes: true).check() }
        )
        let union = ShelfUnion(digest: "d", dimension: .dose)
        #expect(isRefused { _ = try request(after: cursor("products/s/x en")).plan(for: head(), of: union) })
        #expect(
            isRefused {
                _ = try request(after: cursor("products/s/x/descendants en", sort: "position")).plan(
                    for: head(),
                    of: union
                )
            }
        )
        #expect(isRefused { _ = try request(after: cursor("products/s/x/descendants en")).plan(for: head()) })
        #expect(
            !isRefused { _ = try request(after: cursor("products/s/x/descendants en")).plan(for: head(), of: union) }
        )
    }

    @Test("The manual order of a shelf is skipped where several shelves are shown")
    func manualOrders() throws {
        let union = ShelfUnion(digest: "d", dimension: .dose)
        let views = RememberedSorts(shelf: RememberedSort(.position), store: RememberedSort(Self.name))
        var plan = try request().plan(for: head(), remembering: views, of: union)
        #expect(plan.sort == Self.name && plan.source == .user && plan.dimension == .dose && plan.union == union)
        plan = try request().plan(for: head(), remembering: views)
        #expect(plan.sort == .position && plan.dimension == .volume && plan.union == nil)
        plan = try request().plan(for: head(default: .position, inherited: Self.price), of: union)
        #expect(plan.sort == Self.price && plan.source == .shelf)
        plan = try request().plan(for: head(default: .position, inherited: .position, store: Self.name), of: union)
        #expect(plan.sort == Self.name && plan.source == .store)
        plan = try request().plan(for: head(default: .position, store: .position), of: union)
        #expect(plan.sort == .system && plan.source == .system)
        #expect(try request().plan(for: head(soldOut: .mixed)).sortsSoldOutLast == false)
        #expect(try request().plan(for: head()).sortsSoldOutLast)
    }

    @Test("Entity tags are equal if all that a page depends on is, and each part counts")
    func entityTags() throws {
        func tag(_ request: PageRequest, _ head: ShelfHead, _ union: ShelfUnion? = nil, day: Int = 1) throws -> String {
            try request.plan(for: head, of: union).entityTag(head, day: day)
        }
        #expect(try tag(request(), head()) == tag(request(), head()))
        var tags = [
            try tag(request(), head()), try tag(request(Self.price), head()), try tag(request(), head(), day: 2),
        ]
        for digest in ["d", "e"] {
            tags.append(try tag(request(), head(), ShelfUnion(digest: digest, dimension: .volume)))
        }
        for change in [{ $0.limit = 5 }, { $0.facets = [.brand] }, { $0.wantsTotal = true }]
            as [(inout PageRequest) -> Void]
        {
            var own = request()
            change(&own)
            tags.append(try tag(own, head()))
        }
        // The version of the store covers its currency and its rule for sold-out products.
        for change in [
            { $0.state.version += 1 }, { $0.storeVersion += 1 }, { $0.state.comparisonDimension = .mass },
        ] as [(inout ShelfHead) -> Void] {
            var own = head()
            change(&own)
            tags.append(try tag(request(), own))
        }
        #expect(Set(tags).count == tags.count)
        #expect(try tag(request(), head(), day: 9).hasPrefix("\"2-7-9-"))
    }

    @Test("The cursor of a plan has its scope, sort and dimension, and the values of the product")
    func planCursor() throws {
        let plan = try request().plan(for: head())
        let next = plan.cursor(at: SKU("k")!, "N", [.integer(4)], isSoldOut: true)
        #expect(
            next.scope == "products/s/x en" && next.sort == "-popularity" && next.source == .system && next.id == "k"
        )
        #expect(
            next.name == "N" && next.values == [.integer(4)] && next.isSoldOut && next.dimension == .volume
                && next.keyGeneration == 3
        )
    }

    @Test("A page basis is equal if its shelf, views, revision and shelves are")
    func pageBases() throws {
        let union = ShelfUnion(digest: "d", dimension: .mass)
        #expect(PageBasis(head: head(), revision: 1) == PageBasis(head: head(), revision: 1))
        #expect(PageBasis(head: head(), revision: 1) != PageBasis(head: head(), revision: 2))
        #expect(PageBasis(head: head()) != PageBasis(head: head(), union: union))
        #expect(PageBasis(head: head()) != PageBasis(head: head(default: Self.price)))
        #expect(
            PageBasis(head: head())
                != PageBasis(head: head(), sorts: RememberedSorts(store: RememberedSort(Self.price)))
        )
        let all = ShelfHead(allShelvesOf: head().store, version: 8)
        #expect(
            try all.storeVersion == 8 && all.state.version == 0 && all.state.shelf.key == Self.store
                && all.resolve().source == .system
        )
        #expect(ShelfVersion(head()) == ShelfVersion(store: 2, shelf: 7))
        var changed = head()
        changed.synonymRevision = 1
        #expect(ShelfVersion(changed) == ShelfVersion(store: 2, shelf: 7, synonyms: 1))
    }

    // MARK: - Sorts, filters and facets

    @Test("A sort is parsed, or the error names the word and a close key")
    func sorts() throws {
        func fault(_ text: String) -> String? {
            do throws(SortError) {
                _ = try Sort.parse(text)
                return nil
            } catch { return "\(error.detail) (\(error.hint ?? ""))" }
        }
        #expect(
            fault("") == "empty sort key ()" && fault("price,") == "empty sort key ()"
                && fault("-") == "empty sort key: “-” ()"
        )
        #expect(
            fault("Price") == "unknown sort key: “Price” (price)"
                && fault("-namE") == "unknown sort key: “-namE” (name)"
        )
        #expect(fault("price,-price") == "duplicate sort key: “-price” ()")
        #expect(fault("-position") == "the manual order cannot be reversed: “-position” (position)")
        #expect(fault("name,-position") != nil && fault("name,position") == nil)
        #expect(
            fault(String(repeating: "x", count: 70)) == "unknown sort key: “\(String(repeating: "x", count: 64))” ()"
        )
        #expect(Sort(.position, .descending) == nil && Sort(.price, .descending)?.description == "-price")
        #expect(fault("relevance") == "the relevance exists only in a request with a search (q): “relevance” ()")
        #expect(Sort.allSingle.count == 17 && Sort.allowed.count == 17 && !Sort.allowed.contains("-position"))
        for (text, isAscending) in [
            ("price", true), ("-price", false), ("-popularity", true), ("popularity", false), ("created,price", false),
        ] {
            let direction = try Sort.parse(text).tieBreakerDirection
            #expect((direction == .ascending) == isAscending, "\(text)")
        }
        #expect(try Sort.parse("name,position").readsPositions && !Sort.parse("name").readsPositions)
        #expect(
            try !Sort.parse("position,name").respectsAvailability && Sort.parse("name,position").respectsAvailability
        )
        let natural: [SortKey: SortDirection] = [
            .price: .ascending, .unitPrice: .ascending, .popularity: .descending, .brand: .ascending, .name: .ascending,
            .created: .descending, .modified: .descending, .tags: .descending, .position: .ascending,
        ]
        for key in SortKey.allCases { #expect(key.naturalDirection == natural[key]) }
    }

    @Test("Each sort key has its value of a product")
    func sortValues() throws {
        var product = Product(sku: SKU("a")!, name: "N", brand: "B", priceMinor: 5, tags: ["x", "y"])
        product.createdAt = Timestamp(microseconds: 6)
        product.modifiedAt = Timestamp(microseconds: 7)
        product.popularity = Popularity(log2: 2)
        product.size = try Size(amount: ExactDecimal(1), unit: .ml)
        let listing = Listing(product: product, position: [1, 2], isSoldOut: false)
        let values: [SortKey: SortValue] = [
            .price: .integer(5), .unitPrice: .unitPrice(.volume, digits: "5." + String(repeating: "0", count: 33)),
            .popularity: .real(2), .brand: .text("B"), .name: .text("N"), .created: .integer(6), .modified: .integer(7),
            .tags: .integer(2), .position: .bytes([1, 2]),
        ]
        for key in SortKey.allCases { #expect(key.value(of: listing) == values[key], "\(key)") }
        let bare = Listing(product: Product(sku: SKU("a")!, name: "N"), position: [], isSoldOut: false)
        for key in [SortKey.price, .unitPrice, .brand] { #expect(key.value(of: bare) == .missing) }
    }

    @Test("An amount per quantity has a price, a unit, and a quantity above 0")
    func amounts() throws {
        for (text, expected) in [
            ("1.20/100g", "1.2/100g"), ("12/kg", "12/kg"), (" 0.5 / piece ", "0.5/piece"), ("12/1kg", "12/kg"),
            ("0/kg", "0/kg"),
            ("1/0.5 l", "1/0.5l"), ("1/100 Gramm", "1/100g"), ("999999999999/kg", "999999999999/kg"),
            ("999999999.999999/kg", "999999999.999999/kg"), ("9999999999.999999/kg", nil), ("1000000000000/kg", nil),
            ("1/123456789012g", "1/123456789012g"), ("1/1234567890123g", nil), ("1/0g", nil), ("1/0.0g", nil),
            ("1/.5g", nil),
            ("1", nil), ("1/", nil), ("/kg", nil), ("-1/kg", nil), ("1/1/kg", nil), ("1/xg", nil),
            ("1.1234567/kg", nil),
        ] as [(String, String?)] {
            #expect(AmountPerQuantity(text)?.text == expected, "\(text)")
        }
        let limit = try #require(AmountPerQuantity("1.20/100g"))
        #expect(limit.baseQuantity == ExactDecimal(100))
        #expect(limit.covers(330, per: ExactDecimal(275), of: .mass, in: Self.euro))
        #expect(!limit.covers(331, per: ExactDecimal(275), of: .mass, in: Self.euro))
        #expect(!limit.covers(330, per: ExactDecimal(275), of: .volume, in: Self.euro))
        #expect(limit.covers(3, per: ExactDecimal(275), of: .mass, in: Currency("JPY")!))
        #expect(!limit.covers(4, per: ExactDecimal(275), of: .mass, in: Currency("JPY")!))
    }

    @Test("Ends of a range may be equal, and keys can be left out")
    func ranges() throws {
        let (five, six) = (FilterValue.amount(ExactDecimal(5)), FilterValue.amount(ExactDecimal(6)))
        #expect(!isRefused { _ = try Filter([.priceMin: five, .priceMax: five]) })
        #expect(isRefused { _ = try Filter([.priceMin: six, .priceMax: five]) })
        let (a, b) = (FilterValue.moment(Timestamp(microseconds: 1)), FilterValue.moment(Timestamp(microseconds: 2)))
        for (lower, upper) in [(FilterKey.createdAfter, FilterKey.createdBefore), (.modifiedAfter, .modifiedBefore)] {
            #expect(
                !isRefused { _ = try Filter([lower: a, upper: a]) }
                    && !isRefused { _ = try Filter([lower: a, upper: b]) }
            )
            #expect(isRefused { _ = try Filter([lower: b, upper: a]) })
        }
        let filter = try Filter([.priceMin: five, .priceMax: six, .inStock: .flag(true)])
        #expect(
            filter.keys == [.inStock, .priceMin, .priceMax]
                && filter.without([.priceMin]).keys == [.inStock, .priceMax]
        )
        #expect(filter[.priceMax] == six && filter[.brand] == nil && !filter.isEmpty && Filter.none.isEmpty)
    }

    @Test("Each start of a range has one end, which must not be below it", arguments: FilterKey.allCases)
    func rangesHaveEnds(_ key: FilterKey) {
        let values: (low: FilterValue, high: FilterValue)
        switch key.form {
        case .amount(isEnd: false): values = (.amount(ExactDecimal(5)), .amount(ExactDecimal(6)))
        case .timestamp(isEnd: false):
            values = (.moment(Timestamp(microseconds: 1)), .moment(Timestamp(microseconds: 2)))
        default: return
        }
        let ends = FilterKey.allCases.filter { end in
            end != key && isRefused { _ = try Filter([key: values.high, end: values.low]) }
        }
        #expect(ends.count == 1 && ends.allSatisfy(\.form.isEnd), "\(ends)")
    }

    @Test("Texts have at most 500 bytes, and a filter 100 values and 4096 bytes")
    func filterLimits() throws {
        func isRefused(_ brands: [String]) -> Bool { self.isRefused { _ = try Filter { $0 == .brand ? brands : [] } } }
        let longest = String(repeating: "a", count: 500)
        #expect(!isRefused([longest]) && isRefused([longest + "a"]))
        #expect(!isRefused((0..<100).map { "\($0)" }) && isRefused((0..<101).map { "\($0)" }))
        // brand= and & make 7 bytes of each value.
        let eight = (0..<8).map { "\($0)" + String(repeating: "b", count: 499) }
        let rest = String(repeating: "c", count: 4096 - 8 * 507 - 6)
        #expect(!isRefused(eight + [rest]) && isRefused(eight + [rest + "c"]))
    }

    @Test("Facets are named once each")
    func facets() throws {
        #expect(try Facet.parse(Facet.allCases.map(\.name).joined(separator: ",")) == Set(Facet.allCases))
        for text in ["", "brand,", "brand,brand", "Brands"] {
            #expect(isRefused { _ = try Facet.parse(text) }, "\(text)")
        }
    }

    @Test("Prices are rounded to round limits")
    func roundPrices() {
        for (minor, expected) in [
            (0, 1), (1, 1), (2, 2), (7, 6), (9, 8), (10, 10), (12, 10), (13, 15), (17, 15), (18, 20), (22, 20),
            (23, 25),
            (28, 30), (34, 30), (36, 40), (44, 40), (46, 50), (54, 50), (56, 60), (69, 60), (71, 80), (89, 80),
            (91, 100),
            (149, 150), (999, 1000), (123_456, 100_000), (999_999_999_999, 1_000_000_000_000),
        ] as [(Int64, Int64)] {
            #expect(PriceBucket.round(minor) == expected, "\(minor)")
        }
        #expect(PriceBucket.round(.max) == 1_000_000_000_000)
        let two = PriceBucket.all([PriceCount(100, 2), PriceCount(1000, 3)])
        #expect(two == [PriceBucket(to: 999, count: 2), PriceBucket(from: 1000, count: 3)])
        var facets = Facets(counted: [.brand])
        facets.prices = [PriceCount(5, 2)]
        #expect(facets.buckets == [PriceBucket(count: 2)])
    }

    // MARK: - Diffs

    @Test("A diff request reads the views that it names, and has a window of 1 to 10,000")
    func diffRequests() {
        let manual = RequestedSort(sort: .position)
        var own = DiffRequest(
            store: Self.store,
            shelf: Self.shelf,
            from: .sort(RequestedSort(sort: Self.price)),
            to: manual
        )
        #expect(own.sorts == [manual, RequestedSort(sort: Self.price)] && own.page.includesDescendants == false)
        #expect(!isRefused { try own.check() })
        own.includesDescendants = true
        #expect(isRefused { try own.check() } && own.page.includesDescendants == true)
        own.to = RequestedSort()
        #expect(!isRefused { try own.check() })
        own.from = .sort(manual)
        #expect(isRefused { try own.check() })
        own.includesDescendants = nil
        #expect(!isRefused { try own.check() } && own.page.includesDescendants == false)
        own.from = .list(["a", "b", "a"])
        #expect(own.sorts == [RequestedSort()] && own.page.includesDescendants == nil && !isRefused { try own.check() })
        own.limit = 2
        #expect(isRefused { try own.check() }, "the repeat is outside of the window")
        own.from = .list(["a", "b"])
        for (limit, isRefused) in [(0, true), (1, false), (10_000, false), (10_001, true)] {
            own.limit = limit
            #expect(self.isRefused { try own.check() } == isRefused, "\(limit)")
        }
        var order = OrderRequest(address: ShelfAddress(Self.store, Self.shelf), requested: manual)
        #expect(order.page.includesDescendants == false && !isRefused { try order.check() })
        order.includesDescendants = true
        #expect(order.page.includesDescendants == true && isRefused { try order.check() })
        order.requested = RequestedSort()
        order.includesDescendants = nil
        #expect(order.page.includesDescendants == nil && !isRefused { try order.check() })
    }

    @Test("The whole order is sent if more than half of the list moves, or if it is asked for")
    func wholeOrders() throws {
        func isWhole(_ old: [String], _ new: [String], _ mode: DiffMode) throws -> Bool {
            try OrderDiff(old: old, new: new, mode: mode).isWholeOrder
        }
        let four = ["a", "b", "c", "d"]
        #expect(try !isWhole(four, ["b", "a", "d", "c"], .auto), "exactly half moved")
        #expect(try isWhole(four, ["d", "c", "b", "a"], .auto) && !isWhole(four, ["d", "c", "b", "a"], .moves))
        #expect(try isWhole(four, four, .order) && !isWhole(four, four, .auto))
    }

    @Test("A diff has the versions and products of its orders")
    func diffs() throws {
        func order(_ ids: [String], _ sort: Sort, union: ShelfUnion? = nil) -> ShelfOrder {
            ShelfOrder(
                head: head(),
                union: union,
                resolvedSort: ResolvedSort(sort: sort, source: .query),
                list: OrderedIDs(ids)
            )
        }
        var own = DiffRequest(
            store: Self.store,
            shelf: Self.shelf,
            from: .sort(RequestedSort(sort: Self.name)),
            limit: 2
        )
        let target = order(["c", "a"], Self.price)
        let diff = try OrderDiff(own, [target, order(["a", "b"], Self.name)])
        #expect(
            diff.insertedIDs == ["c"] && diff.deletedIDs == ["b"] && diff.fromSort == Self.name
                && diff.fromResolvedSort?.sort == Self.name
        )
        #expect(diff.fromVersion == 7 && diff.toVersion == 7 && diff.targetOrder?.sort == Self.price)
        #expect(diff.includesProducts(for: own))
        own.includesProducts = false
        #expect(!diff.includesProducts(for: own))
        own.includesProducts = true
        own.limit = nil
        #expect(!diff.includesProducts(for: own))
        own.limit = 2
        own.from = .list(["a", "c", "z"])
        let listed = try OrderDiff(own, [target])
        #expect(listed.old.count == 2 && listed.fromVersion == nil && listed.fromSort == nil && listed.toVersion == 7)
        #expect(!listed.includesProducts(for: own), "nothing enters")
        own.mode = .order
        own.from = .list([])
        #expect(try !OrderDiff(own, [target]).includesProducts(for: own))
        #expect(order(["a"], Self.price, union: ShelfUnion(digest: "d", dimension: .mass)).version == nil)
        let product = Product(sku: SKU("c")!, name: "C")
        let shown = ShownProduct(product)
        let marked = diff.with([shown], changed: [0, 1])
        #expect(marked.products == ["c": shown] && marked.diff.changed == [1] && marked.readDuration == .zero)
        #expect(diff.with([], readDuration: .seconds(3)).with([], changed: []).readDuration == .seconds(3))
        #expect(throws: CatalogError.self) { try OrderDiff(old: ["a", "a"], new: [], mode: .moves) }
        #expect(throws: CatalogError.self) { try OrderDiff(old: [], new: ["a", "a"], mode: .moves) }
        #expect(throws: Never.self) { try OrderDiff(old: ["a", "a"], new: [], mode: .moves, fromVersion: 1) }
    }

    @Test("Orders of one table are compared by places, and others by ids")
    func places() throws {
        func ids(_ places: [UInt32], version: Int64) -> OrderedIDs {
            OrderedIDs(OrderedIDs.Places(version: version, limit: 10, places: places)) { "p\($0)" }
        }
        let (a, b) = (ids([1, 2, 3], version: 1), ids([3, 1, 4], version: 1))
        #expect(
            Array(a) == ["p1", "p2", "p3"] && a.count == 3 && a[2] == "p3" && a.places?.version == 1
                && OrderedIDs(["x"]).places == nil
        )
        func diff(_ old: OrderedIDs, _ new: OrderedIDs) throws -> OrderDiff {
            func order(_ list: OrderedIDs) -> ShelfOrder {
                ShelfOrder(head: head(), resolvedSort: ResolvedSort(sort: Self.price, source: .query), list: list)
            }
            let own = DiffRequest(store: Self.store, shelf: Self.shelf, from: .sort(RequestedSort()))
            return try OrderDiff(own, [order(new), order(old)])
        }
        let byIDs = try diff(OrderedIDs(Array(a)), OrderedIDs(Array(b))).diff
        #expect(try diff(a, b).diff == byIDs && diff(a, OrderedIDs(Array(b))).diff == byIDs)
        // The same places of another version are other products.
        let other = OrderedIDs(OrderedIDs.Places(version: 2, limit: 10, places: [1, 2, 3])) { "q\($0)" }
        #expect(try diff(a, other).diff.deletes.count == 3)
    }
}
