/// An event for logs and metrics. All operational events are declared here.
package enum Observation: Sendable, Equatable {
    /// Where a page came from.
    package enum PageResult: String, Sendable, CaseIterable {
        case cached, rendered
        /// The client has the page.
        case notModified = "not_modified"
    }

    /// A kind of live feed.
    package enum FeedKind: String, Sendable, CaseIterable {
        case shelf, user
    }

    /// How a shelf was read into memory.
    package enum ShelfReadKind: String, Sendable, CaseIterable {
        /// Only what had changed since the version in memory.
        case changes
        /// From its stored image, with what had changed since.
        case image
        case whole
    }

    /// A request has started; `requestCompleted` follows.
    case requestStarted
    case requestCompleted(CompletedRequest)
    /// A page was returned.
    case pageReturned(PageResult)
    /// A request or a background task failed with an internal error.
    ///
    /// - Parameters:
    ///   - source: the kind of work: `request` or the name of a task.
    ///   - id: the id of the request.
    case fault(source: String, id: String?, detail: String)
    /// The database rejected a value that validation had accepted.
    case validationGap(constraint: String?, sqlState: String)
    /// The database is unreachable or out of resources.
    case databaseUnavailable(reason: String)
    /// A database operation failed.
    ///
    /// - Parameter kind: the class of its SQLSTATE, or the kind of an error without one, such as `connection`.
    case databaseError(kind: String)
    /// A caller received a connection of a lane.
    case laneWaited(lane: String, Duration)
    /// A shelf was read into memory.
    ///
    /// - Parameter duration: includes the wait for a connection.
    case shelfRead(ShelfReadKind, Duration)
    /// The image of a shelf was stored.
    case shelfImageWritten
    /// A replica is used for reads from now on, or is passed over for a reason.
    ///
    /// - Parameter reason: nil if it is used.
    case replicaChanged(name: String, reason: String?)
    /// A read that a replica could not answer was repeated on the primary.
    case replicaPassedOver(name: String, reason: String)
    /// From now on, pages are read from a worker of a Citus cluster, or otherwise through the coordinator.
    ///
    /// - Parameter reason: why they are not read from the worker; nil if they are.
    case workerChanged(name: String, reason: String?)
    /// A read that a worker could not answer was retried through the coordinator.
    case workerPassedOver(name: String, reason: String)
    /// A connection was rejected, because its client has too many.
    ///
    /// - Parameter address: the client's address.
    case connectionRejected(address: String)
    /// Events were sent to a subscriber.
    case eventsSent(FeedKind, count: Int)
    /// The events of a change are ready for the subscribers of a feed.
    ///
    /// - Parameter delay: the time since the server noticed the change.
    case feedUpdated(FeedKind, delay: Duration)
    case importCompleted(ImportSummary, Duration)
    /// An import failed; stores that were already imported keep their changes.
    case importFailed(reason: String, Duration)
    /// Purchases were folded.
    case purchasesFolded(count: Int, Duration)
}

/// A receiver of observations.
package struct Observer: Sendable {
    package let observe: @Sendable (Observation) -> Void

    package init(_ observe: @escaping @Sendable (Observation) -> Void) { self.observe = observe }

    /// An observer that ignores everything.
    package static let none = Observer { _ in }
}
