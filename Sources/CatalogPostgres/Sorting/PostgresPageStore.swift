internal import Catalog
internal import CatalogJSON
internal import LibPQ

/// Pages in PostgreSQL.
struct PostgresPageStore: PageStore {
    let database: Database
    let memory = PageBasisCache()

    func likelyBasis(of request: PageRequest) -> PageBasis? { memory.basis(of: request) }

    func basis(of request: PageRequest, likely: PageBasis?) async throws(CatalogError) -> PageBasis {
        try await database.mappingErrors {
            if let likely, try await read(request, likely.head.location, nil).confirms(likely) { return likely }
            return try await readBasis(request)
        }
    }

    func page(_ request: PageRequest, likely: PlannedPage?) async throws(CatalogError) -> ShelfPage {
        try await database.mappingErrors { try await readPage(request, likely) }
    }

    /// Confirms the basis and reads the page in one round trip. If data changes in between, a page of one range is newer than
    /// its tag, so the next request's tag differs; a page of several ranges is read again.
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
            let found = try await read(
                request,
                head.location,
                RangeRead(plan, head, statement, 0..<first, limit: wanted)
            )
            guard found.isSteady else { continue }
            if !found.confirms(planned.basis) {
                planned = try PlannedPage(request, try await readBasis(request))
                // The rows are those of the new basis, if it is the one that was found before them.
                guard found.confirms(planned.basis), planned.plan == plan, planned.basis.head.location == head.location
                else { continue }
            }
            var listings = found.listings
            if listings.count < wanted, first < ranges {
                // The rest is consistent if nothing changed in between.
                let rest = RangeRead(plan, head, statement, first..<ranges, limit: wanted - listings.count)
                let more = try await read(request, head.location, rest)
                guard more.isSteady, more.confirms(planned.basis) else { continue }
                listings += more.listings
            }
            return ShelfPage(planned, scope: request.scope, listings: listings)
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
    private func readBasis(_ request: PageRequest) async throws -> PageBasis {
        let user = Self.rememberingUser(request)
        // The revision is read before the views, so that views that change in between are read again next time.
        let initial: (head: ShelfHead?, views: RememberedViews, revision: Int64) = (nil, .none, 0)
        let found = try await database.pages.read(
            sharing: user.map { [Self.revisionQuery($0)] } ?? [],
            then: Self.basisQueries(request),
            into: initial,
            rows: { value, index, rows in
                if index == 0 {
                    value.head = try rows.first { try ShelfRow.head($0) }
                } else {
                    value.views = try PostgresSettingsStore.views(rows)
                }
            },
            sharedRow: { value, _, row in value.revision = try row.int8(1) }
        )
        if let head = found.head {
            let basis = PageBasis(head: head, views: found.views, revision: found.revision)
            memory.insert(basis, of: request)
            return basis
        }
        _ = try await ShelfLookup(database: database).readStore(request.store)
        throw CatalogError.notFound("shelf “\(request.shelf)”")
    }

    /// Returns the user whose remembered views matter to a page. A cursor contains its sort.
    private static func rememberingUser(_ request: PageRequest) -> UserID? { request.after == nil ? request.user : nil }

    private static func revisionQuery(_ user: UserID) -> SharedQuery {
        SharedQuery(PostgresSettingsStore.revisions, key: [.text(user.text)])
    }

    /// Returns the query for the shelf, and the one for the caller's views if there is a caller.
    static func basisQueries(_ request: PageRequest) -> [PostgresQuery] {
        let head = PostgresQuery(ShelfLookup.oneHead, [.text(request.store.text), .text(request.shelf.text)])
        guard let user = rememberingUser(request) else { return [head] }
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

    /// What one round trip read.
    private struct PageRead {
        /// The shelf's version before the listings; nil if there is no such shelf.
        var version: ShelfVersion?
        /// The revision of the caller's settings; 0 if they do not matter.
        var revision: Int64 = 0
        var listings: [Listing] = []
        /// The version after the listings, if it was read.
        var lastVersion: ShelfVersion?
        /// Whether nothing changed between the first and the last range.
        var isSteady = true

        func confirms(_ basis: PageBasis) -> Bool {
            version == ShelfVersion(basis.head) && revision == basis.revision
        }
    }

    /// Reads the current version of a shelf, and a page's listings.
    ///
    /// Many reads share the query of the versions. A version covers everything that a basis contains but the generation of
    /// keys: with an outdated one, the next page looks up the key of its cursor again.
    ///
    /// - Parameter page: nil to read only the version.
    private func read(_ request: PageRequest, _ location: ShelfLocation, _ page: RangeRead?) async throws -> PageRead {
        let key = [Int64(location.storeID), Int64(location.shelfID)]
        var shared = [SharedQuery(ShelfLookup.versions, key: key.map { .int8($0) })]
        if let user = Self.rememberingUser(request) { shared.append(Self.revisionQuery(user)) }
        var queries = page?.queries ?? []
        let end = queries.count
        let isVerified = page?.isVerified ?? false
        if isVerified { queries.append(PostgresQuery(ShelfLookup.versions, key.map { .int8Array([$0]) })) }
        let limit = page?.limit ?? 0
        let hasPosition = page?.plan.readsPositions ?? false
        var found = try await database.pages.read(
            sharing: shared,
            then: queries,
            into: PageRead(),
            rows: { value, index, rows in
                if index == end {
                    value.lastVersion = try rows.first { try ShelfLookup.version($0) }
                } else {
                    try rows.forEach { row in
                        guard value.listings.count < limit else { return }
                        value.listings.append(try ProductRow.listing(row, hasPosition: hasPosition))
                    }
                }
            },
            sharedRow: { value, index, row in
                if index == 0 {
                    value.version = try ShelfLookup.version(row)
                } else {
                    value.revision = try row.int8(1)
                }
            }
        )
        found.isSteady = !isVerified || found.lastVersion == found.version
        return found
    }
}

extension PagePlan {
    /// Whether rows include the key of the manual order.
    fileprivate var readsPositions: Bool { sort.terms.contains { $0.key == .position } }
}
