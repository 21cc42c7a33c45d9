import Catalog
import CatalogJSON
import InMemoryCatalog
import LibPQ
import Ordering
import TestSupport
import Testing

@testable import CatalogPostgres

/// Pages, orders and diffs of searches match the in-memory catalog, which reads every product, and follow every change.
@Suite(.timeLimit(.minutes(15))) struct SearchPageTests {
    private static let store = CatalogKey("shop")!
    private static let (food, dairy) = (CatalogKey("food")!, CatalogKey("dairy")!)
    private static let origin = try! AttributeDefinition(
        name: AttributeName("origin")!,
        form: .text,
        isSearchable: true
    )
    private static let labels = try! AttributeDefinition(
        name: AttributeName("labels")!,
        form: .set(nil),
        isSearchable: true
    )

    private static let words = [
        "milk", "Milk", "Milch", "Vollmilch", "oat", "oats", "apple", "apples", "Äpfel", "soda", "pop", "soft", "drink",
        "cola", "Čaj", "Straße", "330", "ml", "1,5", "Brie", "bread", "breads", "butter", "buttermilk", "water", "A4",
    ]

    private static func text(_ count: Int, using generator: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...count, using: &generator)).map { _ in words.randomElement(using: &generator)! }
            .joined(separator: " ")
    }

    private static func product(_ number: Int, using generator: inout SeededGenerator) -> Product {
        var product = Product.random(number, using: &generator)
        product = Product(
            sku: SKU("p\(number)")!,
            name: text(3, using: &generator),
            brand: Bool.random(using: &generator) ? text(1, using: &generator) : nil,
            priceMinor: product.priceMinor,
            size: product.size,
            barcode: product.barcode,
            popularity: product.popularity,
            inStock: product.inStock,
            tags: Bool.random(using: &generator) ? [text(1, using: &generator).lowercased()] : [],
            createdAt: product.createdAt,
            modifiedAt: product.modifiedAt
        )
        if Bool.random(using: &generator) {
            product.attributes =
                #"{"labels": ["\#(text(1, using: &generator))x"], "origin": "\#(text(2, using: &generator))"}"#
        }
        return product
    }

    /// Returns a search with words of products, some of which are cut, misspelled or codes.
    private static func search(using generator: inout SeededGenerator) -> SearchText {
        var text = Self.text(2, using: &generator)
        let index = text.indices.randomElement(using: &generator)!
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: text.remove(at: index)
        case 1: text = String(text.prefix(3))
        case 2: text.insert("e", at: index)
        case 3: text = ["p1", "p12", "4006381333931", "330 ml", "1 kg"].randomElement(using: &generator)!
        default: break
        }
        return (try? SearchText(text)) ?? (try! SearchText("milk"))
    }

    /// Runs a body on two equal catalogs, with a shelf below another one, synonyms and searchable attributes.
    private func withCatalogs(
        seed: UInt64,
        _ body: (InMemoryCatalog, PostgresCatalog, [Product], inout SeededGenerator) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed)
            let products = (0..<60).map { Self.product($0, using: &generator) }
            let memory = InMemoryCatalog(collate: collator)
            for catalog in [memory.storage, catalog.storage] {
                try await catalog.putFoodAndDairy(in: Self.store)
                _ = try await catalog.attributes.declare(.definition(Self.origin), for: .deployment)
                _ = try await catalog.attributes.declare(.definition(Self.labels), for: .store(Self.store))
                let shared = try Synonyms(groups: [["pop", "soda", "soft drink"]], oneWay: [])
                _ = try await catalog.synonyms.set(shared, for: .deployment)
                let own = try Synonyms(groups: [], oneWay: [.init(from: "water", to: ["milk", "brie"])])
                _ = try await catalog.synonyms.set(own, for: .store(Self.store))
            }
            let (first, second) = (Array(products.prefix(40)), Array(products.dropFirst(40)))
            try await catalog.seed(first, on: Self.food, in: Self.store)
            try await catalog.seed(second, on: Self.dairy, in: Self.store)
            for product in first { try memory.seed(product, in: Self.store, on: [Self.food]) }
            for product in second { try memory.seed(product, in: Self.store, on: [Self.dairy]) }
            try await body(memory, catalog, products, &generator)
        }
    }

    private static func sort(_ text: String?) -> Sort? {
        text.map { try! Sort.parse($0, allowsRelevance: true) }
    }

    // MARK: - Pages

    @Test(
        "Pages, facets, totals, highlights and corrections are those of the specification",
        arguments: [UInt64(1), 2]
    )
    func matchesSpecification(_ seed: UInt64) async throws {
        try await withCatalogs(seed: seed) { memory, catalog, products, generator in
            let sorts = [nil, "-relevance,price", "-price", "name", "-unit_price,tags", "position"]
            var (classes, highlights) = (Set<SearchClass>(), 0)
            for round in 0..<80 {
                let shelf = [Self.food, Self.dairy, nil][round % 3]
                var request = PageRequest(
                    store: Self.store,
                    shelf: shelf,
                    sort: Self.sort(sorts.randomElement(using: &generator)!),
                    search: Self.search(using: &generator),
                    facets: Set(Facet.allCases),
                    wantsTotal: true,
                    limit: 100
                )
                if shelf == Self.food, Bool.random(using: &generator) { request.includesDescendants = true }
                if shelf == nil || request.includesDescendants == true, request.sort?.readsPositions == true {
                    request.sort = nil
                }
                let place = "\(request.search!) by \(request.sort?.description ?? "-") on \(shelf?.text ?? "all")"
                let (page, specified) = (try await catalog.pages.page(request), try await memory.page(request))
                let isManual = request.sort?.readsPositions == true
                if isManual, let shelf {
                    // The catalog in memory has its own manual order.
                    let found = Set(specified.products.map(\.sku.text))
                    let whole = try await catalog.pages.order(Self.store, shelf, .position).ids
                    #expect(page.products.map(\.sku.text) == whole.filter(found.contains), "\(place)")
                } else {
                    #expect(page.products.map(\.sku) == specified.products.map(\.sku), "\(place)")
                    #expect(page.matches == specified.matches, "\(place)")
                }
                #expect(page.search == specified.search, "\(place)")
                #expect(page.facets == specified.facets && page.total == specified.total, "\(place)")
                classes.insert(page.search!.searchClass)
                highlights += page.matches.reduce(0) { $0 + $1.count }
                // Filters leave the classes and the order as they are.
                let unfiltered = page.products
                let key = FilterKey.allCases.randomElement(using: &generator)!
                let values = key.random(products, Currency("EUR")!, using: &generator)
                guard let filter = try? Filter({ $0 == key ? values : [] }) else { continue }
                request.filter = filter
                request.limit = 3
                let kept = unfiltered.filter { filter.accepts($0, in: Currency("EUR")!) }.map(\.sku.text)
                #expect(try await catalog.pages.allPages(request) == kept, "\(place) where \(filter.query)")
                let counted = try await catalog.pages.page(request)
                #expect(counted.total == kept.count && counted.search?.searchClass == page.search?.searchClass)
                let expected = try await memory.page(request)
                #expect(counted.facets == expected.facets, "\(place) where \(filter.query)")
            }
            #expect(classes.count > 1 && highlights > 100)
        }
    }

    @Test("Orders, diffs and ranks have the products of a search")
    func orders() async throws {
        try await withCatalogs(seed: 3) { memory, catalog, products, generator in
            for round in 0..<20 {
                let search = Self.search(using: &generator)
                var order = OrderRequest(
                    address: ShelfAddress(Self.store, Self.food),
                    requested: RequestedSort(search: search)
                )
                order.includesDescendants = round % 2 == 0
                let (found, specified) = (
                    try await catalog.pages.order(order), try await memory.order(order)
                )
                #expect(found.ids == specified.ids && found.search == specified.search, "\(search)")
                #expect(found.source == .search && found.sort == .relevance)
                var diff = DiffRequest(
                    store: Self.store,
                    shelf: Self.food,
                    from: .sort(RequestedSort(sort: Self.sort("price"), search: search)),
                    to: RequestedSort(search: search)
                )
                diff.includesDescendants = order.includesDescendants
                let (moves, wanted) = (try await catalog.pages.diff(diff), try await memory.diff(diff))
                #expect(Array(moves.old) == Array(wanted.old) && Array(moves.new) == found.ids, "\(search)")
                // A diff may also begin without the search.
                diff.from = .sort(RequestedSort(sort: Self.sort("price")))
                let narrowed = try await catalog.pages.diff(diff)
                #expect(Array(narrowed.new) == found.ids)
                #expect(Array(try await memory.diff(diff).old) == Array(narrowed.old))
                var page = PageRequest(store: Self.store, shelf: Self.food, search: search)
                page.includesDescendants = order.includesDescendants
                let request = RankRequest(page: page, skus: products.map(\.sku.text) + ["x"])
                let (ranks, others) = (try await catalog.pages.ranks(request), try await memory.ranks(request))
                #expect(ranks.ranks.map(\.rank) == others.ranks.map(\.rank), "\(search)")
                #expect(ranks.ranks.map(\.reason) == others.ranks.map(\.reason), "\(search)")
                #expect(ranks.ranks.map(\.relevance) == others.ranks.map(\.relevance), "\(search)")
            }
        }
    }

    @Test("Several orders of a shelf, with and without a search, are from one state")
    func severalOrders() async throws {
        try await Self.withShelf(["Milk", "Cheese", "Oat milk"]) { catalog, _ in
            let search = try SearchText("milk")
            let sorts = [
                RequestedSort(sort: .position), RequestedSort(search: search),
                RequestedSort(sort: Self.sort("-name"), search: search),
            ]
            let orders = try await catalog.pages.orders(ShelfAddress(Self.store, Self.dairy), sorts)
            #expect(orders.map { Set($0.ids) } == [["p0", "p1", "p2"], ["p0", "p2"], ["p0", "p2"]])
            #expect(orders.dropFirst().map(\.ids) == [["p0", "p2"], ["p2", "p0"]])
            #expect(orders.map { $0.search == nil } == [true, false, false])
        }
    }

    @Test("Equally relevant products have the manual order, also on pages after all its keys were replaced")
    func manualOrderOfMatches() async throws {
        try await Self.withShelf((0..<6).map { "Milk \(9 - $0)" } + ["Milky way", "Cheese"]) { catalog, _ in
            let sort = "-relevance,position"
            let whole = try await catalog.pages.allPages(try Self.request("milk", sort: sort, limit: 2))
            let manual = try await catalog.pages.order(Self.store, Self.dairy, .position).ids
            // All are found as the same word, so the beginning of a word is not in use.
            #expect(whole.count == 6 && whole == manual.filter(Set(whole).contains))
            for sort in [sort, "position"] {
                let first = try await catalog.pages.page(try Self.request("milk", sort: sort, limit: 2))
                let cursor = try #require(first.next)
                try await catalog.database.writes.perform {
                    try $0.execute("UPDATE placement_position SET key = '\\xf0'::bytea || key")
                    try $0.execute("UPDATE shelf SET version = version + 1, key_generation = key_generation + 1")
                }
                let second = try await catalog.pages.page(try Self.request("milk", sort: sort, after: cursor))
                #expect((first.products + second.products).map(\.sku.text) == whole, "\(sort)")
            }
        }
    }

    // MARK: - Changes

    private static func put(_ sku: String, _ name: String, price: Int64 = 1, _ catalog: PostgresCatalog) async throws {
        let product = Product(sku: SKU(sku)!, name: name, priceMinor: price)
        _ = try await catalog.products.put(product, in: store)
        _ = try await catalog.products.place(product.sku, on: dairy, in: store)
    }

    private static func withShelf(
        _ names: [String],
        _ body: (PostgresCatalog, _ other: PostgresCatalog) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: store, title: "Shop", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: dairy, title: "Dairy"), in: store)
            for (number, name) in names.enumerated() { try await put("p\(number)", name, catalog) }
            // Another server, which learns of changes only by its reads.
            try await body(catalog, PostgresCatalog(catalog.database, encodingEvents: \.json))
        }
    }

    private static func request(_ search: String, sort: String? = "name", after: Cursor? = nil, limit: Int = 24) throws
        -> PageRequest
    {
        PageRequest(
            store: store,
            shelf: dairy,
            sort: Self.sort(sort),
            search: try SearchText(search),
            limit: limit,
            after: after
        )
    }

    private static func names(_ request: PageRequest, _ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.pages.page(request).products.map(\.name)
    }

    @Test("A cursor keeps its class while products come, and a first page has the classes of now")
    func cursorsKeepTheirClass() async throws {
        try await Self.withShelf(["Milk", "Milky way", "Vollmilk"]) { catalog, other in
            let first = try await catalog.pages.page(try Self.request("milk", sort: nil, limit: 1))
            #expect(first.products.map(\.name) == ["Milk"] && first.search?.searchClass == .typo)
            let cursor = try #require(first.next)
            for number in 0..<6 { try await Self.put("m\(number)", "Milk \(number)", catalog) }
            for server in [catalog, other] {
                let rest = try await server.pages.page(try Self.request("milk", sort: nil, after: cursor))
                #expect(rest.products.map(\.name).suffix(2) == ["Milky way", "Vollmilk"])
                #expect(rest.search?.searchClass == .typo)
                let new = try await server.pages.page(try Self.request("milk", sort: nil))
                #expect(new.search?.searchClass == .exact && new.products.count == 7)
            }
        }
    }

    @Test("Changed synonyms are in effect for the next page of all servers", arguments: [false, true])
    func synonyms(_ isOfStore: Bool) async throws {
        try await Self.withShelf(["Pop", "Milk", "Soda", "Tonic"]) { catalog, other in
            let owner: DeclarationOwner = isOfStore ? .store(Self.store) : .deployment
            var tags: Set<String> = []
            for (group, expected) in [
                (nil, ["Soda"]), (["pop", "soda"], ["Pop", "Soda"]), (["tonic", "soda"], ["Soda", "Tonic"]),
                (nil, ["Soda"]),
            ] as [([String]?, [String])] {
                if let group {
                    _ = try await catalog.synonyms.set(try Synonyms(groups: [group], oneWay: []), for: owner)
                } else if !tags.isEmpty {
                    try await catalog.synonyms.remove(synonymsOf: owner)
                }
                for server in [catalog, other] {
                    let page = try await server.pages.page(try Self.request("soda"))
                    #expect(page.products.map(\.name) == expected, "\(group ?? [])")
                    tags.insert(page.planned.entityTag(day: 1))
                    var all = try Self.request("soda")
                    all.shelf = nil
                    #expect(try await Self.names(all, server) == expected)
                }
            }
            #expect(tags.count == 4)
        }
    }

    @Test("A page after a change of synonyms shows what they find by now")
    func synonymsBetweenPages() async throws {
        try await Self.withShelf(["Pop", "Soda", "Soda water", "Tonic"]) { catalog, _ in
            let first = try await catalog.pages.page(try Self.request("soda", limit: 1))
            #expect(first.products.map(\.name) == ["Soda"])
            let cursor = try #require(first.next)
            _ = try await catalog.synonyms.set(try Synonyms(groups: [["soda", "tonic"]], oneWay: []), for: .deployment)
            let rest = try await catalog.pages.page(try Self.request("soda", after: cursor))
            #expect(rest.products.map(\.name) == ["Soda water", "Tonic"])
        }
    }

    @Test("The versions of shelves follow the synonyms of the deployment, so that streams do")
    func versions() async throws {
        try await Self.withShelf(["Milk"]) { catalog, _ in
            let address = ShelfAddress(Self.store, Self.dairy)
            let before = try await catalog.versions.versions(of: [address])[address]
            _ = try await catalog.synonyms.set(try Synonyms(groups: [["pop", "soda"]], oneWay: []), for: .deployment)
            let after = try await catalog.versions.versions(of: [address])[address]
            #expect(before != after)
            #expect(try await ShelfVersion(catalog.shelves.shelf(Self.store, Self.dairy)) == after)
        }
    }

    @Test("A changed declaration of an attribute changes what is found, on all servers")
    func searchableAttributes() async throws {
        try await Self.withShelf(["Milk", "Cheese"]) { catalog, other in
            var product = Product(sku: SKU("p0")!, name: "Milk")
            product.attributes = #"{"origin":"Istria"}"#
            _ = try await catalog.products.put(product, in: Self.store)
            for (isSearchable, expected) in [(false, []), (true, ["Milk"]), (false, []), (true, ["Milk"])] {
                let definition = try AttributeDefinition(
                    name: AttributeName("origin")!,
                    form: .text,
                    isSearchable: isSearchable
                )
                _ = try await catalog.attributes.declare(.definition(definition), for: .deployment)
                for server in [catalog, other] {
                    let page = try await server.pages.page(try Self.request("istr"))
                    #expect(page.products.map(\.name) == expected, "\(isSearchable)")
                    let field = ProductMatch.Field.attribute(definition.name, nil)
                    #expect(page.matches == (isSearchable ? [[ProductMatch(field, 0..<4)]] : []))
                }
            }
        }
    }

    @Test("Another language of the store changes the index and the rules together")
    func languages() async throws {
        try await Self.withShelf(["Berry", "Sir"]) { catalog, _ in
            var shop = try await catalog.shelves.store(Self.store)
            for (locale, search, expected) in [
                ("en", "berries", ["Berry"]), ("hr", "berries", []), ("hr", "sirevi", ["Sir"]), ("en", "sirevi", []),
                ("fi", "sirevi", []),
            ] {
                shop.locale = locale
                _ = try await catalog.shelves.put(shop)
                #expect(try await Self.names(try Self.request(search), catalog) == expected, "\(search) in \(locale)")
            }
        }
    }

    @Test("A search without results has the words that find nothing and the best correction, only on its first page")
    func corrections() async throws {
        try await Self.withShelf(["Mlijeko", "Kruh"]) { catalog, _ in
            let page = try await catalog.pages.page(try Self.request("svježe  mlijecko"))
            let failure = SearchSummary.Failure(missing: ["svježe"], correction: nil)
            #expect(page.search == SearchSummary(try SearchText("svježe mlijecko"), .typo, failure: failure))
            let short = try await catalog.pages.page(try Self.request("krh"))
            #expect(short.search?.failure == SearchSummary.Failure(missing: ["krh"], correction: "kruh"))
            var request = try Self.request("kruh")
            request.filter = try Filter([.inStock: .flag(false)])
            #expect(try await catalog.pages.page(request).search?.failure == nil)
            // The products of a first page are gone when the next one is read.
            try await Self.put("k", "Kruh", catalog)
            let first = try await catalog.pages.page(try Self.request("kruh", limit: 1))
            let cursor = try #require(first.next)
            for sku in ["p1", "k"] { try await Self.put(sku, "Voda", catalog) }
            let rest = try await catalog.pages.page(try Self.request("kruh", after: cursor))
            #expect(rest.products.isEmpty && rest.search?.failure == nil)
            #expect(try await catalog.pages.page(try Self.request("kruh")).search?.failure != nil)
        }
    }

    @Test("Pages have the parts that match unless their reader does not want them")
    func unwantedMatches() async throws {
        try await Self.withShelf(["Milk"]) { catalog, _ in
            var request = try Self.request("milk")
            #expect(try await catalog.pages.page(request).matches == [[ProductMatch(.name, 0..<4)]])
            request.wantsMatches = false
            let page = try await catalog.pages.page(request)
            #expect(page.matches.isEmpty && page.products.map(\.name) == ["Milk"] && page.search != nil)
        }
    }

    // MARK: - Memory

    @Test("A page that is known by its tag needs no index, and changed prices build none")
    func indexes() async throws {
        try await Self.withShelf(["Milk", "Oat milk"]) { catalog, _ in
            let caches = catalog.pageStore.memory.caches
            let request = try Self.request("milk", sort: "price")
            let known = try await catalog.pages.read(request) { _ in true }
            guard case .answered = known else {
                Issue.record("the basis does not answer")
                return
            }
            #expect(caches.indexes.use.count == 0 && caches.rules.use.count == 0)
            let first = try await catalog.pages.current(request)
            #expect(first.indexedProducts == 2)
            #expect(try await Self.names(request, catalog) == ["Milk", "Oat milk"])
            let number = try #require(caches.indexes.entries.first?.value.content.number)
            try await Self.put("p1", "Oat milk", price: 0, catalog)
            let second = try await catalog.pages.current(request)
            #expect(second.indexedProducts == 0)
            #expect(try await Self.names(request, catalog) == ["Oat milk", "Milk"])
            #expect(caches.indexes.entries.first?.value.content.number == number)
            try await Self.put("p1", "Oat drink", catalog)
            #expect(try await Self.names(request, catalog) == ["Milk"])
            #expect(caches.indexes.entries.first?.value.content.number != number)
        }
    }

    @Test("Pages share their matches and views with other pages of the search, and with the first one")
    func sharedViews() async throws {
        try await Self.withShelf((0..<9).map { "Milk \($0)" }) { catalog, _ in
            let caches = catalog.pageStore.memory.caches
            #expect(try await catalog.pages.allPages(try Self.request("milk", limit: 2)).count == 9)
            #expect(caches.matches.use.count == 1 && caches.views.use.count == 1)
            _ = try await catalog.pages.page(try Self.request("milk", sort: "-name"))
            #expect(caches.matches.use.count == 1 && caches.views.use.count == 2)
            _ = try await catalog.pages.page(try Self.request("mil"))
            #expect(caches.matches.use.count == 2 && caches.views.use.count == 3)
            // A changed price leaves the matches as they are.
            try await Self.put("p3", "Milk 3", price: 7, catalog)
            _ = try await catalog.pages.page(try Self.request("milk"))
            #expect(caches.matches.use.count == 2)
        }
    }

    @Test("Concurrent searches of a shelf build its index once")
    func concurrency() async throws {
        try await Self.withShelf(["Milk", "Oat milk", "Cheese"]) { catalog, _ in
            let request = try Self.request("milk")
            let built = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await catalog.pages.current(request).indexedProducts } }
                return try await group.reduce(0, +)
            }
            #expect(built == 3)
        }
    }
}
