package import Catalog
internal import Ordering
internal import Synchronization

/// The executable specification of a catalog: all data in arrays, all orders by `Sort.precedes`.
///
/// - Complexity: a page sorts its whole shelf.
package final class InMemoryCatalog: ShelfStore, ProductStore, PageStore, ManualOrderStore, PurchaseStore, PriceStore,
    SettingsStore, UserStore, ListStore, VersionStore, ResponseStore, ImportProfileStore, AttributeStore, SynonymStore,
    SuggestionStore, AuditStore, ReadinessSource, StateSource
{
    struct ShelfContent {
        var shelf: Shelf
        var positions: [SKU: PathKey] = [:]
        var placed: Set<SKU> = []
        var settledDimension: Dimension = .mass
        var isRemoved = false
        /// Whether this is all shelves of the store, in which products are placed on none.
        var isAllShelves = false
        var version: Int64 = 1
        var orderVersion: Int64 = 1
        /// The number of changes of the manual order, and the latest ones.
        var changes: Int64 = 0
        var history: [(change: OrderChange, lefts: [(id: String, left: String?)])] = []
        var modifiedAt: Timestamp

        /// Marks the shelf as deleted. Its positions stay, for products that return.
        mutating func remove() {
            isRemoved = true
            placed = []
            history = []
            version += 1
            orderVersion += 1
        }
    }

    struct StoreContent {
        var store: Store
        var isRemoved = false
        var version: Int64 = 1
        var products: [SKU: Product] = [:]
        var shelves: [CatalogKey: ShelfContent] = [:]
        var shelfOrder: [CatalogKey] = []
        var shelfOrderVersion: Int64 = 1
        var responses = RecordedResponses()
        /// Purchases by event id. The tests have a separate oracle for their sums.
        var purchases: [String: Purchase] = [:]
        var audit: [AuditEntry] = []
        var attributes: [AttributeName: AttributeDeclaration] = [:]
        var synonyms: Synonyms?
    }

    let content = Mutex<[CatalogKey: StoreContent]>([:])
    /// Responses of calls that do not belong to a store.
    let responses = Mutex(RecordedResponses())
    let users = Mutex<[UserID: UserContent]>([:])
    let userLogs = Mutex(UserLogs())
    let profiles = Mutex<[CatalogKey: SavedImportProfile]>([:])
    let deploymentAttributes = Mutex<[AttributeName: AttributeDeclaration]>([:])
    let deploymentSynonyms = Mutex<Synonyms?>(nil)
    /// Grows with each change of the deployment's synonyms.
    let synonymRevision = Mutex<Int64>(0)
    /// Grows with each change of the deployment's attributes.
    let attributeRevision = Mutex<Int64>(0)
    /// Returns the order of texts in a language.
    let collate: @Sendable (_ language: String) -> Collator
    let clock: @Sendable () -> Timestamp

    package var storage: CatalogStorage {
        CatalogStorage(
            shelves: self,
            products: self,
            attributes: self,
            synonyms: self,
            suggestions: self,
            pages: self,
            manualOrder: self,
            purchases: self,
            prices: self,
            settings: self,
            users: self,
            lists: self,
            versions: self,
            responses: self,
            importProfiles: self,
            audit: self,
            readiness: self,
            states: self
        )
    }

    package init(
        collate: @escaping @Sendable (String) -> Collator,
        clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.collate = collate
        self.clock = clock
    }

    package func readiness() async -> Readiness { .ready }

    /// The token of all states, because every read returns the current one.
    package static let state = StateToken([1])

    package func token(including tokens: [StateToken]) -> StateToken? {
        !tokens.isEmpty && tokens.allSatisfy { $0 == Self.state } ? Self.state : nil
    }

    package func performReads<T>(after token: StateToken?, _ body: () async throws -> T) async throws -> T {
        try await body()
    }

    package func performWrites<T>(
        _ body: (_ token: @Sendable () async -> StateToken) async throws -> T
    ) async throws -> T {
        try await body { Self.state }
    }

    // MARK: - Reading

    package func stores() async throws(CatalogError) -> [Store] {
        content.withLock { content in
            content.values.filter { !$0.isRemoved }.map(\.store).sorted { $0.key < $1.key }
        }
    }

    package func store(_ key: CatalogKey) async throws(CatalogError) -> Store { try read(key) { $0.store } }

    package func shelves(_ request: ShelvesRequest) async throws(CatalogError) -> ShelvesPage {
        let (states, language) = try read(request.store) { store in
            let shelves = store.shelfOrder.compactMap { store.shelves[$0] }.filter { !$0.isRemoved }
            return (shelves.map { self.state($0, store) }, store.store.language)
        }
        if let after = request.after, after.scope != request.scope(in: language) { throw .invalidCursor }
        let collate = collate(language)
        let sorted: [ShelfState] =
            switch request.sort {
            case .position: states
            case .name, .nameDescending:
                states.sorted { a, b in
                    let order = collate(a.shelf.title, b.shelf.title)
                    let (x, y) = (a.shelf.title, b.shelf.title)
                    let isBefore =
                        order != 0
                        ? order < 0 : x == y ? a.shelf.key < b.shelf.key : x.utf8.lexicographicallyPrecedes(y.utf8)
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
                Cursor(
                    scope: request.scope(in: language),
                    sort: request.sort.rawValue,
                    source: .query,
                    id: $0.shelf.key.text
                )
            }
        )
    }

    package func shelf(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> ShelfHead {
        try read(store, shelf) { store, shelf in self.head(store, shelf) }
    }

    package func read(
        _ request: PageRequest,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws(CatalogError) -> ShelfRead {
        let shelf = try await currentUnion(request)
        if shelf.basis.union != nil { return .union }
        return try isAnswered(shelf.basis) ? .answered(shelf.basis) : .shelf(shelf)
    }

    package func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        let shared = deploymentSynonyms.withLock { $0 } ?? .none
        let (basis, listings, own) = try read(request) { store, shelf in
            (
                self.basis(
                    self.head(store, shelf),
                    request,
                    self.union(request, store, shelf),
                    self.resolvedAttributes(of: store)
                ),
                self.listings(request, store, shelf), store.synonyms
            )
        }
        return SpecifiedShelf(
            basis: basis,
            listings: listings,
            collate: collate(basis.head.store.language),
            synonyms: shared.adding(own ?? .none)
        )
    }

    /// The shelves of a page with descendants; nil for a page of one shelf.
    private func union(_ request: PageRequest, _ store: StoreContent, _ shelf: ShelfContent) -> ShelfUnion? {
        guard request.showsUnion(of: head(store, shelf)) else { return nil }
        let products = unionListings(store, shelf).map(\.product)
        let counts = Dictionary(products.compactMap(\.unitPrice?.dimension).map { ($0, 1) }, uniquingKeysWith: +)
        let most = Dimension.allCases.first { counts[$0] != nil && counts[$0] == counts.values.max() }
        return ShelfUnion(
            digest: parts(store, shelf).map { "\($0.shelf.key) \($0.version)" }.joined(separator: ","),
            dimension: shelf.shelf.dimension ?? most ?? state(shelf, store).comparisonDimension
        )
    }

    /// A shelf and all shelves below it, by key.
    private func parts(_ store: StoreContent, _ shelf: ShelfContent) -> [ShelfContent] {
        store.shelves.values.filter { part in
            if shelf.isAllShelves { return !part.isRemoved }
            var line: CatalogKey? = part.shelf.key
            while let key = line, key != shelf.shelf.key { line = store.shelves[key]?.shelf.parent }
            return line != nil && !part.isRemoved
        }.sorted { $0.shelf.key < $1.shelf.key }
    }

    /// The products that a request shows.
    private func listings(_ request: PageRequest, _ store: StoreContent, _ shelf: ShelfContent) -> [Listing] {
        request.showsUnion(of: head(store, shelf)) ? unionListings(store, shelf) : listings(store, shelf)
    }

    /// The products of a shelf and of all shelves below it, each once, with the rule of the shelf for sold-out products.
    func unionListings(_ store: StoreContent, _ shelf: ShelfContent) -> [Listing] {
        let sinks = (shelf.shelf.soldOut ?? store.store.soldOut) == .last
        let skus = Set(parts(store, shelf).flatMap { listings(store, $0).map(\.product.sku) })
        return skus.map { sku in
            let product = store.products[sku]!
            return Listing(product: product, position: [], isSoldOut: sinks && !product.inStock)
        }
    }

    private func basis(
        _ head: ShelfHead,
        _ request: PageRequest,
        _ union: ShelfUnion?,
        _ attributes: ResolvedAttributes
    ) -> PageBasis {
        PageBasis(
            head: head,
            sorts: request.user.map { currentRememberedSorts($0, request.store, request.shelf) } ?? .none,
            union: union,
            attributes: attributes
        )
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

    package func products(_ store: CatalogKey, with barcode: Barcode) async throws(CatalogError) -> ProductsPage {
        try read(store) { content in
            let spellings = barcode.spellings
            let found = content.products.values.filter { product in
                product.barcode.map { spellings.contains($0) } ?? false
            }
            let products = found.sorted { $0.sku < $1.sku }.prefix(Self.barcodeLimit)
            return ProductsPage(store: content.store, products: Array(products), next: nil)
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

    package func versions(of shelves: [ShelfAddress]) async throws(CatalogError) -> [ShelfAddress: ShelfVersion?] {
        content.withLock { content in
            var versions: [ShelfAddress: ShelfVersion?] = [:]
            for address in shelves {
                if let store = content[address.store], let shelf = store.shelves[address.shelf], !shelf.isRemoved {
                    versions[address] = .some(ShelfVersion(head(store, shelf)))
                } else {
                    versions[address] = .some(nil)
                }
            }
            return versions
        }
    }

    // MARK: - Parts

    func listings(_ store: StoreContent, _ shelf: ShelfContent) -> [Listing] {
        let sinks = (shelf.shelf.soldOut ?? store.store.soldOut) == .last
        return shelf.placed.compactMap { sku in
            guard let product = store.products[sku], let position = shelf.positions[sku] else { return nil }
            return Listing(product: product, position: position.bytes, isSoldOut: sinks && !product.inStock)
        }
    }

    func head(_ store: StoreContent, _ shelf: ShelfContent) -> ShelfHead {
        ShelfHead(
            store: store.store,
            storeVersion: store.version,
            attributeRevision: attributeRevision.withLock { $0 },
            synonymRevision: synonymRevision.withLock { $0 },
            state: state(shelf, store)
        )
    }

    /// Reads the shelf of a page, or all shelves of the store as one without settings.
    private func read<T: Sendable>(
        _ request: PageRequest,
        _ body: (StoreContent, ShelfContent) throws(CatalogError) -> T
    ) throws(CatalogError) -> T {
        if let shelf = request.shelf { return try read(request.store, shelf, body) }
        return try read(request.store) { store throws(CatalogError) in
            let shelf = Shelf(key: store.store.key, title: store.store.title)
            return try body(store, ShelfContent(shelf: shelf, isAllShelves: true, modifiedAt: .now()))
        }
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
        guard let store = content.withLock({ $0[key] }), !store.isRemoved else { throw .notFound("store “\(key)”") }
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
            guard var store = content[key], !store.isRemoved else { return .failure(.notFound("store “\(key)”")) }
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
