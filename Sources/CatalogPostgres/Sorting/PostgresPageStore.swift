internal import Catalog
internal import CatalogJSON
internal import LibPQ

/// Pages in PostgreSQL.
struct PostgresPageStore: PageStore {
    let database: Database
    let memory = PageBasisCache()

    func likelyBasis(of request: PageRequest) -> PageBasis? { memory.basis(of: request) }

    func basis(of request: PageRequest) async throws(CatalogError) -> PageBasis {
        try await database.mappingErrors { try await readBasis(request) }
    }

    func page(_ request: PageRequest, likely: PlannedPage?) async throws(CatalogError) -> ShelfPage {
        try await database.mappingErrors { try await readPage(request, likely) }
    }

    /// Reads the page and its basis in one round trip; the basis comes first and verifies the plan. If data changes, a page of
    /// one range is newer than its tag, so the next request's tag differs; a page of several ranges is read again.
    private func readPage(_ request: PageRequest, _ likely: PlannedPage?) async throws -> ShelfPage {
        var planned = if let likely { likely } else { try PlannedPage(request, try await readBasis(request)) }
        for _ in 0..<4 {
            let (plan, head) = (planned.plan, planned.basis.head)
            if Self.mayScanShelf(plan, head) { break }
            let statement = memory.statement(PageStatement.Shape(plan))
            let ranges = statement.ranges.count
            // A shelf that fits into one page is read at once.
            let first = head.state.productCount <= plan.limit ? ranges : 1
            let wanted = plan.limit + 1
            let start = RangeRead(plan, head, statement, 0..<first, limit: wanted)
            guard let found = try await read(request, start) else {
                planned = try PlannedPage(request, try await readBasis(request))
                continue
            }
            let isSame = found.basis == planned.basis
            let confirmed = isSame ? planned : try PlannedPage(request, found.basis)
            defer { planned = confirmed }
            guard found.isSteady, confirmed.plan == plan, found.basis.head.location == head.location else { continue }
            var listings = found.listings
            if listings.count < wanted, first < ranges {
                // The rest is consistent if nothing changed in between.
                let rest = RangeRead(plan, found.basis.head, statement, first..<ranges, limit: wanted - listings.count)
                guard let more = try await read(request, rest), more.isSteady, more.basis == found.basis else {
                    continue
                }
                listings += more.listings
            }
            return ShelfPage(confirmed, scope: request.scope, listings: listings)
        }
        // A constantly changing shelf is read in one transaction, which never needs a retry.
        return try await readInTransaction(request)
    }

    /// Returns whether a page may scan much of its shelf: with facets it does; with a filter, or a sort by several keys
    /// whose first one has few values, it may.
    private static func mayScanShelf(_ plan: PagePlan, _ head: ShelfHead) -> Bool {
        if !plan.facets.isEmpty { return true }
        let count = head.state.productCount
        return (!plan.view.filter.isEmpty && count > filterLimit) || (plan.sort.terms.count > 1 && count > sortLimit)
    }

    /// The number of products that a filtered page may scan in the pipeline.
    private static let filterLimit = 10_000
    /// The number of products that a page may sort in the pipeline.
    private static let sortLimit = 1_000

    /// Reads a page in one snapshot outside the page pipeline, which it would delay.
    private func readInTransaction(_ request: PageRequest) async throws -> ShelfPage {
        try await database.longReads.snapshot(within: .lookup) {
            connection in
            let planned = try PlannedPage(request, try Self.basis(of: request, connection))
            let (plan, head) = (planned.plan, planned.basis.head)
            let hasPosition = plan.readsPositions
            let listings = try Self.rows(
                of: memory.statement(PageStatement.Shape(plan)),
                plan,
                head,
                limit: plan.limit + 1,
                connection
            ) { try ProductRow.listing($0, hasPosition: hasPosition) }
            var page = ShelfPage(planned, scope: request.scope, listings: listings)
            guard !plan.facets.isEmpty else { return page }
            let facets = memory.statement(FacetStatement.Shape(plan))
            page.facets = try connection.query(facets.statement, facets.parameters(plan, head.location)) {
                try facets.read($0, plan)
            }
            return page
        }
    }

    /// - Throws: `notFound`.
    func readBasis(_ request: PageRequest) async throws -> PageBasis {
        if let found = try await read(request, nil) { return found.basis }
        _ = try await ShelfLookup(database: database).readStore(request.store)
        throw CatalogError.notFound("shelf “\(request.shelf)”")
    }

    /// Returns the query for the shelf, and the one for the caller's views if there is a caller.
    static func basisQueries(_ request: PageRequest) -> [PostgresQuery] {
        let head = PostgresQuery(ShelfLookup.oneHead, [.text(request.store.text), .text(request.shelf.text)])
        // A cursor contains its sort.
        guard let user = request.user, request.after == nil else { return [head] }
        return [head, PostgresSettingsStore.viewsQuery(user, request.store, request.shelf)]
    }

    /// The ranges of a page that are read together.
    private struct RangeRead {
        let plan: PagePlan
        let queries: [PostgresQuery]
        let limit: Int
        /// Whether the shelf is verified again after the last range; a single range is always consistent.
        let isVerified: Bool

        init(
            _ plan: PagePlan,
            _ head: ShelfHead,
            _ statement: PageStatement,
            _ ranges: Range<Int>,
            limit: Int
        ) {
            self.plan = plan
            self.limit = limit
            queries = ranges.map { statement.query($0, plan, head, limit: limit) }
            isVerified = ranges != 0..<1
        }
    }

    /// Reads the current basis and the planned listings; nil if the shelf does not exist.
    ///
    /// - Parameter page: nil to read only the basis.
    /// - Returns: also whether nothing changed between the first and the last range.
    private func read(
        _ request: PageRequest,
        _ page: RangeRead?
    ) async throws -> (basis: PageBasis, listings: [Listing], isSteady: Bool)? {
        var queries = Self.basisQueries(request)
        let width = queries.count
        queries += page?.queries ?? []
        let end = queries.count
        let isVerified = page?.isVerified ?? false
        if isVerified { queries.append(queries[0]) }
        let limit = page?.limit ?? 0
        let hasPosition = page?.plan.readsPositions ?? false
        let initial: (ShelfHead?, RememberedViews, [Listing], ShelfHead?) = (nil, .none, [], nil)
        let (head, views, listings, again) = try await database.pages.read(queries, into: initial) {
            value,
            index,
            rows in
            if index == 0 {
                value.0 = try rows.first { try ShelfRow.head($0) }
            } else if index == end {
                value.3 = try rows.first { try ShelfRow.head($0) }
            } else if index >= width {
                try rows.forEach { row in
                    if value.2.count < limit { value.2.append(try ProductRow.listing(row, hasPosition: hasPosition)) }
                }
            } else {
                value.1 = try PostgresSettingsStore.views(rows)
            }
        }
        guard let head else { return nil }
        let basis = PageBasis(head: head, views: views)
        memory.insert(basis, of: request)
        return (basis, listings, !isVerified || again == head)
    }
}

extension PagePlan {
    /// Whether rows include the key of the manual order.
    fileprivate var readsPositions: Bool { sort.terms.contains { $0.key == .position } }
}
