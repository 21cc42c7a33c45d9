internal import Catalog
internal import LibPQ
internal import Shelves
internal import Synchronization

/// Suggestions from the union of all shelves of a store, and from its search index.
///
/// The first request of a store reads all its shelves, merges them and builds the index. The sources are confirmed once a second for each
/// store, and not for each request. The titles of the shelves and the rules of searches are read after the union, and may be later ones.
final class PostgresSuggestionStore: SuggestionStore {
    /// The basis of a store's suggestions. The table, its index and the rules are in the memory for shelves.
    private struct Recent: Sendable {
        /// The time at which reading began.
        let start: ContinuousClock.Instant
        let storeID: Int32
        /// The version of the union of all shelves.
        let version: Int64
        let state: SearchIndexes.RulesState
        let attributes: [ResolvedAttribute]
        let shelves: [SuggestionSource.Shelf]
        let sortsSoldOutLast: Bool
    }

    private struct Read: Sendable {
        let source: SuggestionSource
        /// The time at which reading began.
        let start: ContinuousClock.Instant
    }

    /// The work of one request.
    private final class Work: Sendable {
        let hasRead = Atomic(false)
        let indexedProducts = Atomic(0)
    }

    /// The maximum age of suggestions when their request arrives.
    static let freshness: Duration = .seconds(1)

    private let pages: PostgresPageStore
    private let now: @Sendable () -> ContinuousClock.Instant
    private let recent = Mutex<[CatalogKey: Recent]>([:])
    private let loads = SharedWork<CatalogKey, Read>()

    init(_ pages: PostgresPageStore, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.pages, self.now) = (pages, now)
    }

    private var database: Database { pages.database }
    private var indexes: SearchIndexes { pages.memory.indexes }

    func suggestions(for request: SuggestionRequest) async throws(CatalogError) -> FoundSuggestions {
        let oldest = now() - Self.freshness
        let work = Work()
        let source = try await database.mappingErrors {
            if let known = self.known(request.store, since: oldest) { return known }
            let found = try await self.load(request.store, work)
            if found.start > oldest { return found.source }
            // It had been running for longer than that. One that starts now is recent enough, even if another request starts it.
            return try await self.load(request.store, work).source
        }
        return FoundSuggestions(
            try source.suggestions(for: request),
            hasRead: work.hasRead.load(ordering: .relaxed),
            indexedProducts: work.indexedProducts.load(ordering: .relaxed)
        )
    }

    /// The number of requests that wait for a store's suggestions to be read.
    func waiting(for store: CatalogKey) -> Int { loads.waiting(for: store) }

    /// Returns the known source of a store; nil if it is too old, or not in memory.
    private func known(_ store: CatalogKey, since oldest: ContinuousClock.Instant) -> SuggestionSource? {
        guard let found = recent.withLock({ $0[store] }), found.start > oldest else { return nil }
        let key = ShelfUnions.Key.allShelves(storeID: found.storeID)
        guard let union = pages.memory.caches.unions[key]?.shelf, union.version == found.version,
            let rules = indexes.knownRules(of: found.storeID, at: found.state),
            let index = indexes.known(union, at: .union(key), rules.inflection, found.attributes)
        else { return nil }
        return SuggestionSource(
            union.table,
            index.index,
            rules,
            shelves: found.shelves,
            sortsSoldOutLast: found.sortsSoldOutLast
        )
    }

    /// Joins the read of a store, or starts it.
    private func load(_ store: CatalogKey, _ work: Work) async throws -> Read {
        try await loads.value(store) {
            work.hasRead.store(true, ordering: .relaxed)
            return try await self.read(store, work)
        }
    }

    private func read(_ store: CatalogKey, _ work: Work) async throws -> Read {
        let start = now()
        let found = try await pages.loadedUnion(PageRequest(store: store, shelf: nil))
        let (head, storeID) = (found.basis.head, found.key.storeID)
        let shelves = try await database.router.withSource(of: store, for: nil) { source in
            let query = PostgresQuery(Self.titles, [.int4(storeID)])
            return try await source.read([query], into: [SuggestionSource.Shelf]()) { shelves, _, rows in
                shelves = Self.shelves(try rows.map { try StoredShelf($0) })
            }
        }
        let (state, attributes) = (SearchIndexes.RulesState(head), found.basis.attributes.searchable)
        let rules = try await indexes.rules(of: storeID, at: state) {
            try await self.database.router.withSource(of: store, for: nil) { source in
                try await PostgresSynonymStore.readInEffect(storeID, source)
            }
        }
        let index = try await indexes.index(of: found.shelf, at: found.key, rules.inflection, attributes) {
            work.indexedProducts.add($0, ordering: .relaxed)
        }
        let sortsSoldOutLast = head.sortsSoldOutLast
        keep(
            Recent(
                start: start,
                storeID: storeID,
                version: found.shelf.version,
                state: state,
                attributes: attributes,
                shelves: shelves,
                sortsSoldOutLast: sortsSoldOutLast
            ),
            of: store
        )
        let source = SuggestionSource(
            found.shelf.table,
            index.index,
            rules,
            shelves: shelves,
            sortsSoldOutLast: sortsSoldOutLast
        )
        return Read(source: source, start: start)
    }

    /// Keeps the basis of suggestions, and forgets those that are too old.
    private func keep(_ found: Recent, of store: CatalogKey) {
        let now = now()
        recent.withLock { recent in
            recent = recent.filter { now - $0.value.start < Self.freshness }
            recent[store] = found
        }
    }

    // MARK: - Shelves

    /// A row of `titles`.
    private struct StoredShelf {
        let id: Int32
        let parent: Int32?
        let key: CatalogKey
        let title: String
        let productCount: Int
        let includesDescendants: Bool

        init(_ row: borrowing PostgresRow) throws {
            guard let key = CatalogKey(try row.text(2)) else { throw PostgresError(.decoding, "invalid stored shelf") }
            (id, parent, self.key) = (try row.int4(0), try row.int4OrNil(1), key)
            (title, productCount) = (try row.text(3), Int(try row.int4(4)))
            includesDescendants = try row.bool(5)
        }
    }

    /// Returns the shelves with the numbers of products that they show. A product on several shelves of a union counts several times.
    private static func shelves(_ stored: [StoredShelf]) -> [SuggestionSource.Shelf] {
        let byID = Dictionary(stored.map { ($0.id, $0) }) { first, _ in first }
        var totals: [Int32: Int] = [:]
        for shelf in stored {
            var (ancestor, depth) = (shelf as StoredShelf?, 0)
            while let current = ancestor, depth < Shelf.depthLimit {
                totals[current.id, default: 0] += shelf.productCount
                ancestor = current.parent.flatMap { byID[$0] }
                depth += 1
            }
        }
        return stored.map { shelf in
            let count = shelf.includesDescendants ? totals[shelf.id] ?? 0 : shelf.productCount
            return SuggestionSource.Shelf(key: shelf.key, title: shelf.title, productCount: count)
        }
    }
}

// MARK: - Statements

extension PostgresSuggestionStore {
    /// The shelves of a store, `$1`.
    static let titles: PostgresStatement = """
        SELECT shelf_id, parent_id, key, title, product_count, includes_descendants FROM shelf
        WHERE store_id = $1 AND deleted_at IS NULL ORDER BY key
        """
}
