/// The time limits of work on the database, by the amount of data that it touches.
package enum TimeLimit: Sendable {
    /// A few rows by key.
    case lookup
    /// A change by one user, or of a few products.
    case edit
    /// A whole shelf, list or export.
    case shelf
    /// Many rows of one user, or the bookkeeping of a run.
    case bulk
    /// The prices of thousands of products.
    case prices
    /// A fold of one batch of purchases.
    case fold
    /// Every row of a store.
    case store
    /// Maintenance that nobody waits for.
    case maintenance
    /// A part of a night's batch whose size is not limited.
    case night

    /// The limit of the work.
    package var duration: Duration {
        switch self {
        case .lookup: .seconds(5)
        case .edit: .seconds(10)
        case .shelf: .seconds(30)
        case .bulk: .seconds(60)
        case .prices: .seconds(120)
        case .fold: .seconds(180)
        case .store: .seconds(300)
        case .maintenance: .seconds(600)
        case .night: .seconds(6 * 3600)
        }
    }

    /// The limit of a request that does the work: it also reads a body, and waits for a connection.
    package var request: Duration { duration + .seconds(10) }
}
