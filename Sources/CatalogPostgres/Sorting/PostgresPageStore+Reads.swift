internal import Catalog
internal import LibPQ

/// The round trips that read a page.
extension PostgresPageStore {
    /// Everything that the products of a page depend on.
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
        var items: Items
        var count = 0
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

    /// Reads products of a page between two confirmations of its basis.
    ///
    /// - Parameter page: the products so far.
    /// - Returns: nil if something changed meanwhile.
    func read<Items: PageItems>(
        _ products: PostgresQuery,
        _ request: PageRequest,
        _ planned: PlannedPage,
        into page: PageRead<Items>,
        _ source: ReadSource
    ) async throws -> PageRead<Items>? {
        let location = planned.basis.head.location
        // Each statement has a snapshot of its own: the products belong to the first version only if it is still the current one.
        let found = try await source.read(
            sharing: try await versionQueries(request, location),
            into: BasisVersions(),
            Self.add,
            then: [products, ShelfLookup.versionQuery(location)],
            identity: ReadIdentity(PageIdentity(planned, day: page.items.day)),
            into: page
        ) { page, index, rows in
            if index == 1 { return page.lastVersion = try rows.first { try ShelfLookup.version($0) } }
            try rows.forEach { row in
                page.count += 1
                try ProductRow.add(row, to: &page.items)
            }
        }
        guard found.shared.confirm(planned.basis), found.own.lastVersion == found.shared.shelf else { return nil }
        return found.own
    }
}
