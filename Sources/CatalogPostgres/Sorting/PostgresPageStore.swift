internal import Shelves
internal import Catalog
internal import LibPQ
internal import Synchronization

/// Shelves of PostgreSQL, which are in memory at the versions that it has.
struct PostgresPageStore: PageStore {
    let database: Database
    let bases: PageBasisCache
    let memory: ShelfMemory
    let attributeSets: AttributeSets
    let unions: ShelfUnions

    init(database: Database, shelfMemory: ShelfMemoryShares) {
        self.database = database
        attributeSets = AttributeSets()
        bases = PageBasisCache(attributeSets)
        memory = ShelfMemory(database, ShelfCaches(shelfMemory))
        unions = ShelfUnions(memory)
    }

    /// Prepares the connections for pages.
    func warmUp() {
        let placeholder = "-"
        let location = ShelfLocation(storeID: 0, shelfID: 0)
        database.router.warmUpShortReads(
            [
                PostgresQuery(ShelfLookup.versions, [.int8Array([0]), .int8Array([0])]),
                PostgresQuery(ShelfLookup.oneHead, [.int4(0), .text(placeholder), .text(placeholder)]),
                PostgresQuery(PostgresSettingsStore.revisions, [.textArray([placeholder])]),
                PostgresQuery(
                    PostgresSettingsStore.rememberedSorts,
                    [.text(placeholder), .text(placeholder), .text(placeholder)]
                ),
                ShelfReader.latestQuery(after: nil, location, readsImage: true),
            ]
        )
    }

    /// The number of attempts to read a shelf and its basis at one version, before both are read in one transaction.
    private static let attempts = 3

    func read(
        _ request: PageRequest,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws(CatalogError) -> ShelfRead {
        guard !request.asksForUnion, let address = request.address else { return .union }
        return try await database.mappingErrors {
            let found = try await database.router.withSource(of: request.store, for: request.rememberingUser) {
                source -> FoundShelf in
                for _ in 0..<Self.attempts {
                    if let read = try await read(request, at: address, source, unless: isAnswered) { return read }
                }
                let shelf = try await readInTransaction(request, source)
                if shelf.basis.union != nil { return .union }
                return try isAnswered(shelf.basis) ? .answered(shelf.basis) : .shelf(shelf)
            }
            switch found {
            case .answered(let basis): return .answered(basis)
            case .union: return .union
            case .shelf(let shelf): return .shelf(try await indexed(shelf))
            }
        }
    }

    /// The result of reading a shelf, as `ShelfRead`, before it is indexed for a search.
    private enum FoundShelf {
        case answered(PageBasis)
        case shelf(LoadedShelf)
        case union
    }

    func currentUnion(_ request: PageRequest) async throws(CatalogError) -> any CurrentShelf {
        try await database.mappingErrors { try await indexed(try await loadedUnion(request)) }
    }

    /// The same with the table in memory, without an index.
    func loadedUnion(_ request: PageRequest) async throws -> LoadedShelf {
        try await database.router.withSource(of: request.store, for: request.rememberingUser) { source in
            for _ in 0..<Self.attempts {
                if let union = try await readUnion(request, source) { return union }
            }
            return try await readInTransaction(request, source)
        }
    }

    // MARK: - Searches

    /// Adds the rules of searches to a shelf, if the request has a search; returns nil if the store or the deployment's synonyms change meanwhile.
    func withRules(_ found: LoadedShelf, _ request: PageRequest, _ source: ReadSource) async throws -> LoadedShelf? {
        guard request.isSearch else { return found }
        let storeID = found.key.storeID
        let rules = try await memory.indexes.currentRules(
            of: storeID,
            at: SearchIndexes.RulesState(found.basis.head),
            source.origin
        ) {
            try await PostgresSynonymStore.readInEffect(storeID, source)
        }
        return rules.map { found.with($0) }
    }

    /// The same in a transaction.
    func withRules(
        _ found: LoadedShelf,
        _ request: PageRequest,
        _ connection: isolated PostgresConnection
    ) throws -> LoadedShelf? {
        guard request.isSearch else { return found }
        let (storeID, state) = (found.key.storeID, SearchIndexes.RulesState(found.basis.head))
        if let known = memory.indexes.knownRules(of: storeID, at: state) { return found.with(known) }
        let synonyms = try connection.query(PostgresSynonymStore.inEffect, [.int4(storeID)]) {
            try PostgresSynonymStore.inEffect($0)
        }
        return memory.indexes.currentRules(of: storeID, at: state, synonyms).map { found.with($0) }
    }

    /// Adds the index to a shelf that has the rules of searches. It belongs to the same language as the rules.
    private func indexed(_ found: LoadedShelf) async throws -> LoadedShelf {
        guard let rules = found.rules else { return found }
        let built = Counter()
        let index = try await memory.indexes.index(
            of: found.shelf,
            at: found.key,
            rules.inflection,
            found.basis.attributes.searchable
        ) { built.count.add($0, ordering: .relaxed) }
        var found = found
        found.search = LoadedSearch(
            index: index,
            rules: rules,
            state: SearchIndexes.RulesState(found.basis.head),
            indexedProducts: built.count.load(ordering: .relaxed),
            caches: memory.caches
        )
        return found
    }

    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    /// Confirms the basis, and unless it answers the request, brings the shelf up to date in memory; returns nil if it changes meanwhile.
    private func read(
        _ request: PageRequest,
        at address: ShelfAddress,
        _ source: ReadSource,
        unless isAnswered: (PageBasis) throws(CatalogError) -> Bool
    ) async throws -> FoundShelf? {
        guard let (found, known) = try await confirmed(request, at: address, source) else { return nil }
        if request.showsUnion(of: found.basis.head) { return .union }
        let (location, state) = (found.location, found.basis.head.state)
        try memory.requireCommits(of: location, at: state.version, source.origin)
        if try isAnswered(found.basis) { return .answered(found.basis) }
        let current: ShelfSnapshot? =
            if let known, known.version == state.version {
                known
            } else {
                try await memory.shelf(location, at: state.version, products: state.productCount, source)
            }
        guard let current, let loaded = try await withRules(loadedShelf(found, current), request, source) else {
            return nil
        }
        return try await readOrderingKey(loaded, request, location, source).map { .shelf($0) }
    }

    /// Returns the current basis of a page, and the version of its shelf in memory, which may be another one.
    ///
    /// - Returns: nil if the store or the deployment's attributes change meanwhile.
    private func confirmed(
        _ request: PageRequest,
        at address: ShelfAddress,
        _ source: ReadSource
    ) async throws -> (basis: LocatedBasis, shelf: ShelfSnapshot?)? {
        if let likely = bases.basis(of: request), !request.showsUnion(of: likely.basis.head),
            try await isCurrent(likely, request, source)
        {
            return (likely, memory.known(likely.location, at: likely.basis.head.state.version))
        }
        return try await readBasis(request, at: address, following: bases.location(of: request), source)
    }

    /// Adds the ordering key of the cursor's product to a shelf if ordering keys were replaced; returns nil if the shelf changes meanwhile.
    private func readOrderingKey(
        _ found: LoadedShelf,
        _ request: PageRequest,
        _ location: ShelfLocation,
        _ source: ReadSource
    ) async throws -> LoadedShelf? {
        guard let query = Self.orderingKeyQuery(request, found.basis.head, location) else { return found }
        let version = ShelfLookup.versionQuery(location)
        let (key, current) = try await source.read([query, version], into: (nil as [UInt8]?, nil as ShelfVersion?)) {
            state,
            index,
            rows in
            if index == 0 {
                state.0 = try rows.first { try $0.bytea(0) }
            } else {
                state.1 = try rows.first { try ShelfLookup.version($0) }
            }
        }
        var found = found
        found.orderingKey = key
        return current == ShelfVersion(found.basis.head) ? found : nil
    }

    private func loadedShelf(_ found: LocatedBasis, _ shelf: ShelfSnapshot) -> LoadedShelf {
        LoadedShelf(basis: found.basis, shelf: shelf, key: .shelf(found.location), caches: memory.caches)
    }

    /// Reads a shelf in one transaction, in which even a shelf with constant changes has one version. Only on Citus, a transaction sees
    /// concurrent commits.
    private func readInTransaction(_ request: PageRequest, _ source: ReadSource) async throws -> LoadedShelf {
        let load = ShelfLoad(origin: source.origin)
        return try await source.snapshot(within: .shelf) { connection in
            try attempting(8) { try read(request, load, connection) }
        }
    }

    /// Reads a shelf on a given connection; nil if it changes meanwhile.
    private func read(
        _ request: PageRequest,
        _ load: ShelfLoad,
        _ connection: isolated PostgresConnection
    ) throws -> LoadedShelf? {
        let lookup = ShelfLookup(database: database)
        guard let address = request.address else {
            let store = try lookup.store(request.store, connection)
            return try readUnion(request, ShelfUnions.KeyedHead(store), load, connection)
        }
        let located = try lookup.head(address.store, address.shelf, connection)
        let (head, location) = (located.head, located.location)
        if request.showsUnion(of: head) {
            return try readUnion(request, ShelfUnions.KeyedHead(located), load, connection)
        }
        guard let shelf = try memory.load(location, at: head.state.version, load, connection),
            let attributes = try attributeSets.attributes(of: head, in: location.storeID, connection)
        else { return nil }
        bases.insert(located, attributes, of: request)
        let basis = PageBasis(head: head, sorts: try sorts(of: request, connection), attributes: attributes)
        guard
            var found = try withRules(
                loadedShelf(LocatedBasis(basis: basis, location: location), shelf),
                request,
                connection
            )
        else { return nil }
        guard let query = Self.orderingKeyQuery(request, head, location) else { return found }
        found.orderingKey = try connection.query(query.statement, query.parameters) {
            try $0.first { try $0.bytea(0) }
        }
        let latest = ShelfLookup.versionQuery(location)
        let version = try connection.query(latest.statement, latest.parameters) {
            try $0.first { try ShelfLookup.version($0) }
        }
        return version == ShelfVersion(head) ? found : nil
    }

    /// Returns the query for the current ordering key of the cursor's product, if ordering keys were replaced since the page of the cursor;
    /// otherwise nil. A product that has left the shelf keeps its place.
    private static func orderingKeyQuery(
        _ request: PageRequest,
        _ head: ShelfHead,
        _ location: ShelfLocation
    ) -> PostgresQuery? {
        guard let cursor = request.after, cursor.keyGeneration != head.state.keyGeneration,
            let sort = try? Sort.parse(cursor.sort, allowsRelevance: true), sort.readsPositions
        else { return nil }
        let place: [PostgresValue] = [.int4(location.storeID), .int4(location.shelfID), .text(cursor.id)]
        return PostgresQuery(ShelfReadStatements.position, place)
    }

    /// Reads the basis of a page, and what changed on its shelf.
    ///
    /// - Parameter location: the shelf that the page was on last time; nil if it is not known.
    /// - Returns: the basis, and the shelf in memory with the changes that were read; nil if they were not all. Nil instead of both if
    ///   the store or the deployment's attributes change meanwhile.
    /// - Throws: `notFound`.
    private func readBasis(
        _ request: PageRequest,
        at address: ShelfAddress,
        following location: ShelfLocation?,
        _ source: ReadSource
    ) async throws -> (basis: LocatedBasis, shelf: ShelfSnapshot?)? {
        struct BasisRows: Sendable {
            var shelf: LocatedHead?
            var sorts = RememberedSorts.none
            var latest: ShelfReader.Latest?
        }
        let lookup = ShelfLookup(database: database)
        // The revision is read before the sorts, so that sorts that change in between are read again next time.
        var revisions: [SharedQuery] = []
        if let user = request.rememberingUser {
            revisions = [try await database.router.shared(PostgresSettingsStore.revisionQuery(user))]
        }
        let following = location.flatMap { memory.following($0, source) }
        let sorts = Self.sortsQuery(request)
        let found = try await lookup.withStoreID(of: request.store, source) {
            id -> (shelf: LocatedHead, rows: BasisRows, revision: Int64)? in
            let queries = ReadQueries(
                sharing: revisions,
                into: Int64(0),
                { revision, _, row in revision = try row.int8(1) },
                then: [ShelfLookup.headQuery(id, address.store, address.shelf)] + sorts
                    + (following.map { [$0.query] } ?? []),
                into: BasisRows()
            ) { found, index, rows in
                if index == 0 {
                    found.shelf = try rows.first { try ShelfRow.head($0) }
                } else if index <= sorts.count {
                    found.sorts = try PostgresSettingsStore.sorts(rows)
                } else {
                    found.latest = try ShelfReader.latest(rows)
                }
            }
            let (revision, found) = try await source.read(queries)
            return found.shelf.map { ($0, found, revision) }
        }
        if let (shelf, rows, revision) = found {
            let location = shelf.location
            guard let attributes = try await attributeSets.attributes(of: shelf.head, in: location.storeID, source)
            else {
                return nil
            }
            let basis = LocatedBasis(
                basis: PageBasis(head: shelf.head, sorts: rows.sorts, revision: revision, attributes: attributes),
                location: location
            )
            bases.insert(basis, of: request)
            guard let following, let latest = rows.latest, location == following.location else { return (basis, nil) }
            return (basis, await memory.apply(latest, following))
        }
        _ = try await lookup.readStore(request.store, source)
        throw CatalogError.notFound("shelf “\(address.shelf)”")
    }

    /// Returns whether a basis is current. The versions cover everything in the basis. Many reads share the queries of the versions.
    private func isCurrent(
        _ found: LocatedBasis,
        _ request: PageRequest,
        _ source: ReadSource
    ) async throws -> Bool {
        struct Versions: Sendable {
            /// nil if the shelf does not exist.
            var shelf: ShelfVersion?
            /// The revision of the caller's settings; 0 if they do not matter.
            var revision: Int64 = 0
        }
        var queries = [try await database.router.shared(ShelfLookup.sharedVersionQuery(found.location))]
        if let user = request.rememberingUser {
            queries.append(try await database.router.shared(PostgresSettingsStore.revisionQuery(user)))
        }
        let read = ReadQueries(
            sharing: queries,
            into: Versions(),
            { versions, index, row in
                if index == 0 {
                    versions.shelf = try ShelfLookup.version(row)
                } else {
                    versions.revision = try row.int8(1)
                }
            },
            then: [],
            into: ()
        ) { _, _, _ in }
        let versions = try await source.read(read).shared
        return versions.shelf == ShelfVersion(found.basis.head) && versions.revision == found.basis.revision
    }

    /// Returns the query for the caller's sorts; none without a caller.
    static func sortsQuery(_ request: PageRequest) -> [PostgresQuery] {
        request.rememberingUser.map { [PostgresSettingsStore.sortsQuery($0, request.store, request.shelf)] } ?? []
    }

    // MARK: - On a given connection

    /// Returns the ids of a shelf's products in the order of a sort that a request copies. The transaction must have locked the shelf, but not changed it yet.
    func ids(
        _ address: ShelfAddress,
        by sort: Sort,
        _ connection: isolated PostgresConnection
    ) throws -> [String] {
        let shelf = try ShelfLookup(database: database).head(address.store, address.shelf, connection)
        var sort = sort
        if sort.namesAttributes {
            let attributes = try AttributeSets.current(shelf.location.storeID, connection)
            do { sort = try sort.resolved(in: attributes) } catch {
                throw CatalogError.unknownSortKey(error, parameter: "from_sort")
            }
        }
        return try memory.locked(shelf, connection).ids(by: sort, of: shelf.head)
    }

    /// Reads the caller's remembered sorts.
    func sorts(of request: PageRequest, _ connection: isolated PostgresConnection) throws -> RememberedSorts {
        var sorts = RememberedSorts.none
        for query in Self.sortsQuery(request) {
            sorts = try connection.query(query.statement, query.parameters) { try PostgresSettingsStore.sorts($0) }
        }
        return sorts
    }
}
