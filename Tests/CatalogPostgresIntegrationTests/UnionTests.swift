import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import InMemoryCatalog
import LibPQ
import Ordering
import Testing
import TestSupport

/// Pages of a shelf with all shelves below it match the in-memory catalog, while products, shelves and settings change.
@Suite(.timeLimit(.minutes(15))) struct UnionTests {
    private static let store = CatalogKey("shop")!
    /// The shelves, each with its parent: food has dairy and bread, dairy has cheese.
    private static let shelves: [(key: CatalogKey, parent: CatalogKey?)] = [
        ("food", nil), ("dairy", "food"), ("cheese", "dairy"), ("bread", "food"), ("wine", nil),
    ].map { (CatalogKey($0)!, $1.map { CatalogKey($0)! }) }
    private static let food = shelves[0].key

    /// Runs a body on two equal catalogs, whose products are on several shelves each.
    private func withShelves(
        seed: UInt64,
        _ body: (InMemoryCatalog, PostgresCatalog, [Product], inout SeededGenerator) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var generator = SeededGenerator(seed: seed)
            let products = (0..<80).map { Product.random($0, using: &generator) }
            let memory = InMemoryCatalog(collate: collator)
            let both: [CatalogStorage] = [memory.storage, catalog.storage]
            for catalog in both {
                _ = try await catalog.shelves.put(Store(key: Self.store, title: "Shop", currency: Currency("EUR")!))
                for (key, parent) in Self.shelves {
                    _ = try await catalog.shelves.put(Shelf(key: key, title: key.text, parent: parent), in: Self.store)
                }
            }
            for product in products {
                let chosen = Self.shelves.map(\.key).filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
                try memory.seed(product, in: Self.store, on: chosen)
                for (number, shelf) in chosen.enumerated() {
                    if number == 0 {
                        try await catalog.seed([product], on: shelf, in: Self.store)
                    } else {
                        _ = try await catalog.products.place(product.sku, on: shelf, in: Self.store)
                    }
                }
                if chosen.isEmpty { _ = try await catalog.products.put(product, in: Self.store) }
            }
            // Placements on further shelves got the scores of before the products were seeded.
            try await catalog.database.writes.perform {
                _ = try $0.execute(
                    """
                    UPDATE placement p SET popularity_log2 = r.popularity_log2 FROM product r
                    WHERE r.store_id = p.store_id AND r.sku = p.sku
                    """
                )
            }
            try await body(memory, catalog, products, &generator)
        }
    }

    /// - Parameter shelf: nil for all shelves of the store.
    private static func request(_ shelf: CatalogKey?, _ sort: Sort?, limit: Int = 7) -> PageRequest {
        var request = PageRequest(store: store, shelf: shelf, sort: sort, limit: limit)
        if shelf != nil { request.includesDescendants = true }
        return request
    }

    /// Returns the products of all pages as the specification shows them, which sorts all shelves again for each page.
    private static func all(_ request: PageRequest, of memory: InMemoryCatalog) async throws -> [String] {
        var whole = request
        whole.limit = 100
        return try await memory.allPages(whole)
    }

    @Test("Each product is shown once, in every sort, with filters, facets and totals")
    func matchesSpecification() async throws {
        try await withShelves(seed: 1) { memory, catalog, products, generator in
            let sorts =
                Sort.allSingle.filter { !$0.readsPositions }
                + ["brand,-price", "-unit_price,tags"].map { try! Sort.parse($0) }
            for shelf in Self.shelves.map(\.key) + [nil] {
                for sort in sorts {
                    var request = Self.request(shelf, sort)
                    let expected = try await Self.all(request, of: memory)
                    #expect(Set(expected).count == expected.count)
                    #expect(try await catalog.pages.allPages(request) == expected, "\(shelf?.text ?? "all") by \(sort)")
                    let keys = Set(FilterKey.allCases.shuffled(using: &generator).prefix(2))
                    let values = Dictionary(
                        keys.map { ($0, $0.random(products, Currency("EUR")!, using: &generator)) }
                    ) { first, _ in first }
                    guard let filter = try? Filter({ values[$0] ?? [] }) else { continue }
                    request.filter = filter
                    (request.facets, request.wantsTotal) = (Set(Facet.allCases), true)
                    let (page, specified) = (try await catalog.pages.page(request), try await memory.page(request))
                    let place = "\(shelf?.text ?? "all shelves") by \(sort.description) where \(filter.query)"
                    #expect(page.products.map(\.sku) == specified.products.map(\.sku), "\(place)")
                    #expect(page.products.map(\.popularity) == specified.products.map(\.popularity), "\(place)")
                    #expect(page.facets == specified.facets, "\(place)")
                    #expect(page.total == specified.total, "\(place)")
                    #expect(page.plan.dimension == specified.plan.dimension, "\(place)")
                }
            }
        }
    }

    @Test(
        "Every change of a shelf below, of the tree, the rule for sold-out products and the language is shown at once"
    )
    func followsChanges() async throws {
        try await withShelves(seed: 2) { memory, catalog, products, generator in
            let both: [CatalogStorage] = [memory.storage, catalog.storage]
            func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }
            for round in 0..<120 {
                var product = products[number(products.count)]
                let shelf = Self.shelves[number(Self.shelves.count)].key
                let kind = number(7)
                product.priceMinor = Int64(number(900))
                product.inStock = number(2) == 0
                let parent = [nil, Self.food][number(2)]
                let languages = ["sv", "hr", "root"][number(3)]
                let soldOut: SoldOut = number(2) == 0 ? .last : .mixed
                let isDefault = number(2) == 0
                for catalog in both {
                    do {
                        switch kind {
                        case 0, 1: _ = try await catalog.products.put(product, in: Self.store)
                        case 2: _ = try await catalog.products.place(product.sku, on: shelf, in: Self.store)
                        case 3: try await catalog.products.unplace(product.sku, from: shelf, in: Self.store)
                        case 4:
                            let bread = Shelf(key: CatalogKey("bread")!, title: "bread", parent: parent)
                            _ = try await catalog.shelves.put(bread, in: Self.store)
                        case 5:
                            var store = try await catalog.shelves.store(Self.store)
                            store.collation = languages
                            _ = try await catalog.shelves.put(store)
                        default:
                            let food = Shelf(
                                key: Self.food,
                                title: "food",
                                soldOut: soldOut,
                                includesDescendants: isDefault
                            )
                            _ = try await catalog.shelves.put(food, in: Self.store)
                        }
                    } catch CatalogError.notFound {}
                }
                let sorts = ["name", "-price,brand", "unit_price"].map { try! Sort.parse($0) }
                var request = Self.request([Self.food, CatalogKey("dairy")!, nil][number(3)], sorts[round % 3])
                if request.shelf != nil { request.includesDescendants = [nil, true][number(2)] }
                let expected = try await Self.all(request, of: memory)
                #expect(try await catalog.pages.allPages(request) == expected, "round \(round), kind \(kind)")
            }
        }
    }

    @Test("Whole orders and diffs of several shelves match the specification")
    func ordersAndDiffs() async throws {
        try await withShelves(seed: 7) { memory, catalog, products, generator in
            let sorts = ["price", "-name", "brand,-price", "unit_price"].map { try! Sort.parse($0) }
            for shelf in Self.shelves.map(\.key) {
                let (first, second) = (sorts.randomElement(using: &generator)!, sorts.randomElement(using: &generator)!)
                var order = OrderRequest(
                    address: ShelfAddress(Self.store, shelf),
                    requested: RequestedSort(sort: first)
                )
                order.includesDescendants = true
                let (found, expected) = (try await catalog.pages.order(order), try await memory.order(order))
                #expect(found.ids == expected.ids, "\(shelf) by \(first.description)")
                #expect(found.version == nil && !String(decoding: found.json, as: UTF8.self).contains("version"))
                let lists: [DiffRequest.Start] = [
                    .sort(RequestedSort(sort: second)), .list(expected.ids.shuffled(using: &generator).dropLast(3)),
                ]
                for from in lists {
                    for limit in [nil, 10] {
                        var request = DiffRequest(
                            store: Self.store,
                            shelf: shelf,
                            from: from,
                            to: RequestedSort(sort: first),
                            limit: limit
                        )
                        request.includesDescendants = true
                        let (diff, specified) = (try await catalog.pages.diff(request), try await memory.diff(request))
                        #expect(Array(diff.old) == Array(specified.old) && Array(diff.new) == Array(specified.new))
                        #expect(Set(diff.products.keys) == Set(specified.products.keys))
                        #expect(diff.fromVersion == nil && diff.toVersion == nil)
                    }
                }
            }
            // A product that changes also changes the tag of a diff between two orders.
            var request = DiffRequest(
                store: Self.store,
                shelf: Self.food,
                from: .sort(RequestedSort(sort: sorts[0])),
                to: RequestedSort(sort: sorts[1])
            )
            request.includesDescendants = true
            let page = request.page
            let tag = request.entityTag(try await catalog.pages.diff(request), mediaType: "x")
            #expect(request.entityTag(try await catalog.pages.basis(of: page), mediaType: "x") == tag)
            let placed = try #require(try await catalog.pages.allPages(Self.request(Self.food, .system)).first)
            var changed = try #require(products.first { $0.sku.text == placed })
            changed.name += " changed"
            _ = try await catalog.products.put(changed, in: Self.store)
            #expect(request.entityTag(try await catalog.pages.basis(of: page), mediaType: "x") != tag)
            for (from, to, name) in [(sorts[0], Sort.position, "to_sort"), (.position, sorts[0], "from_sort")] {
                (request.from, request.to) = (.sort(RequestedSort(sort: from)), RequestedSort(sort: to))
                await #expect {
                    try await catalog.pages.diff(request)
                } throws: { "\($0)".contains(name) }
            }
        }
    }

    @Test("A shelf that includes its descendants shows them to requests that do not ask for the manual order")
    func defaultUnion() async throws {
        try await withShelves(seed: 8) { _, catalog, _, _ in
            let price = Sort(.price, .ascending)!
            var request = Self.request(Self.food, price)
            let union = try await catalog.pages.allPages(request)
            request.includesDescendants = false
            let own = try await catalog.pages.allPages(request)
            #expect(own.count < union.count)
            request.includesDescendants = nil
            #expect(try await catalog.pages.allPages(request) == own)
            let cursor = try await catalog.pages.page(request).next
            let food = Shelf(key: Self.food, title: "food", includesDescendants: true)
            _ = try await catalog.shelves.put(food, in: Self.store)
            #expect(try await catalog.shelves.shelf(Self.store, Self.food).state.shelf == food)
            // Also from what the server remembers of the shelf.
            for _ in 0..<2 { #expect(try await catalog.pages.allPages(request) == union) }
            // The next page shows what the first one did.
            request.after = cursor
            #expect(try await catalog.pages.page(request).plan.union == nil)
            request.after = nil
            request.sort = .position
            for _ in 0..<2 { #expect(Set(try await catalog.pages.allPages(request)) == Set(own)) }
            request.sort = price
            #expect(try await catalog.pages.page(request).plan.union != nil)
            func order(_ sort: Sort) -> OrderRequest {
                OrderRequest(address: ShelfAddress(Self.store, Self.food), requested: RequestedSort(sort: sort))
            }
            #expect(try await catalog.pages.order(order(price)).ids == union)
            #expect(Set(try await catalog.pages.order(order(.position)).ids) == Set(own))
            let diff = DiffRequest(
                store: Self.store,
                shelf: Self.food,
                from: .sort(RequestedSort(sort: .position)),
                to: RequestedSort(sort: price)
            )
            // One of them is the manual order, so both are those of the shelf itself.
            #expect(try await catalog.pages.diff(diff).diff.inserts.isEmpty)
            // The manual order is edited as on any shelf.
            let edit = OrderEditRequest(store: Self.store, shelf: Self.food, edit: .snapshot(price))
            _ = try await catalog.manualOrder.editOrder(edit, once: nil)
            #expect(try await catalog.pages.order(order(.position)).ids == own)
            _ = try await catalog.shelves.put(Shelf(key: Self.food, title: "food"), in: Self.store)
            #expect(try await catalog.pages.allPages(request) == own)
        }
    }

    @Test("A page of a union has its own cursors and tags, and shows no manual order")
    func contexts() async throws {
        try await withShelves(seed: 3) { _, catalog, _, _ in
            var union = Self.request(Self.food, .system)
            let page = try await catalog.pages.page(union)
            union.after = page.next
            _ = try await catalog.pages.page(union)
            union.includesDescendants = false
            await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(union) }
            union.after = nil
            let own = try await catalog.pages.page(union)
            #expect(own.planned.entityTag(day: 1) != page.planned.entityTag(day: 1))
            #expect(own.products.map(\.sku) != page.products.map(\.sku))
            await #expect {
                try await catalog.pages.page(Self.request(Self.food, .position))
            } throws: { "\($0)".contains("position is the order of one shelf") }
            // A default manual order does not apply to several shelves; the store's sort does.
            var store = try await catalog.shelves.store(Self.store)
            store.defaultSort = Sort(.price, .ascending)
            _ = try await catalog.shelves.put(store)
            let food = Shelf(key: Self.food, title: "food", defaultSort: .position)
            _ = try await catalog.shelves.put(food, in: Self.store)
            let sorted = try await catalog.pages.page(Self.request(Self.food, nil))
            #expect(sorted.plan.sort == store.defaultSort)
            #expect(sorted.plan.source == .store)
            // The same for sorts that a user remembers.
            let user = UserID("u")!
            let keys = [SettingKey.sort(in: Self.store), .sort(of: Self.food, in: Self.store)]
            let remembered = zip(keys, ["brand", "position"]).map { SettingsEdit.Write($0, .string($1)) }
            _ = try await catalog.settings.edit(SettingsEdit(remembered), of: user)
            var remembering = Self.request(Self.food, nil)
            remembering.user = user
            #expect(try await catalog.pages.page(remembering).plan.sort == Sort(.brand, .ascending)!)
            remembering.includesDescendants = false
            #expect(try await catalog.pages.page(remembering).plan.sort == .position)
            // A change of a shelf below changes the tag, and a change of another shelf does not.
            let tag = sorted.planned.entityTag(day: 1)
            let wine = try await catalog.pages.page(Self.request(CatalogKey("wine")!, nil)).planned.entityTag(day: 1)
            let cheese = CatalogKey("cheese")!
            _ = try await catalog.shelves.put(
                Shelf(key: cheese, title: "Cheeses", parent: CatalogKey("dairy")!),
                in: Self.store
            )
            #expect(try await catalog.pages.basis(of: Self.request(Self.food, nil)).union != sorted.planned.basis.union)
            #expect(try await catalog.pages.page(Self.request(Self.food, nil)).planned.entityTag(day: 1) != tag)
            #expect(
                try await catalog.pages.page(Self.request(CatalogKey("wine")!, nil)).planned.entityTag(day: 1) == wine
            )
            await #expect(throws: CatalogError.self) {
                try await catalog.pages.page(Self.request(CatalogKey("none")!, nil))
            }
        }
    }

    @Test("A page of all shelves of a store has the store's settings, and cursors and tags of its own")
    func allShelves() async throws {
        try await withShelves(seed: 9) { _, catalog, _, _ in
            let price = Sort(.price, .ascending)!
            var store = try await catalog.shelves.store(Self.store)
            store.defaultSort = price
            _ = try await catalog.shelves.put(store)
            let user = UserID("u")!
            // The name of the store is also that of a shelf, whose settings do not apply.
            _ = try await catalog.shelves.put(
                Shelf(key: Self.store, title: "Shop", defaultSort: .system),
                in: Self.store
            )
            let own = SettingsEdit.Write(.sort(of: Self.store, in: Self.store), .string("brand"))
            _ = try await catalog.settings.edit(SettingsEdit([own]), of: user)
            var request = Self.request(nil, nil)
            request.user = user
            let page = try await catalog.pages.page(request)
            #expect(page.plan.sort == price)
            #expect(page.plan.source == .store)
            _ = try await catalog.settings.edit(
                SettingsEdit([.init(.sort(in: Self.store), .string("-name"))]),
                of: user
            )
            #expect(try await catalog.pages.page(request).plan.sort == Sort(.name, .descending)!)
            // A cursor works with all shelves only, and the other way round.
            request.user = nil
            request.after = page.next
            #expect(try await catalog.pages.page(request).plan.sort == price)
            for shelf in [Self.food, Self.store] {
                request.shelf = shelf
                await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(request) }
            }
            request = Self.request(nil, price)
            request.after = try await catalog.pages.page(Self.request(Self.food, price)).next
            await #expect(throws: CatalogError.invalidCursor) { try await catalog.pages.page(request) }
            await #expect {
                try await catalog.pages.page(Self.request(nil, .position))
            } throws: { "\($0)".contains("position is the order of one shelf") }
            // Every shelf changes the tag.
            let tag = page.planned.entityTag(day: 1)
            _ = try await catalog.shelves.put(Shelf(key: CatalogKey("new")!, title: "New"), in: Self.store)
            #expect(try await catalog.pages.page(Self.request(nil, nil)).planned.entityTag(day: 1) != tag)
        }
    }

    @Test("A store without shelves has an empty page, and a missing store none")
    func noShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            await #expect(throws: CatalogError.self) { try await catalog.pages.page(Self.request(nil, .system)) }
            _ = try await catalog.shelves.put(Store(key: Self.store, title: "Shop", currency: Currency("EUR")!))
            var request = Self.request(nil, .system)
            (request.facets, request.wantsTotal) = (Set(Facet.allCases), true)
            let page = try await catalog.pages.page(request)
            #expect(page.products.isEmpty && page.next == nil && page.total == 0)
        }
    }

    @Test("A product whose shelves have different scores is shown once, with the score by which it is sorted")
    func differentScores() async throws {
        try await withShelves(seed: 5) { _, catalog, _, _ in
            try await catalog.database.writes.perform {
                _ = try $0.execute("UPDATE placement SET popularity_log2 = shelf_id")
                _ = try $0.execute("UPDATE shelf SET version = version + 1")
            }
            let page = try await catalog.pages.page(Self.request(Self.food, .system, limit: 100))
            #expect(Set(page.products.map(\.sku)).count == page.products.count)
            let available = page.products.filter(\.inStock).map(\.popularity.log2)
            #expect(available == available.sorted(by: >))
            #expect(Set(available).count > 1)
        }
    }

    @Test("Many requests for a union that changes get full pages, each from one state")
    func concurrentRequests() async throws {
        try await withShelves(seed: 6) { _, catalog, products, _ in
            let whole = Set(try await catalog.pages.allPages(Self.request(Self.food, .system, limit: 100)))
            let sort = Sort(.price, .ascending)!
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 0..<60 {
                        var product = products[round]
                        product.priceMinor = Int64(round)
                        _ = try await catalog.products.put(product, in: Self.store)
                    }
                }
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<30 {
                            let page = try await catalog.pages.page(Self.request(Self.food, sort, limit: 100))
                            #expect(Set(page.products.map(\.sku.text)) == whole)
                            let prices = page.products.filter(\.inStock).map { $0.priceMinor ?? .max }
                            #expect(prices == prices.sorted())
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("Pages read while products move between shelves show each product once")
    func concurrentMoves() async throws {
        try await withShelves(seed: 4) { _, catalog, _, _ in
            let (cheese, bread) = (CatalogKey("cheese")!, CatalogKey("bread")!)
            let moved = Product(sku: SKU("moved")!, name: "Moved", priceMinor: 1)
            _ = try await catalog.products.put(moved, in: Self.store)
            _ = try await catalog.products.place(moved.sku, on: cheese, in: Self.store)
            let count = try await catalog.pages.allPages(Self.request(Self.food, .system, limit: 100)).count
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for round in 0..<40 {
                        let (old, new) = round % 2 == 0 ? (cheese, bread) : (bread, cheese)
                        _ = try await catalog.products.place(moved.sku, on: new, in: Self.store)
                        try await catalog.products.unplace(moved.sku, from: old, in: Self.store)
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<60 {
                            let page = try await catalog.pages.page(Self.request(Self.food, .system, limit: 100))
                            let skus = page.products.map(\.sku)
                            #expect(Set(skus).count == skus.count)
                            #expect(skus.count == count)
                            #expect(skus.contains(moved.sku))
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
