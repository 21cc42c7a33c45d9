/// A kind of live feed.
package enum FeedKind: String, Sendable, CaseIterable {
    case shelf, user
}

/// An event of a feed for metrics.
package enum FeedObservation: Sendable, Equatable {
    /// The events of a change are ready for the subscribers of a feed.
    ///
    /// - Parameter delay: the time since the server noticed the change.
    case feedUpdated(FeedKind, delay: Duration)
}
