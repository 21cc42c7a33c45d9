/// Where a subscription starts.
package enum SubscriptionStart: Sendable, Hashable {
    /// At the current state.
    case now
    /// After this revision of the user, or at this version of the shelf.
    case after(Int64)
    /// Anywhere: what the subscriber has is unknown, so it must load everything again.
    case unknown
}
