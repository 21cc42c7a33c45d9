package import Catalog

/// A subscription, from which output is pulled at the subscriber's own pace.
package protocol LiveSubscription: Actor {
    /// Returns the next output; nil at the end.
    ///
    /// - Throws: `unavailable` if the database is needed but unreachable.
    func next() async throws(CatalogError) -> LiveOutput?
}

extension AsyncStream<Void> {
    /// Waits for the next wake-up; false at the end.
    func wait() async -> Bool {
        var iterator = makeAsyncIterator()
        return await iterator.next() != nil
    }
}

/// The output for a subscriber.
package enum LiveOutput: Sendable {
    case events([LiveEvent])
    /// A keep-alive after a time without events.
    case heartbeat
}

/// Where a subscription starts.
package enum SubscriptionStart: Sendable, Hashable {
    /// At the current state; earlier changes are not sent.
    case now
    /// After a revision of the user, or at a version of the shelf.
    case after(Int64)
    /// The subscriber's state is unknown: it must resync.
    case unknown
}

/// A timer for heartbeats after the last output.
struct HeartbeatTimer {
    private var last: ContinuousClock.Instant
    private let silence: Duration

    init(_ silence: Duration, at now: ContinuousClock.Instant = .now) {
        self.silence = silence
        last = now
    }

    mutating func restart(at now: ContinuousClock.Instant = .now) { last = now }

    /// Returns whether a heartbeat is due, and restarts the timer then.
    mutating func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        guard now - last >= silence else { return false }
        restart(at: now)
        return true
    }
}
