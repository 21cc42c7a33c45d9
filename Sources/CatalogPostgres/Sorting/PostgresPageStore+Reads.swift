internal import Catalog
internal import LibPQ

/// The round trips that read a page.
extension PostgresPageStore {
    /// The ranges, or some products, of a page that are read together.
    struct RangeRead {
        let plan: PagePlan
        let queries: [PostgresQuery]
        /// Whether the rows have keys of the manual order.
        let hasPosition: Bool

        /// - Parameter products: reads products by their keys.
        init(_ plan: PagePlan, products: PostgresQuery) {
            (self.plan, queries, hasPosition) = (plan, [products], false)
        }

        init(
            _ plan: PagePlan,
            _ head: ShelfHead,
            _ statement: PageStatement,
            _ ranges: Range<Int>,
            limit: Int
        ) {
            self.plan = plan
            queries = ranges.map { statement.query($0, plan, head, limit: limit) }
            hasPosition = plan.readsPositions
        }
    }

    /// Everything that the products of a page depend on in its first read.
    struct PageIdentity: Hashable {
        let location: ShelfLocation
        let plan: PagePlan
        let version: ShelfVersion
        let day: Int

        init(_ planned: PlannedPage, day: Int) {
            location = planned.basis.head.location
            plan = planned.plan
            version = ShelfVersion(planned.basis.head)
            self.day = day
        }
    }

    /// The versions of the basis of a page, before its products.
    struct BasisVersions {
        /// nil if the shelf does not exist.
        var shelf: ShelfVersion?
        /// The revision of the caller's settings; 0 if they do not matter.
        var revision: Int64 = 0

        func confirm(_ basis: PageBasis) -> Bool {
            shelf == ShelfVersion(basis.head) && revision == basis.revision
        }
    }

    /// The products of a page that were read so far.
    struct PageRead<Items: PageItems> {
        /// The products to show.
        var items: Items
        /// The number of products that were found, of which the last one may only show that there is a next page.
        var count = 0
        /// The last product to show.
        var last: Listing?
        /// The shelf's version after the products; nil if it does not exist.
        var lastVersion: ShelfVersion?

        init(items: Items) { self.items = items }
    }

    /// Reads the current versions of a page's basis.
    func versions(
        _ request: PageRequest,
        _ location: ShelfLocation,
        _ source: ReadSource
    ) async throws -> BasisVersions {
        try await source.read(
            sharing: try await versionQueries(request, location),
            into: BasisVersions(),
            Self.add,
            then: [],
            into: ()
        ) { _, _, _ in }.shared
    }

    /// Returns the queries for the versions of a page's basis, which many reads share.
    ///
    /// A version covers everything that a basis contains.
    private func versionQueries(_ request: PageRequest, _ location: ShelfLocation) async throws -> [SharedQuery] {
        let isDistributed = try await database.isDistributed()
        let shelf = ShelfLookup.sharedVersionQuery(location, isDistributed: isDistributed)
        guard let user = Self.rememberingUser(request) else { return [shelf] }
        return [shelf, PostgresSettingsStore.revisionQuery(user, isDistributed: isDistributed)]
    }

    /// Adds a row of the queries for the versions.
    @Sendable
    private static func add(_ versions: inout BasisVersions, _ index: Int, _ row: borrowing PostgresRow) throws {
        if index == 0 {
            versions.shelf = try ShelfLookup.version(row)
        } else {
            versions.revision = try row.int8(1)
        }
    }

    /// Reads the current versions of a page's basis, and then products.
    ///
    /// - Parameters:
    ///   - identity: nil for products that no other read can share.
    ///   - initial: the products so far.
    /// - Returns: nil if the shelf changed meanwhile.
    func read<Items: PageItems>(
        _ request: PageRequest,
        _ location: ShelfLocation,
        _ page: RangeRead,
        _ identity: PageIdentity? = nil,
        into initial: PageRead<Items>,
        _ source: ReadSource
    ) async throws -> (versions: BasisVersions, page: PageRead<Items>)? {
        var queries = page.queries
        let end = queries.count
        // Each statement has a snapshot of its own: the products belong to the first version only if it is still the current one.
        queries.append(ShelfLookup.versionQuery(location))
        let shown = page.plan.limit
        let hasPosition = page.hasPosition
        let found = try await source.read(
            sharing: try await versionQueries(request, location),
            into: BasisVersions(),
            Self.add,
            then: queries,
            identity: identity.map { ReadIdentity($0) },
            into: initial
        ) { page, index, rows in
            if index == end { return page.lastVersion = try rows.first { try ShelfLookup.version($0) } }
            try rows.forEach { row in
                guard page.count <= shown else { return }
                page.count += 1
                if page.count <= shown { try ProductRow.add(row, to: &page.items) }
                if page.count == shown { page.last = try ProductRow.listing(row, hasPosition: hasPosition) }
            }
        }
        if found.own.lastVersion != found.shared.shelf { return nil }
        return (found.shared, found.own)
    }
}

extension PagePlan {
    /// Whether rows include the key of the manual order.
    var readsPositions: Bool { sort.terms.contains { $0.key == .position } }
}
