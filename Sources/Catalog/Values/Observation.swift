/// Everything worth seeing while Aisle runs. A log and metrics are its consumers; nothing else speaks of it.
package enum Observation: Sendable, Hashable {
    /// A request was answered.
    ///
    /// - Parameter endpoint: the path template, the label of metrics; nil if the path is unknown.
    case answered(method: String, path: String, endpoint: String?, status: Int, duration: Duration)
    /// A request met a fault of ours.
    case fault(request: String, detail: String)
    /// The database refused a value that our own validation had let through.
    case validationGap(constraint: String?, sqlState: String)
    /// The database is away or out of resources.
    case databaseUnavailable(reason: String)
    /// An import ended; nil where it failed.
    case importEnded(ImportSummary?)
}
