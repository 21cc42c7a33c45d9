package import Catalog

/// An event of the database for logs and metrics.
package enum DatabaseObservation: Sendable, Equatable {
    /// How a shelf was read into memory.
    package enum ShelfReadKind: String, Sendable, CaseIterable {
        /// Only what had changed since the version in memory.
        case changes
        /// From its stored image, with what had changed since.
        case image
        case whole
    }

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
    case importCompleted(ImportSummary, Duration)
    /// An import failed; stores that were already imported keep their changes.
    case importFailed(reason: String, Duration)
}
