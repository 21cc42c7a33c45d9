import JSON
import Testing

@testable import Catalog

/// Searches in the context of pages: their texts, sorts, cursors and entity tags.
@Suite(.timeLimit(.minutes(15))) struct SearchPlanTests {
    private static let key = CatalogKey("s")!
    private static let (price, name) = (Sort(.price, .ascending)!, Sort(.name, .ascending)!)

    private static func head(synonymRevision: Int64 = 0, attributeRevision: Int64 = 0) -> ShelfHead {
        var store = Store(key: key, title: "S", currency: Currency("EUR")!)
        store.defaultSort = name
        let state = ShelfState(
            shelf: Shelf(key: key, title: "X", defaultSort: price),
            productCount: 0,
            comparisonDimension: .volume,
            inheritedSort: nil,
            modifiedAt: Timestamp(microseconds: 0),
            version: 7,
            orderVersion: 1
        )
        return ShelfHead(
            store: store,
            storeVersion: 2,
            attributeRevision: attributeRevision,
            synonymRevision: synonymRevision,
            state: state
        )
    }

    private static func request(_ search: String?, sort: String? = nil, after: Cursor? = nil) throws -> PageRequest {
        PageRequest(
            store: key,
            shelf: key,
            sort: try sort.map { try Sort.parse($0, allowsRelevance: true) },
            search: try search.map { try SearchText($0) },
            after: after
        )
    }

    private static func plan(_ request: PageRequest, _ head: ShelfHead = head()) throws -> PagePlan {
        try request.plan(for: head, remembering: RememberedSorts(shelf: RememberedSort(name)))
    }

    // MARK: - Texts

    @Test("A search has one space between words, and the error for another text has the limit and the number")
    func texts() throws {
        #expect(try SearchText("  oat\u{3000}\tMilk ").text == "oat Milk")
        #expect(try SearchText("oat milk") == SearchText("oat  milk") && SearchText("oat") != SearchText("Oat"))
        #expect(try SearchText(String(repeating: "a", count: 100)).text.count == 100)
        for (text, detail) in [
            ("", "q must have a letter or a digit; leave it out to see all products"),
            (" !? ", "q must have a letter or a digit; leave it out to see all products"),
            (String(repeating: "a", count: 101), "q must have at most 100 characters (got 101)"),
            ("1 2 3 4 5 6 7 8 9", "q must have at most 8 words (got 9)"),
        ] {
            #expect(throws: CatalogError.malformed(parameter: "q", detail: detail)) { try SearchText(parameter: text) }
        }
        #expect(try SearchText("1 2 3 4 5 6 7 8 - !").text.hasSuffix("8 - !"))
    }

    // MARK: - Sorts

    @Test("The relevance is the first key of a search, is not reversed, and is not stored")
    func relevance() throws {
        func fault(_ text: String, allowsRelevance: Bool = true) -> String? {
            do throws(SortError) {
                _ = try Sort.parse(text, allowsRelevance: allowsRelevance)
                return nil
            } catch { return "\(error.detail) \(error.hint ?? "")" }
        }
        #expect(fault("-relevance") == nil && fault("-relevance,-price,name") == nil)
        #expect(
            fault("relevance")
                == "the relevance cannot be reversed, because the best matches come first: “relevance” -relevance"
        )
        #expect(fault("price,-relevance") == "-relevance must be the first sort key: “-relevance” ")
        #expect(fault("-relevance,-relevance") == "duplicate sort key: “-relevance” ")
        for text in ["-relevance", "relevance", "price,-relevance"] {
            #expect(
                fault(text, allowsRelevance: false)?.hasPrefix(
                    "the relevance exists only in a request with a search (q)"
                )
                    == true,
                "\(text)"
            )
        }
        #expect(throws: CatalogError.self) { try RememberedSort(.string("-relevance"), field: "value") }
        #expect(!Sort.allowed.contains("-relevance") && !SortKey.allCases.contains(.relevance))
        #expect(Sort(.relevance, .ascending) == nil && Sort(.relevance, .descending) == .relevance)
    }

    @Test("Popularity, and then closeness, decide between equally relevant products after the other keys; ties ascend")
    func comparedKeys() throws {
        func compared(_ text: String) throws -> [String] {
            try Sort.parse(text, allowsRelevance: true).comparedTerms.map {
                ($0.direction == .descending ? "-" : "") + $0.key.name
            }
        }
        #expect(try compared("-relevance") == ["-relevance", "-popularity", "closeness"])
        #expect(try compared("-relevance,price") == ["-relevance", "price", "-popularity", "closeness"])
        #expect(try compared("-relevance,popularity,name") == ["-relevance", "popularity", "name"])
        #expect(try compared("price,name") == ["price", "name"])
        let sort = try Sort.parse("-relevance,-price", allowsRelevance: true)
        #expect(
            sort.tieBreakerDirection == .ascending && sort.respectsAvailability
                && sort.description == "-relevance,-price"
        )
    }

    @Test("A search is sorted by relevance unless the request has a sort, whatever users and shelves prefer")
    func defaultSort() throws {
        let plan = try Self.plan(try Self.request("milk"))
        #expect(plan.sort == .relevance && plan.source == .search && plan.search?.text == "milk")
        #expect(plan.searchClass == nil)
        let named = try Self.plan(try Self.request("milk", sort: "-price"))
        #expect(named.sort.description == "-price" && named.source == .query)
        #expect(try Self.plan(try Self.request(nil)).source == .user)
        var request = try Self.request("milk")
        request.user = UserID("ann")
        #expect(request.rememberingUser == nil && request.isSearch)
        #expect(try Self.request("milk").requested.isDefault == false && Self.request(nil).requested.isDefault)
        // The remembered filter belongs to the remembered sort.
        let own = RememberedSorts(shelf: RememberedSort(Self.name, try Filter([.inStock: .flag(true)])))
        #expect(try request.plan(for: Self.head(), remembering: own).resolvedSort.filter.isEmpty)
    }

    @Test("The relevance without a search is refused")
    func relevanceNeedsSearch() throws {
        let request = try Self.request(nil, sort: "-relevance")
        #expect {
            try Self.plan(request)
        } throws: { error in
            guard case CatalogError.unknownSortKey(let error, "sort") = error else { return false }
            return error.detail.contains("add the parameter q") && error.word == "-relevance"
        }
    }

    @Test("The relevance is suggested and allowed only with a search")
    func relevanceIsSuggested() throws {
        func fault(_ search: String?) -> SortError? {
            do {
                _ = try Self.plan(try Self.request(search, sort: "-relevence"))
                return nil
            } catch {
                guard case CatalogError.unknownSortKey(let found, "sort") = error else { return nil }
                return found
            }
        }
        let searched = try #require(fault("milk"))
        #expect(searched.hint == "-relevance" && searched.allowed.contains("-relevance"))
        #expect(!searched.allowed.contains("relevance") && searched.word == "-relevence")
        let plain = try #require(fault(nil))
        #expect(plain.hint != "-relevance" && plain.allowed == Sort.allowed)
    }

    // MARK: - Cursors

    private static func cursor(of plan: PagePlan, _ values: [SortValue], _ found: SearchClass) -> Cursor {
        plan.cursor(at: SKU("a")!, "A", values, isSoldOut: false, searchClass: found)
    }

    @Test("A cursor keeps the search and the class in use, and belongs to no other search")
    func cursors() throws {
        let plan = try Self.plan(try Self.request("oat milk"))
        let cursor = Self.cursor(of: plan, [.integer(1), .real(0), .integer(0)], .prefix)
        #expect(cursor.search == Cursor.Search(try SearchText("oat milk"), .prefix))
        for (search, sort) in [("oat milk", nil), (" oat  milk", "-relevance"), (nil, nil)] as [(String?, String?)] {
            let next = try Self.plan(try Self.request(search, sort: sort, after: cursor))
            #expect(next.search == plan.search && next.searchClass == .prefix && next.sort == .relevance)
            #expect(next.source == (sort == nil ? .search : .query))
        }
        for (search, sort) in [("milk", nil), ("Oat milk", nil), ("oat milk", "price")] as [(String, String?)] {
            let request = try Self.request(search, sort: sort, after: cursor)
            #expect(throws: CatalogError.invalidCursor, "\(search)") { try Self.plan(request) }
        }
        let all = try Self.plan(try Self.request(nil, sort: "price"))
        let other = all.cursor(at: SKU("a")!, "A", [.integer(1)], isSoldOut: false)
        #expect(other.search == nil)
        let searched = try Self.request("milk", sort: "price", after: other)
        #expect(throws: CatalogError.invalidCursor) { try Self.plan(searched) }
        // A value for each compared key, with popularity and closeness.
        var short = cursor
        short.values = [.integer(1)]
        let shortened = try Self.request("oat milk", after: short)
        #expect(throws: CatalogError.invalidCursor) { try Self.plan(shortened) }
    }

    @Test("The place of a cursor depends on its class")
    func places() throws {
        let plan = try Self.plan(try Self.request("milk"))
        let places = SearchClass.allCases.map { Self.cursor(of: plan, [.integer(1), .real(0), .integer(0)], $0).place }
        #expect(Set(places).count == 5)
    }

    // MARK: - Entity tags

    @Test("An entity tag depends on the search and on the rules of the deployment, which pages without a search ignore")
    func tags() throws {
        func tag(_ search: String?, _ head: ShelfHead = Self.head()) throws -> String {
            try Self.plan(try Self.request(search, sort: "price"), head).entityTag(head, day: 20_000)
        }
        #expect(try tag("milk") == tag(" milk ") && tag("milk") != tag("oat") && tag("milk") != tag(nil))
        #expect(try tag("milk") != tag("milk", Self.head(synonymRevision: 1)))
        #expect(try tag("milk") != tag("milk", Self.head(attributeRevision: 1)))
        #expect(try tag(nil) == tag(nil, Self.head(synonymRevision: 1, attributeRevision: 1)))
    }

    // MARK: - Orders and diffs

    @Test("Orders and diffs need no user if they have a search, and their shelf is read for it")
    func orders() throws {
        let (search, user) = (try SearchText("milk"), UserID("ann"))
        let address = ShelfAddress(Self.key, Self.key)
        var order = OrderRequest(address: address, requested: RequestedSort(search: search), user: user)
        #expect(order.page.search == search && order.page.user == nil)
        order.requested = RequestedSort()
        #expect(order.page.search == nil && order.page.user == user)
        var diff = DiffRequest(
            store: Self.key,
            shelf: Self.key,
            from: .sort(RequestedSort(sort: Self.price, search: search)),
            to: RequestedSort(search: search)
        )
        diff.user = user
        #expect(diff.page.search == search && diff.page.user == nil)
        diff.from = .sort(RequestedSort(sort: Self.price))
        diff.to = RequestedSort(sort: Self.name, search: search)
        #expect(diff.page.search == search)
    }

    @Test("A product that the search does not find has its own reason, whether or not the filter excludes it")
    func ranks() throws {
        var request = try Self.request("milk", sort: "price")
        request.filter = try Filter([.inStock: .flag(true)])
        let plan = try Self.plan(request)
        let products = [("a", true), ("b", true), ("c", false), ("e", false)].map { sku, inStock in
            Product(sku: SKU(sku)!, name: sku, inStock: inStock)
        }
        let ranks = ShelfRanks(
            ["a", "b", "c", "d", "e"],
            PageBasis(head: Self.head()),
            plan,
            order: OrderedIDs(["a"]),
            products: products,
            relevances: [
                "a": SearchRelevance(rank: 1, place: 1, nameWords: 2),
                "c": SearchRelevance(rank: 1, place: 1, nameWords: 2),
            ]
        )
        #expect(ranks.ranks.map(\.reason) == [.shown, .notFound, .filteredOut, .notOnShelf, .notFound])
        #expect(ranks.ranks.map { $0.filters.count } == [0, 0, 1, 0, 1])
    }
}
