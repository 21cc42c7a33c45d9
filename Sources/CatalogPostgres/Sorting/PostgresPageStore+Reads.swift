internal import Catalog
internal import LibPQ

/// Reads of the versions that a page has.
extension PostgresPageStore {
    /// The versions of the basis of a page.
    struct BasisVersions {
        /// nil if the shelf does not exist.
        var shelf: ShelfVersion?
        /// The revision of the caller's settings; 0 if they do not matter.
        var revision: Int64 = 0

        func confirm(_ basis: PageBasis) -> Bool {
            shelf == ShelfVersion(basis.head) && revision == basis.revision
        }
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
}
