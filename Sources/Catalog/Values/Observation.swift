/// An event for logs and metrics. All operational events are declared here.
package enum Observation: Sendable, Hashable {
    /// A request was completed.
    ///
    /// - Parameter endpoint: the path template, the label of metrics; nil if the path is unknown.
    case requestCompleted(method: String, path: String, endpoint: String?, status: Int, duration: Duration)
    /// A request or a background task, named by `source`, failed with an internal error.
    case fault(source: String, detail: String)
    /// The database rejected a value that validation had accepted.
    case validationGap(constraint: String?, sqlState: String)
    /// The database is unreachable or out of resources.
    case databaseUnavailable(reason: String)
    /// A replica is used for reads from now on, or is passed over for a reason.
    ///
    /// - Parameter reason: nil if it is used.
    case replicaChanged(name: String, reason: String?)
    /// A read that a replica could not answer was repeated on the primary.
    case replicaPassedOver(name: String, reason: String)
    /// A connection was rejected, because its client has too many.
    ///
    /// - Parameter address: the client's address.
    case connectionRejected(address: String)
    /// An import ended; nil if it failed.
    case importEnded(ImportSummary?)
}
