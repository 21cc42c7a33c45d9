/// What a re-sort is asked to do.
package struct ResortRequest: Sendable, Hashable {
    /// How a re-sort reports the moves of a shelf.
    package enum DiffDetail: String, CaseIterable, Sendable {
        /// Nothing: the orders that shelves show are not compared.
        case none
        /// How many products moved.
        case summary
        /// The moves, as the API answers them.
        case moves
        /// The moves as RFC 6902 operations.
        case jsonPatch = "json-patch"
    }

    /// nil for every store.
    package var store: CatalogKey?
    /// Of that store; empty for all.
    package var shelves: [CatalogKey]
    /// Only shelves that were changed since, or whose products were bought.
    package var changedSince: Timestamp?
    package var diffs: DiffDetail
    /// Nothing is changed; what would be is told.
    package var isDryRun: Bool
    /// How many shelves are worked on at once.
    package var jobs: Int
    /// How many days customers and the ids of events are kept.
    package var keptDays: Int

    package static let jobsLimit = 64

    package init(
        store: CatalogKey? = nil,
        shelves: [CatalogKey] = [],
        changedSince: Timestamp? = nil,
        diffs: DiffDetail = .summary,
        isDryRun: Bool = false,
        jobs: Int = 1,
        keptDays: Int = Purchase.keptDays
    ) {
        self.store = store
        self.shelves = shelves
        self.changedSince = changedSince
        self.diffs = diffs
        self.isDryRun = isDryRun
        self.jobs = jobs
        self.keptDays = keptDays
    }
}
