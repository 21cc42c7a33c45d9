internal import Catalog
internal import CatalogJSON
internal import LibPQ

/// Pages in PostgreSQL.
struct PostgresPageStore: PageStore {
    let database: Database
    let memory = PageBasisCache()
    let shelves: ShelfMemory
    let unions: ShelfUnions

    init(database: Database, shelfMemory: ShelfMemoryShares) {
        self.database = database
        let unions = ShelfUnions.cache(limit: shelfMemory.unions)
        shelves = ShelfMemory(database, shelfMemory) { unions.use.size }
        self.unions = ShelfUnions(shelves, unions)
    }

    /// The use of the memory for shelves.
    var memoryUse: ShelfMemoryUse {
        var use = shelves.use
        use.unions = unions.use
        return use
    }

    func likelyBasis(of request: PageRequest) -> PageBasis? {
        memory.basis(of: request).flatMap { request.showsDescendants(of: $0.head) ? nil : $0 }
    }

    /// Prepares the connections for pages.
    func warmUp() {
        let placeholder = "-"
        let location = ShelfLocation(storeID: 0, shelfID: 0)
        database.warmUpPages(
            [
                PostgresQuery(ShelfLookup.versions, [.int8Array([0]), .int8Array([0])]),
                PostgresQuery(ShelfLookup.oneHead, [.int4(0), .text(placeholder), .text(placeholder)]),
                PostgresQuery(PostgresSettingsStore.revisions, [.textArray([placeholder])]),
                PostgresQuery(
                    PostgresSettingsStore.rememberedViews,
                    [.text(placeholder), .text(placeholder), .text(placeholder)]
                ),
                ShelfReader.latestQuery(after: nil, location, readsImage: true),
            ]
        )
    }

    func basis(of request: PageRequest, likely: PageBasis?) async throws(CatalogError) -> PageBasis {
        try await database.mappingErrors {
            try await database.reading(request.store, for: Self.rememberingUser(request)) { source in
                if request.asksForSeveral { return try await unionBasis(request, source) }
                if let likely, try await versions(request, likely.head.location, source).confirm(likely) {
                    return likely
                }
                let basis = try await readBasis(request, source).basis
                return request.showsDescendants(of: basis.head) ? try await unionBasis(request, source) : basis
            }
        }
    }

    func page<Items: PageItems>(
        _ request: PageRequest,
        likely: PlannedPage?,
        into items: @escaping @Sendable (PlannedPage) -> Items
    ) async throws(CatalogError) -> PageOf<Items> {
        try await database.mappingErrors {
            try await database.reading(request.store, for: Self.rememberingUser(request)) { source in
                let isUnion = request.asksForSeveral || likely?.plan.union != nil
                if !isUnion, let page = try await readPage(request, likely, items, source) { return page }
                return try await unionPage(request, items, source)
            }
        }
    }

    /// Plans the page, and reads it at the version that the plan is for. If data changes in between, the page is planned and read again, so that
    /// no version and no entity tag names two states.
    ///
    /// - Returns: nil if the page shows the products of other shelves, too.
    private func readPage<Items: PageItems>(
        _ request: PageRequest,
        _ likely: PlannedPage?,
        _ items: @escaping @Sendable (PlannedPage) -> Items,
        _ source: ReadSource
    ) async throws -> PageOf<Items>? {
        var planned: PlannedPage
        var shelf: ShelfSnapshot?
        if let likely {
            planned = likely
        } else {
            let basis = try await readBasis(request, source).basis
            if request.showsDescendants(of: basis.head) { return nil }
            planned = try PlannedPage(request, basis)
        }
        for attempt in 0..<4 {
            let isGuess = attempt == 0 && likely != nil
            if var page = try await read(request, planned, shelf, isGuess: isGuess, items, source) {
                if planned.plan.facets.isEmpty { return page }
                page.facets = try await facets(planned, isGuess: isGuess, source)
                if page.facets != nil { return page }
            }
            let found = try await readBasis(request, following: planned.basis.head.location, source)
            if request.showsDescendants(of: found.basis.head) { return nil }
            (planned, shelf) = (try PlannedPage(request, found.basis), found.shelf)
        }
        // A constantly changing shelf is read in one transaction, which never needs a retry.
        return try await readInTransaction(request, items, source)
    }

    /// Reads the basis of a page, and what changed on its shelf.
    ///
    /// - Parameter location: the shelf that the page was on last time; nil if it is not known.
    /// - Returns: the basis, and the shelf in memory after its changes, at the version of a state that this request has read.
    /// - Throws: `notFound`.
    private func readBasis(
        _ request: PageRequest,
        following location: ShelfLocation? = nil,
        _ source: ReadSource
    ) async throws -> (basis: PageBasis, shelf: ShelfSnapshot?) {
        struct Found: Sendable {
            var head: ShelfHead?
            var views = RememberedViews.none
            var latest: ShelfReader.Latest?
        }
        let lookup = ShelfLookup(database: database)
        let user = Self.rememberingUser(request)
        let isDistributed = try await database.isDistributed()
        // The revision is read before the views, so that views that change in between are read again next time.
        let revisions = user.map { [PostgresSettingsStore.revisionQuery($0, isDistributed: isDistributed)] } ?? []
        let following = location.flatMap { shelves.following($0, source) }
        let views = Self.viewsQuery(request)
        let found = try await lookup.reading(request.store, source) {
            id -> (basis: PageBasis, latest: ShelfReader.Latest?)? in
            let (revision, found) = try await source.read(
                sharing: revisions,
                into: Int64(0),
                { revision, _, row in revision = try row.int8(1) },
                then: [ShelfLookup.headQuery(id, request)] + views
                    + (following.map { [$0.query] } ?? []),
                into: Found()
            ) { found, index, rows in
                if index == 0 {
                    found.head = try ShelfLookup.head(rows, of: request)
                } else if index <= views.count {
                    found.views = try PostgresSettingsStore.views(rows)
                } else {
                    found.latest = try ShelfReader.latest(rows)
                }
            }
            return found.head.map { (PageBasis(head: $0, views: found.views, revision: revision), found.latest) }
        }
        if let (basis, latest) = found {
            memory.insert(basis, of: request)
            guard let following, let latest, basis.head.location == following.location else { return (basis, nil) }
            return (basis, await shelves.apply(latest, following))
        }
        _ = try await lookup.readStore(request.store, source)
        throw request.shelf.map { CatalogError.notFound("shelf “\($0)”") } ?? CatalogError.unavailable
    }

    /// Returns the user whose remembered views matter to a page. A cursor contains its sort.
    static func rememberingUser(_ request: PageRequest) -> UserID? { request.after == nil ? request.user : nil }

    /// Returns the query for the caller's views; none without a caller.
    static func viewsQuery(_ request: PageRequest) -> [PostgresQuery] {
        rememberingUser(request).map { [PostgresSettingsStore.viewsQuery($0, request.store, request.shelf)] } ?? []
    }
}
