internal import Catalog
internal import LibPQ
internal import Shelves
internal import Synchronization

/// Suggestions from the shelves in memory. They are confirmed once a second for each store, and not for each request.
final class PostgresSuggestionStore: SuggestionStore {
    /// The basis of a store's suggestions. The table, its index and the rules are in the memory for shelves.
    private struct Recent: Sendable {
        let start: ContinuousClock.Instant
        let storeID: Int32
        /// The version of the union of all shelves.
        let version: Int64
        let state: SearchIndexes.RulesState
        let shelves: [SuggestionSource.Shelf]
        let sortsSoldOutLast: Bool
    }

    /// The maximum age of suggestions.
    static let freshness: Duration = .seconds(1)

    private let pages: PostgresPageStore
    private let now: @Sendable () -> ContinuousClock.Instant
    private let recent = Mutex<[CatalogKey: Recent]>([:])
    private let loads = SharedWork<CatalogKey, SuggestionSource>()

    init(_ pages: PostgresPageStore, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.pages, self.now) = (pages, now)
    }

    private var database: Database { pages.database }
    private var indexes: SearchIndexes { pages.memory.indexes }

    func suggestions(for request: SuggestionRequest) async throws(CatalogError) -> [Suggestion] {
        let source = try await database.mappingErrors {
            if let known = self.known(request.store) { return known }
            return try await self.loads.value(request.store) { try await self.read(request.store) }
        }
        return try source.suggestions(for: request)
    }

    /// Returns the known source of a store; nil if it is too old, or not in memory.
    private func known(_ store: CatalogKey) -> SuggestionSource? {
        guard let found = recent.withLock({ $0[store] }), now() - found.start < Self.freshness else { return nil }
        let key = ShelfUnions.Key.allShelves(storeID: found.storeID)
        guard let union = pages.memory.caches.unions[key]?.shelf, union.version == found.version,
            let rules = indexes.knownRules(of: found.storeID, at: found.state),
            let index = indexes.known(union, at: .union(key), rules.inflection)
        else { return nil }
        return SuggestionSource(
            union.table,
            index,
            rules,
            shelves: found.shelves,
            sortsSoldOutLast: found.sortsSoldOutLast
        )
    }

    private func read(_ store: CatalogKey) async throws -> SuggestionSource {
        let start = now()
        let found = try await pages.loadedUnion(PageRequest(store: store, shelf: nil))
        let (head, storeID) = (found.basis.head, found.key.storeID)
        let (revision, shelves) = try await database.router.withSource(of: store, for: nil) { source in
            let queries = [
                PostgresQuery(PostgresSynonymStore.revision), PostgresQuery(Self.titles, [.int4(storeID)]),
            ]
            let none: (revision: Int64, shelves: [SuggestionSource.Shelf]) = (0, [])
            return try await source.read(queries, into: none) { found, index, rows in
                if index == 0 {
                    found.revision = try rows.first { try $0.int8(0) } ?? 0
                } else {
                    found.shelves = try rows.map { try Self.shelf($0) }
                }
            }
        }
        let state = SearchIndexes.RulesState(
            language: head.store.locale,
            storeVersion: head.storeVersion,
            revision: revision
        )
        let rules = try await indexes.rules(of: storeID, at: state) {
            try await self.database.router.withSource(of: store, for: nil) { source in
                let query = PostgresQuery(PostgresSynonymStore.inEffect, [.int4(storeID)])
                return try await source.read([query], into: Synonyms.none) {
                    $0 = try PostgresSynonymStore.inEffect($2)
                }
            }
        }
        let index = try await indexes.index(of: found.shelf, at: found.key, rules.inflection)
        let sortsSoldOutLast = head.sortsSoldOutLast
        keep(
            Recent(
                start: start,
                storeID: storeID,
                version: found.shelf.version,
                state: state,
                shelves: shelves,
                sortsSoldOutLast: sortsSoldOutLast
            ),
            of: store
        )
        return SuggestionSource(
            found.shelf.table,
            index,
            rules,
            shelves: shelves,
            sortsSoldOutLast: sortsSoldOutLast
        )
    }

    /// Keeps the basis of suggestions, and forgets those that are too old.
    private func keep(_ found: Recent, of store: CatalogKey) {
        let now = now()
        recent.withLock { recent in
            recent = recent.filter { now - $0.value.start < Self.freshness }
            recent[store] = found
        }
    }

    private static func shelf(_ row: borrowing PostgresRow) throws -> SuggestionSource.Shelf {
        guard let key = CatalogKey(try row.text(0)) else { throw PostgresError(.decoding, "invalid stored shelf") }
        return SuggestionSource.Shelf(key: key, title: try row.text(1), productCount: Int(try row.int4(2)))
    }

    // MARK: - Statements

    /// The titles of the shelves of a store, `$1`.
    static let titles: PostgresStatement = """
        SELECT key, title, product_count FROM shelf WHERE store_id = $1 AND deleted_at IS NULL ORDER BY key
        """
}
