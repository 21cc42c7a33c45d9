package import Catalog
internal import LibPQ

/// What a page is settled by: the shelf, and what the caller remembers for it.
struct PageBasis: Sendable, Hashable {
    var head: ShelfRow.HeadRead
    var views = RememberedViews.none

    func plan(_ request: PageRequest) throws(CatalogError) -> PagePlan {
        try request.plan(for: head.head, remembering: views)
    }
}

extension PagePlan {
    /// Whether rows have the manual order's key.
    fileprivate var readsPositions: Bool { sort.terms.contains { $0.key == .position } }
}

extension PostgresCatalog {
    package func page(
        _ request: PageRequest,
        unless isKept: (PagePlan, _ tag: String) -> Bool
    ) async throws(CatalogError) -> PageAnswer {
        try await mappingErrors { try await readPage(request, isKept) }
    }

    private func readPage(
        _ request: PageRequest,
        _ isKept: (PagePlan, _ tag: String) -> Bool
    ) async throws -> PageAnswer {
        let day = Timestamp.now().day
        func knownTag(_ basis: PageBasis) throws -> String? {
            let plan = try basis.plan(request)
            let tag = plan.entityTag(basis.head.head, day: day)
            return request.knownTags.contains(tag) || isKept(plan, tag) ? tag : nil
        }
        // Without a guess, or where the answer may be known already, what it is settled by comes first.
        var guess = remembered(request)
        if try !request.knownTags.isEmpty || guess.map({ try knownTag($0) != nil }) ?? true {
            let basis = try await readBasis(request)
            if let tag = try knownTag(basis) { return .unchanged(tag: tag) }
            guess = basis
        }
        // Both travel together; the basis, read first, confirms what the page was read by. A change in between leaves a page
        // of one range newer than its tag says, and then the next request's tag differs; one of several is read again.
        for _ in 0..<4 {
            let current = if let guess { guess } else { try await readBasis(request) }
            let plan = try current.plan(request)
            if Self.mayReadMuch(plan, current.head.head) { break }
            let statement = statement(PageStatement.Shape(plan))
            let ranges = statement.ranges.count
            // A shelf that fits into the page is read at once.
            let first = current.head.head.state.productCount <= plan.limit ? ranges : 1
            let wanted = plan.limit + 1
            let start = RangeRead(plan, current.head, statement, 0..<first, limit: wanted)
            guard let found = try await read(request, start) else {
                guess = try await readBasis(request)
                continue
            }
            var (basis, listings) = (found.basis, found.listings)
            let isSettled =
                try found.isSteady && basis.plan(request) == plan && basis.head.isSameShelf(as: current.head)
            guess = basis
            guard isSettled else { continue }
            if listings.count < wanted, first < ranges {
                // The rest is of the same moment where nothing was changed in between.
                let rest = RangeRead(plan, basis.head, statement, first..<ranges, limit: wanted - listings.count)
                let found = try await read(request, rest)
                guess = found?.basis
                guard let found, found.isSteady, found.basis == basis else { continue }
                basis = found.basis
                listings += found.listings
            }
            let page = ShelfPage(head: basis.head.head, plan: plan, scope: request.scope, listings: listings)
            return .page(page, tag: plan.entityTag(basis.head.head, day: day))
        }
        // A shelf that changes all the time is read in one transaction, which waits for nobody.
        return try await readAside(request, day)
    }

    /// Whether a page may read much of its shelf: one with facets does, and a filtered one of a large shelf may.
    private static func mayReadMuch(_ plan: PagePlan, _ head: ShelfHead) -> Bool {
        !plan.facets.isEmpty || (!plan.view.filter.isEmpty && head.state.productCount > largeShelf)
    }

    private static let largeShelf = 10_000

    /// Reads a page not where other pages are read, which it would hold up; all of one moment.
    private func readAside(_ request: PageRequest, _ day: Int) async throws -> PageAnswer {
        try await pool.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", within: .seconds(5)) {
            [self] database in
            var basis = PageBasis(head: try Self.head(request.store, request.shelf, database))
            for query in Self.basisQueries(request).dropFirst() {
                basis.views = try database.query(query.statement, query.parameters) { try Self.views($0) }
            }
            let plan = try basis.plan(request)
            let (storeID, shelfID) = (basis.head.storeID, basis.head.shelfID)
            let hasPosition = plan.readsPositions
            let listings = try Self.rows(
                of: statement(PageStatement.Shape(plan)),
                plan,
                basis.head,
                limit: plan.limit + 1,
                database
            ) { try ProductRow.listing($0, hasPosition: hasPosition) }
            var answer = ShelfPage(head: basis.head.head, plan: plan, scope: request.scope, listings: listings)
            guard !plan.facets.isEmpty else { return .page(answer, tag: plan.entityTag(basis.head.head, day: day)) }
            let facets = statement(FacetStatement.Shape(plan))
            answer.facets = try database.query(
                facets.statement,
                facets.parameters(plan, storeID: storeID, shelfID: shelfID)
            ) { try facets.read($0, plan) }
            return .page(answer, tag: plan.entityTag(basis.head.head, day: day))
        }
    }

    /// - Throws: `notFound`.
    func readBasis(_ request: PageRequest) async throws -> PageBasis {
        if let found = try await read(request, nil) { return found.basis }
        _ = try await readStore(request.store)
        throw CatalogError.notFound("shelf “\(request.shelf)”")
    }

    /// The shelf's, and the caller's where there is one.
    private static func basisQueries(_ request: PageRequest) -> [PostgresQuery] {
        let head = PostgresQuery(oneHead, [.text(request.store.text), .text(request.shelf.text)])
        // A cursor has its sort.
        guard let user = request.user, request.after == nil else { return [head] }
        return [head, viewsQuery(user, request.store, request.shelf)]
    }

    /// Which ranges of a page are read together.
    private struct RangeRead {
        let plan: PagePlan
        let queries: [PostgresQuery]
        let limit: Int
        /// Whether the shelf is confirmed once more after the last range: a first range alone is of one moment by itself.
        let isConfirmed: Bool

        init(
            _ plan: PagePlan,
            _ head: ShelfRow.HeadRead,
            _ statement: PageStatement,
            _ ranges: Range<Int>,
            limit: Int
        ) {
            self.plan = plan
            self.limit = limit
            queries = ranges.map { statement.query($0, plan, head, limit: limit) }
            isConfirmed = ranges != 0..<1
        }
    }

    /// The basis as it is and the listings as planned; nil where the shelf is gone.
    ///
    /// - Parameter page: nil for the basis alone.
    /// - Returns: also whether nothing was changed between the first range and the last.
    private func read(
        _ request: PageRequest,
        _ page: RangeRead?
    ) async throws -> (basis: PageBasis, listings: [Listing], isSteady: Bool)? {
        var queries = Self.basisQueries(request)
        let width = queries.count
        queries += page?.queries ?? []
        let end = queries.count
        let isConfirmed = page?.isConfirmed ?? false
        if isConfirmed { queries.append(queries[0]) }
        let limit = page?.limit ?? 0
        let hasPosition = page?.plan.readsPositions ?? false
        let initial: (ShelfRow.HeadRead?, RememberedViews, [Listing], ShelfRow.HeadRead?) = (nil, .none, [], nil)
        let (head, views, listings, again) = try await pipeline.read(queries, into: initial) { value, index, rows in
            if index == 0 {
                value.0 = try rows.first { try ShelfRow.head($0) }
            } else if index == end {
                value.3 = try rows.first { try ShelfRow.head($0) }
            } else if index >= width {
                try rows.forEach { row in
                    if value.2.count < limit { value.2.append(try ProductRow.listing(row, hasPosition: hasPosition)) }
                }
            } else {
                value.1 = try Self.views(rows)
            }
        }
        guard let head else { return nil }
        let basis = PageBasis(head: head, views: views)
        remember(basis, of: request)
        return (basis, listings, !isConfirmed || again == head)
    }
}
