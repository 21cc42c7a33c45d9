/// Where a subscription starts.
package enum SubscriptionStart: Sendable, Hashable {
    /// At the current state; earlier changes are not sent.
    case now
    /// After a revision of the user, or at a version of the shelf.
    case after(Int64)
    /// The subscriber's state is unknown: it must resync.
    case unknown
}
