/// A request for a re-sort.
package struct ResortRequest: Sendable, Hashable {
    /// How a re-sort reports the moves of a shelf.
    package enum DiffDetail: String, CaseIterable, Sendable {
        /// No report; displayed orders are not compared.
        case none
        /// The number of moved products.
        case summary
        /// The moves in the API's format.
        case moves
        /// The moves as RFC 6902 operations.
        case jsonPatch = "json-patch"
    }

    /// nil for every store.
    package var store: CatalogKey?
    /// Shelves of that store; empty for all.
    package var shelves: [CatalogKey]
    /// Only shelves that changed or had purchases since then.
    package var changedSince: Timestamp?
    package var diffs: DiffDetail
    /// Whether to report the result without changing anything.
    package var isDryRun: Bool
    /// The number of shelves processed concurrently.
    package var jobs: Int
    /// The share of the time in which each job works on shelves, in percent. Pages are faster during the rest.
    package var pace: Int
    /// The retention of customers and event ids, in days.
    package var retentionDays: Int

    package static let jobsLimit = 64
    package static let paces = 1...100

    package init(
        store: CatalogKey? = nil,
        shelves: [CatalogKey] = [],
        changedSince: Timestamp? = nil,
        diffs: DiffDetail = .summary,
        isDryRun: Bool = false,
        jobs: Int = 1,
        pace: Int = 100,
        retentionDays: Int = Purchase.retentionDays
    ) {
        self.store = store
        self.shelves = shelves
        self.changedSince = changedSince
        self.diffs = diffs
        self.isDryRun = isDryRun
        self.jobs = jobs
        self.pace = pace
        self.retentionDays = retentionDays
    }

    /// Returns how long a job pauses after some work.
    package func pause(after work: Duration) -> Duration { work * (100 - pace) / pace }
}
