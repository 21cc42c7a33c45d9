internal import Ordering
internal import Synchronization

/// The executable specification of a catalog: everything in arrays, every order by `Sort.precedes`.
///
/// - Complexity: a page sorts its whole shelf.
package final class InMemoryCatalog: CatalogStore {
    struct ShelfContent {
        var shelf: Shelf
        var positions: [SKU: PathKey] = [:]
        var placed: Set<SKU> = []
        var settledDimension: Dimension = .mass
        var isRemoved = false
        var version: Int64 = 1
        var orderVersion: Int64 = 1
        /// How many changes of the manual order were made, and the last of them.
        var changes: Int64 = 0
        var history: [(change: OrderChange, lefts: [(id: String, left: String?)])] = []
        var modifiedAt: Timestamp
    }

    struct StoreContent {
        var store: Store
        var version: Int64 = 1
        var products: [SKU: Product] = [:]
        var shelves: [CatalogKey: ShelfContent] = [:]
        var shelfOrder: [CatalogKey] = []
        var shelfOrderVersion: Int64 = 1
        var answers = AnswerMemory()
    }

    private let content = Mutex<[CatalogKey: StoreContent]>([:])
    /// Of calls about no store.
    let answers = Mutex(AnswerMemory())
    let collate: Collator
    let clock: @Sendable () -> Timestamp

    package init(collate: @escaping Collator, clock: @escaping @Sendable () -> Timestamp = Timestamp.now) {
        self.collate = collate
        self.clock = clock
    }

    package func isReady() async -> Bool { true }

    // MARK: - Reading

    package func stores() async throws(CatalogError) -> [Store] {
        content.withLock { content in content.values.map(\.store).sorted { $0.key < $1.key } }
    }

    package func store(_ key: CatalogKey) async throws(CatalogError) -> Store { try read(key) { $0.store } }

    package func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage {
        let states = try read(request.store) { store in
            store.shelfOrder.compactMap { store.shelves[$0] }.filter { !$0.isRemoved }.map { self.state($0, store) }
        }
        let sorted: [ShelfState] =
            switch request.sort {
            case .position: states
            case .name, .nameDescending:
                states.sorted { a, b in
                    let order = collate(a.shelf.title, b.shelf.title)
                    let isBefore = order == 0 ? a.shelf.key < b.shelf.key : order < 0
                    return isBefore == (request.sort == .name)
                }
            case .modified, .modifiedDescending:
                states.sorted { a, b in
                    let isBefore = (a.modifiedAt, a.shelf.key) < (b.modifiedAt, b.shelf.key)
                    return isBefore == (request.sort == .modified)
                }
            }
        let start = request.after.flatMap { after in sorted.firstIndex { $0.shelf.key.text == after.id } }
        let rest = start.map { sorted[($0 + 1)...] } ?? sorted[...]
        let next = rest.count > request.limit ? rest.prefix(request.limit).last : nil
        return ShelvesPage(
            shelves: Array(rest.prefix(request.limit)),
            next: next.map {
                Cursor(scope: request.scope, sort: request.sort.rawValue, source: .query, id: $0.shelf.key.text)
            }
        )
    }

    package func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead {
        try read(store, shelf) { store, shelf in self.head(store, shelf) }
    }

    package func page(_ request: PageRequest) async throws(CatalogError) -> PageAnswer {
        let (head, listings) = try read(request.store, request.shelf) { store, shelf in
            (self.head(store, shelf), self.listings(store, shelf))
        }
        let plan = try request.plan(for: head)
        let tag = plan.entityTag(head, day: clock().day)
        if request.knownTags.contains(tag) { return .unchanged(tag: tag, source: plan.source) }
        let sorted = listings.sorted { plan.sort.precedes($0, $1, dimension: plan.dimension, collate: collate) }
        let start = plan.after.flatMap { after in sorted.firstIndex { $0.product.sku.text == after.id } }
        let rest = start.map { sorted[($0 + 1)...] } ?? sorted[...]
        return .page(
            ShelfPage(head: head, plan: plan, scope: request.scope, listings: Array(rest.prefix(plan.limit + 1))),
            tag: tag
        )
    }

    package func withOrders<T: Sendable>(
        of shelf: CatalogKey,
        in store: CatalogKey,
        by sorts: [Sort?],
        first limit: Int?,
        _ body: @escaping @Sendable ([ShelfOrder], (_ ids: [String]) throws -> [Product]) throws -> T
    ) async throws(CatalogError) -> T {
        let (head, listings) = try read(store, shelf) { store, shelf in
            (self.head(store, shelf), self.listings(store, shelf))
        }
        let orders = sorts.map { sort in
            let (order, source) = sort.map { ($0, SortSource.query) } ?? head.defaultSort
            let ids = listings.sorted {
                order.precedes($0, $1, dimension: head.state.comparisonDimension, collate: collate)
            }.map(\.product.sku.text)
            return ShelfOrder(
                head: head,
                sort: order,
                source: source,
                ids: limit.map { Array(ids.prefix($0)) } ?? ids
            )
        }
        do {
            return try body(orders) { ids in
                let wanted = Set(ids)
                return listings.map(\.product).filter { wanted.contains($0.sku.text) }
            }
        } catch {
            throw error as? CatalogError ?? .fault(String(reflecting: error))
        }
    }

    package func product(_ store: CatalogKey, _ sku: SKU) async throws(CatalogError) -> PlacedProduct {
        try read(store) { content throws(CatalogError) in
            guard let product = content.products[sku] else { throw .notFound("product “\(sku)”") }
            let shelves = content.shelves.values.filter { $0.placed.contains(sku) }.map(\.shelf.key).sorted()
            return PlacedProduct(store: content.store, product: product, shelves: shelves)
        }
    }

    package func products(_ store: CatalogKey, _ skus: [SKU]) async throws(CatalogError) -> ProductsPage {
        try read(store) { content in
            ProductsPage(store: content.store, products: skus.compactMap { content.products[$0] }, next: nil)
        }
    }

    package func products(_ store: CatalogKey, after: Cursor?, limit: Int) async throws(CatalogError) -> ProductsPage {
        try read(store) { content in
            let last = after.flatMap { SKU($0.id) }
            let rest = content.products.values.sorted { $0.sku < $1.sku }.filter { product in
                last.map { $0 < product.sku } ?? true
            }
            let next = rest.count > limit ? rest[limit - 1].sku.text : nil
            return ProductsPage(
                store: content.store,
                products: Array(rest.prefix(limit)),
                next: next.map { Cursor(scope: Self.productsScope(store), sort: "sku", source: .query, id: $0) }
            )
        }
    }

    // MARK: - Writing

    package func put(_ store: Store) async throws(CatalogError) -> Bool {
        let result: Result<Bool, CatalogError> = content.withLock { content in
            let old = content[store.key]
            if let old, old.store.currency != store.currency,
                old.products.values.contains(where: { $0.priceMinor != nil || $0.regularPriceMinor != nil })
            {
                return .failure(.currencyInUse(old.store))
            }
            content[store.key, default: StoreContent(store: store)].store = store
            content[store.key]!.version += 1
            return .success(old == nil)
        }
        return try result.get()
    }

    package func put(
        _ shelf: Shelf,
        in store: CatalogKey,
        replacing expected: Int64?
    ) async throws(CatalogError) -> Bool {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            if let expected, expected != content.shelves[shelf.key]?.version {
                throw .conflict("the shelf was changed at the same time; try again")
            }
            if let parent = shelf.parent, content.shelves[parent].map({ $0.isRemoved }) ?? true {
                throw .unprocessable(field: "parent", detail: "there is no shelf “\(parent)”")
            }
            let wasThere = content.shelves[shelf.key].map { !$0.isRemoved } ?? false
            if content.shelves[shelf.key] == nil { content.shelfOrder.append(shelf.key) }
            content.shelves[shelf.key, default: ShelfContent(shelf: shelf, modifiedAt: now)].shelf = shelf
            content.shelves[shelf.key]!.isRemoved = false
            content.shelves[shelf.key]!.version += 1
            return !wasThere
        }
    }

    package func put(
        _ product: Product,
        in store: CatalogKey,
        pricedIn currency: Currency?,
        replacing expected: Timestamp?
    ) async throws(CatalogError) -> Bool {
        let now = clock()
        return try write(store) { content throws(CatalogError) in
            if let currency, currency != content.store.currency { throw .currencyChanged(content.store) }
            var product = product
            let old = content.products[product.sku]
            if let expected, expected != old?.modifiedAt {
                throw .conflict("the product was changed at the same time; try again")
            }
            product.createdAt = old?.createdAt ?? now
            product.popularity = old?.popularity ?? .none
            product.modifiedAt = now
            content.products[product.sku] = product
            for key in content.shelves.keys where content.shelves[key]!.placed.contains(product.sku) {
                content.shelves[key]!.version += 1
            }
            return old == nil
        }
    }

    /// Puts a product as it is, its times and popularity too: for tests that choose them.
    package func seed(_ product: Product, in store: CatalogKey, on shelves: [CatalogKey]) throws(CatalogError) {
        try write(store) { content in content.products[product.sku] = product }
        for shelf in shelves { _ = try placeNow(product.sku, shelf, store) }
    }

    /// Sets the dimension that most products of a shelf have, as imports do.
    package func settleDimension(of shelf: CatalogKey, in store: CatalogKey) throws(CatalogError) {
        try write(store) { content in
            guard let placed = content.shelves[shelf]?.placed else { return }
            var counts: [Dimension: Int] = [:]
            for sku in placed {
                if let dimension = content.products[sku]?.unitPrice?.dimension { counts[dimension, default: 0] += 1 }
            }
            let best = Dimension.allCases.max { a, b in
                (counts[a] ?? 0, -a.ordinal) < (counts[b] ?? 0, -b.ordinal)
            }
            content.shelves[shelf]!.settledDimension = best!
        }
    }

    package func remove(product sku: SKU, from store: CatalogKey) async throws(CatalogError) {
        try write(store) { content throws(CatalogError) in
            guard content.products.removeValue(forKey: sku) != nil else { throw .notFound("product “\(sku)”") }
            for key in content.shelves.keys where content.shelves[key]!.placed.remove(sku) != nil {
                content.shelves[key]!.version += 1
            }
        }
    }

    package func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError) {
        try write(store) { content throws(CatalogError) in
            guard let old = content.shelves[shelf], !old.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            guard !content.shelves.values.contains(where: { !$0.isRemoved && $0.shelf.parent == shelf }) else {
                throw .conflict("shelf “\(shelf)” has shelves under it")
            }
            content.shelves[shelf]!.isRemoved = true
            content.shelves[shelf]!.placed = []
            content.shelves[shelf]!.version += 1
        }
    }

    package func place(_ sku: SKU, on shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) -> Bool {
        try placeNow(sku, shelf, store)
    }

    private func placeNow(_ sku: SKU, _ shelf: CatalogKey, _ store: CatalogKey) throws(CatalogError) -> Bool {
        try write(store) { content throws(CatalogError) in
            guard content.products[sku] != nil else { throw .notFound("product “\(sku)”") }
            guard var old = content.shelves[shelf], !old.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            guard old.placed.insert(sku).inserted else { return false }
            if old.positions[sku] == nil {
                old.positions[sku] = PathKey.appending(1, after: old.positions.values.max())[0]
            }
            old.version += 1
            old.orderVersion += 1
            content.shelves[shelf] = old
            return true
        }
    }

    package func unplace(_ sku: SKU, from shelf: CatalogKey, in store: CatalogKey) async throws(CatalogError) {
        try write(store) { content throws(CatalogError) in
            guard let old = content.shelves[shelf], !old.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            guard content.shelves[shelf]!.placed.remove(sku) != nil else {
                throw .notFound("product “\(sku)” on shelf “\(shelf)”")
            }
            content.shelves[shelf]!.version += 1
            content.shelves[shelf]!.orderVersion += 1
        }
    }

    // MARK: - Parts

    func listings(_ store: StoreContent, _ shelf: ShelfContent) -> [Listing] {
        let sinks = (shelf.shelf.soldOut ?? store.store.soldOut) == .last
        return shelf.placed.compactMap { sku in
            guard let product = store.products[sku], let position = shelf.positions[sku] else { return nil }
            return Listing(product: product, position: position.bytes, isBehind: sinks && !product.inStock)
        }
    }

    func head(_ store: StoreContent, _ shelf: ShelfContent) -> ShelfHead {
        ShelfHead(store: store.store, storeVersion: store.version, state: state(shelf, store))
    }

    private func state(_ content: ShelfContent, _ store: StoreContent) -> ShelfState {
        var inherited: Sort?
        var parent = content.shelf.parent
        while inherited == nil, let key = parent, let ancestor = store.shelves[key] {
            inherited = ancestor.shelf.defaultSort
            parent = ancestor.shelf.parent
        }
        return ShelfState(
            shelf: content.shelf,
            productCount: content.placed.count,
            comparisonDimension: content.shelf.dimension ?? content.settledDimension,
            inheritedSort: inherited,
            modifiedAt: content.modifiedAt,
            version: content.version,
            orderVersion: content.orderVersion
        )
    }

    func read<T: Sendable>(
        _ key: CatalogKey,
        _ body: (StoreContent) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        guard let store = content.withLock({ $0[key] }) else { throw .notFound("store “\(key)”") }
        return try body(store)
    }

    func read<T: Sendable>(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ body: (StoreContent, ShelfContent) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        try read(store) { content throws(CatalogError) in
            guard let found = content.shelves[shelf], !found.isRemoved else { throw .notFound("shelf “\(shelf)”") }
            return try body(content, found)
        }
    }

    func write<T: Sendable>(
        _ key: CatalogKey,
        _ body: (inout StoreContent) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        let result: Result<T, CatalogError> = content.withLock { content in
            guard var store = content[key] else { return .failure(.notFound("store “\(key)”")) }
            do throws(CatalogError) {
                let value = try body(&store)
                content[key] = store
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
