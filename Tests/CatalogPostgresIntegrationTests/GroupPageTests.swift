import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import LibPQ
import Ordering
import TestSupport
import Testing

/// Pages, orders, diffs and ranks with collapsed groups match the in-memory catalog, while products and groups change.
@Suite(.timeLimit(.minutes(15))) struct GroupPageTests {
    private static let store = CatalogKey("shop")!
    private static let (food, dairy) = (CatalogKey("food")!, CatalogKey("dairy")!)
    private static let euro = Currency("EUR")!

    /// Runs a body on two equal catalogs: a shelf with another one below it, whose products are in groups.
    private func withShelves(
        seed: UInt64,
        _ body: (InMemoryCatalog, PostgresCatalog, [Product], inout SeededGenerator) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed)
            let memory = InMemoryCatalog(collate: collator)
            for catalog in [memory.storage, catalog.storage] { try await catalog.putFoodAndDairy(in: Self.store) }
            var products: [Product] = []
            for number in 0..<50 {
                var product = Product.random(number, using: &generator)
                product.group = [nil, "a", "b/1", "ä", "c\(number % 9)"].randomElement(using: &generator)!
                products.append(product)
                let shelf = [Self.food, Self.dairy][Int.random(in: 0..<2, using: &generator)]
                try memory.seed(product, in: Self.store, on: [shelf])
                try await catalog.seed([product], on: shelf, in: Self.store)
            }
            try await body(memory, catalog, products, &generator)
        }
    }

    private static func request(_ shelf: CatalogKey?, _ sort: Sort?, limit: Int = 7) -> PageRequest {
        var request = PageRequest(store: store, shelf: shelf, sort: sort, limit: limit)
        request.collapsesGroups = true
        return request
    }

    /// The id and the card of each product of a page.
    private static func cards(_ page: ShelfPage) -> [String] { page.shown.map(text) }

    private static func cards(_ shown: [ShownProduct]) -> Set<String> { Set(shown.map(text)) }

    private static func text(_ shown: ShownProduct) -> String {
        let members = shown.members.map { $0.map(\.sku.text).joined(separator: " ") } ?? "-"
        return "\(shown.id) \(shown.product.sku) \(shown.card?.matching ?? -1)/\(shown.card?.total ?? -1) \(members)"
    }

    private static func text(_ rank: ProductRank) -> String {
        let parts = [rank.before, rank.after, rank.representative?.sku.text].map { $0 ?? "-" }
        return "\(rank.sku) \(rank.reason) \(rank.rank ?? -1) \(parts) \(rank.filters.map(\.name))"
    }

    @Test("Pages of cards match the specification in every sort, with filters, facets, totals and members")
    func matchesSpecification() async throws {
        try await withShelves(seed: 1) { memory, catalog, products, generator in
            let sorts =
                Sort.allSingle + ["brand,-price", "-unit_price,tags", "-price,position"].map { try! Sort.parse($0) }
            for shelf in [Self.food, Self.dairy, nil] {
                for sort in sorts where shelf != nil || !sort.readsPositions {
                    var request = Self.request(shelf, sort)
                    let includes = shelf != nil && !sort.readsPositions && Bool.random(using: &generator)
                    if includes { request.includesDescendants = true }
                    var whole = request
                    whole.limit = 100
                    let expected = try await memory.allPages(whole)
                    #expect(try await catalog.pages.allPages(request) == expected, "\(shelf?.text ?? "all") by \(sort)")
                    let keys = Set(FilterKey.allCases.shuffled(using: &generator).prefix(2))
                    let values = Dictionary(
                        keys.map { ($0, $0.random(products, Self.euro, using: &generator)) }
                    ) { first, _ in first }
                    guard let filter = try? Filter({ values[$0] ?? [] }) else { continue }
                    request.filter = filter
                    (request.facets, request.wantsTotal, request.wantsMembers) = (Set(Facet.allCases), true, true)
                    let (page, specified) = (try await catalog.pages.page(request), try await memory.page(request))
                    let place = "\(shelf?.text ?? "all shelves") by \(sort.description) where \(filter.query)"
                    #expect(Self.cards(page) == Self.cards(specified), "\(place)")
                    #expect(page.facets == specified.facets && page.total == specified.total, "\(place)")
                }
            }
        }
    }

    @Test("Each change of a product, its group or its shelf is shown at once, and views follow it")
    func followsChanges() async throws {
        try await withShelves(seed: 2) { memory, catalog, products, generator in
            func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
            let sorts = ["price", "-price", "name", "brand,-price"].map { try! Sort.parse($0) }
            for round in 0..<120 {
                var product = products[number(products.count)]
                let kind = number(6)
                let price = Int64(number(900))
                product.priceMinor = price
                product.group = [nil, "a", "b/1", "new \(round)"][number(4)]
                (product.inStock, product.name) = (number(2) == 0, number(3) == 0 ? "Renamed \(round)" : product.name)
                let isDefault = number(2) == 0
                for catalog in [memory.storage, catalog.storage] {
                    switch kind {
                    case 0, 1, 2: _ = try await catalog.products.put(product, in: Self.store)
                    case 3:
                        _ = try await catalog.prices.setPrices(
                            [PriceChange(sku: product.sku, priceMinor: price)],
                            in: Self.store
                        )
                    case 4:
                        do { try await catalog.products.unplace(product.sku, from: Self.food, in: Self.store) } catch {
                            guard case CatalogError.notFound = error else { throw error }
                        }
                    default:
                        let food = Shelf(key: Self.food, title: "Food", collapsesGroups: isDefault)
                        _ = try await catalog.shelves.put(food, in: Self.store)
                        _ = try await catalog.products.place(product.sku, on: Self.food, in: Self.store)
                    }
                }
                var request = Self.request(Self.food, sorts[round % 4], limit: 100)
                request.includesDescendants = number(3) == 0
                request.collapsesGroups = [nil, true][number(2)]
                if number(2) == 0 { request.filter = try Filter(query: "in_stock=true") }
                (request.facets, request.wantsMembers) = ([.brand, .price], true)
                let (page, specified) = (try await catalog.pages.page(request), try await memory.page(request))
                #expect(Self.cards(page) == Self.cards(specified), "round \(round), kind \(kind)")
                #expect(page.facets == specified.facets, "round \(round), kind \(kind)")
            }
        }
    }

    @Test("Orders, diffs and ranks of groups match the specification, also with changed representatives")
    func ordersDiffsAndRanks() async throws {
        try await withShelves(seed: 3) { memory, catalog, products, generator in
            let sorts = ["price", "-price", "-name", "brand,-price", "created"].map { try! Sort.parse($0) }
            var changed = 0
            for round in 0..<20 {
                let requested = (0..<2).map { _ in
                    RequestedSort(
                        sort: sorts.randomElement(using: &generator)!,
                        filter: round % 3 == 0 ? try? Filter(query: "in_stock=true") : nil,
                        collapsesGroups: round % 5 > 0
                    )
                }
                let order = OrderRequest(address: ShelfAddress(Self.store, Self.food), requested: requested[0])
                let (found, expected) = (try await catalog.pages.order(order), try await memory.order(order))
                #expect(found.ids == expected.ids)
                let lists: [DiffRequest.Start] = [
                    .sort(requested[1]), .list(expected.ids.shuffled(using: &generator).dropLast(3) + ["group/gone"]),
                ]
                for from in lists {
                    for limit in [nil, 10] {
                        let request = DiffRequest(
                            store: Self.store,
                            shelf: Self.food,
                            from: from,
                            to: requested[0],
                            limit: limit
                        )
                        let (diff, specified) = (try await catalog.pages.diff(request), try await memory.diff(request))
                        #expect(Array(diff.old) == Array(specified.old) && Array(diff.new) == Array(specified.new))
                        // The specification compares lists of ids, which do not say which products represent them.
                        changed += diff.diff.changed.count
                        let entering = Set(diff.insertedIDs)
                        #expect(
                            Self.cards(diff.products.values.filter { entering.contains($0.id) })
                                == Self.cards(specified.products.values.filter { entering.contains($0.id) })
                        )
                        #expect(limit == nil || Set(diff.products.keys) == Set(diff.newIDs))
                    }
                }
                var page = PageRequest(store: Self.store, shelf: Self.food)
                page.requested = requested[0]
                let skus = products.shuffled(using: &generator).prefix(12).map(\.sku.text) + ["unknown"]
                let ranks = try await catalog.pages.ranks(RankRequest(page: page, skus: skus))
                let specified = try await memory.ranks(RankRequest(page: page, skus: skus))
                #expect(ranks.count == specified.count && ranks.ranks.map(Self.text) == specified.ranks.map(Self.text))
                for rank in ranks.ranks {
                    guard let index = rank.rank, let product = rank.product else { continue }
                    #expect(found.ids[index] == (requested[0].collapsesGroups == true ? product.cardID : rank.sku))
                }
            }
            #expect(changed > 0, "some groups have another representative")
        }
    }

    @Test("A page begins behind the place of its cursor although the product of the cursor has changed")
    func changesBetweenPages() async throws {
        try await withShelves(seed: 7) { memory, catalog, products, generator in
            func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
            let sorts = ["price", "-price", "name", "brand,-price"].map { try! Sort.parse($0) }
            var changes = 0
            for round in 0..<24 {
                let sort = sorts[round % 4]
                var request = Self.request(Self.food, sort, limit: 3)
                var page = try await catalog.pages.page(request)
                for _ in 0..<12 {
                    guard let next = page.next, let last = page.products.last else { break }
                    // The product of the cursor, or another one, changes before the next page.
                    let own = products.first { $0.sku == last.sku }
                    var product = try number(2) == 0 ? products[number(products.count)] : #require(own)
                    product.priceMinor = Int64(number(900))
                    product.group = [nil, "a", "b/1", "c\(number(9))"][number(4)]
                    product.inStock = number(2) == 0
                    for catalog in [memory.storage, catalog.storage] {
                        _ = try await catalog.products.put(product, in: Self.store)
                    }
                    if product.sku == last.sku, product.group != last.group { changes += 1 }
                    request.after = next
                    page = try await catalog.pages.page(request)
                    let plan = page.plan
                    func listing(_ product: Product) -> Listing {
                        Listing(product: product, position: [], isSoldOut: plan.sortsSoldOutLast && !product.inStock)
                    }
                    let whole = try await memory.page(Self.request(Self.food, sort, limit: 100))
                    let rest = whole.shown.filter {
                        sort.precedes(
                            listing(last),
                            listing($0.product),
                            dimension: plan.dimension,
                            collate: collator(plan.language)
                        )
                    }
                    #expect(Self.cards(page) == rest.prefix(3).map(Self.text), "round \(round)")
                    #expect((page.next == nil) == (rest.count <= 3), "round \(round)")
                }
            }
            #expect(changes > 0, "products of cursors got other groups")
        }
    }

    @Test("An order that is exported has all products, also if the shelf collapses groups by default")
    func exportedOrder() async throws {
        try await withShelves(seed: 6) { _, catalog, products, _ in
            for sort in [Sort(.price, .ascending), Sort(.position, .ascending)] {
                let whole = try await catalog.pages.order(Self.store, Self.food, sort).ids
                #expect(Set(whole).isSubset(of: products.map(\.sku.text)) && whole.count > 10)
                let food = Shelf(key: Self.food, title: "Food", collapsesGroups: true)
                _ = try await catalog.shelves.put(food, in: Self.store)
                #expect(try await catalog.pages.order(Self.store, Self.food, sort).ids == whole)
            }
            let page = try await catalog.pages.page(PageRequest(store: Self.store, shelf: Self.food, limit: 100))
            #expect(page.plan.collapsesGroups && page.shown.contains { $0.id.hasPrefix(GroupCard.idPrefix) })
        }
    }

    @Test("A group keeps its place among the ids of orders, so a diff between a sort and its mirror moves no id twice")
    func mirrors() async throws {
        try await withShelves(seed: 4) { _, catalog, _, _ in
            for key in [SortKey.price, .name, .created] {
                let sorts = [SortDirection.ascending, .descending].map {
                    RequestedSort(sort: Sort(key, $0), collapsesGroups: true)
                }
                let request = DiffRequest(store: Self.store, shelf: Self.food, from: .sort(sorts[0]), to: sorts[1])
                let diff = try await catalog.pages.diff(request)
                #expect(diff.diff.inserts.isEmpty && diff.diff.deletes.isEmpty && diff.diff.changed.isEmpty)
                #expect(Set(diff.old) == Set(diff.new) && Set(diff.new).count == diff.new.count)
            }
        }
    }

    @Test("The groups of a shelf have one entry in the memory of columns, whatever the order is")
    func memory() async throws {
        try await withShelves(seed: 5) { _, catalog, _, _ in
            _ = try await catalog.pages.page(Self.request(Self.food, .system))
            let use = catalog.shelfMemoryUse.columns
            #expect(use.count == 1 && use.size > 0)
            _ = try await catalog.pages.page(Self.request(Self.food, Sort(.price, .descending)))
            #expect(catalog.shelfMemoryUse.columns.count == 1)
        }
    }
}
