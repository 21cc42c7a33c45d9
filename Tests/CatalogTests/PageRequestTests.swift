import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct PageRequestTests {
    private static let key = CatalogKey("s")!

    private func head(shelf: Sort? = nil, inherited: Sort? = nil, store: Sort? = nil) -> ShelfHead {
        var settings = Store(key: Self.key, title: "S", currency: Currency("EUR")!)
        settings.defaultSort = store
        let state = ShelfState(
            shelf: Shelf(key: Self.key, title: "X", defaultSort: shelf),
            productCount: 0,
            comparisonDimension: .volume,
            inheritedSort: inherited,
            modifiedAt: Timestamp(microseconds: 0),
            version: 7,
            orderVersion: 1,
            keyGeneration: 3
        )
        return ShelfHead(store: settings, storeVersion: 2, state: state)
    }

    private let sorts = (
        price: Sort(.price, .ascending)!, name: Sort(.name, .descending)!, brand: Sort(.brand, .ascending)!
    )

    private func request(_ sort: Sort? = nil, filter: Filter? = nil, limit: Int = 24, after: Cursor? = nil)
        -> PageRequest
    {
        PageRequest(store: Self.key, shelf: Self.key, sort: sort, filter: filter, limit: limit, after: after)
    }

    @Test(
        "The sort is the request's, the user's, the shelf's, an ancestor's, the store's or the system's, in this order"
    )
    func precedence() throws {
        let remembered = RememberedSorts(shelf: RememberedSort(sorts.brand), store: RememberedSort(sorts.name))
        let full = head(shelf: sorts.name, inherited: sorts.brand, store: sorts.price)
        var plan = try request(sorts.price).plan(for: full, remembering: remembered)
        #expect(plan.sort == sorts.price)
        #expect(plan.source == .query)
        plan = try request().plan(for: full, remembering: remembered)
        #expect(plan.sort == sorts.brand)
        #expect(plan.source == .user)
        plan = try request().plan(for: full, remembering: RememberedSorts(store: RememberedSort(sorts.price)))
        #expect(plan.sort == sorts.price)
        #expect(plan.source == .user)
        plan = try request().plan(for: full)
        #expect(plan.sort == sorts.name)
        #expect(plan.source == .shelf)
        plan = try request().plan(for: head(inherited: sorts.brand, store: sorts.price))
        #expect(plan.sort == sorts.brand)
        #expect(plan.source == .shelf)
        plan = try request().plan(for: head(store: sorts.price))
        #expect(plan.sort == sorts.price)
        #expect(plan.source == .store)
        #expect(try request().plan(for: head()).source == .system)
    }

    @Test("A sort in the request ignores the remembered filter; a filter in the request replaces it")
    func filters() throws {
        let own = try Filter([.inStock: .flag(true)])
        let asked = try Filter([.inStock: .flag(false)])
        let remembered = RememberedSorts(shelf: RememberedSort(sorts.price, own))
        #expect(try request().plan(for: head(), remembering: remembered).resolvedSort.filter == own)
        #expect(try request().plan(for: head(), remembering: remembered).resolvedSort.filterSource == .user)
        #expect(try request(sorts.price).plan(for: head(), remembering: remembered).resolvedSort.filter.isEmpty)
        let plan = try request(filter: asked).plan(for: head(), remembering: remembered)
        #expect(plan.resolvedSort.filter == asked)
        #expect(plan.resolvedSort.filterSource == .query)
        #expect(plan.sort == sorts.price)
    }

    @Test("A limit outside 1 to 100 is rejected", arguments: [0, -1, 101, Int.max, Int.min])
    func limits(_ limit: Int) {
        #expect(throws: CatalogError.self) { try request(limit: limit).plan(for: head()) }
    }

    private func cursor(_ change: (inout Cursor) -> Void = { _ in }) -> Cursor {
        var cursor = Cursor(
            scope: request().scope(in: head().store, isUnion: false),
            sort: "price",
            source: .shelf,
            dimension: .mass,
            values: [.integer(5)],
            id: "x"
        )
        change(&cursor)
        return cursor
    }

    @Test("A cursor keeps its sort, source and dimension when the shelf's settings change")
    func cursors() throws {
        let plan = try request(after: cursor()).plan(for: head(shelf: sorts.name))
        #expect(plan.sort == sorts.price)
        #expect(plan.source == .shelf)
        #expect(plan.dimension == .mass)
        #expect(plan.keyGeneration == 3)
        #expect(try request(sorts.price, after: cursor()).plan(for: head()).source == .query)
        let filter = try Filter([.inStock: .flag(true)])
        let filtered = cursor { ($0.filter, $0.filterSource) = (filter.query, .user) }
        #expect(try request(after: filtered).plan(for: head()).resolvedSort.filterSource == .user)
        #expect(try request(filter: filter, after: filtered).plan(for: head()).resolvedSort.filterSource == .query)
    }

    @Test("A cursor of another shelf, sort, filter or number of values is rejected")
    func foreignCursors() throws {
        let wrong = [
            cursor { $0.scope = "products/s/other" }, cursor { $0.scope += "-x" }, cursor { $0.sort = "cost" },
            cursor { $0.values = [] },
            cursor { $0.filter = "%" },
        ]
        for cursor in wrong {
            #expect(throws: CatalogError.invalidCursor) { try request(after: cursor).plan(for: head()) }
        }
        #expect(throws: CatalogError.invalidCursor) { try request(sorts.name, after: cursor()).plan(for: head()) }
        let filter = try Filter([.inStock: .flag(true)])
        #expect(throws: CatalogError.invalidCursor) { try request(filter: filter, after: cursor()).plan(for: head()) }
    }

    @Test("The entity tag changes with everything that the page depends on")
    func entityTags() throws {
        func tag(_ request: PageRequest, _ head: ShelfHead, day: Int = 1) throws -> String {
            try request.plan(for: head).entityTag(head, day: day)
        }
        let base = try tag(request(), head())
        #expect(try tag(request(), head()) == base)
        #expect(try tag(request(limit: 25), head()) != base)
        #expect(try tag(request(), head(), day: 2) != base)
        #expect(try tag(request(sorts.price), head()) != base)
        #expect(try tag(request(filter: Filter([.inStock: .flag(true)])), head()) != base)
        var other = head()
        other.state.version = 8
        #expect(try tag(request(), other) != base)
        other = head()
        other.storeVersion = 3
        #expect(try tag(request(), other) != base)
        var faceted = request()
        faceted.facets = [.brand]
        #expect(try tag(faceted, head()) != base)
        let first = try tag(request(after: cursor()), head())
        #expect(first != base)
        #expect(try tag(request(after: cursor { $0.values = [.integer(6)] }), head()) != first)
    }
}
