package import Catalog
internal import CatalogJSON

/// A device's subscription to a user.
package actor UserSubscription: LiveSubscription {
    private let hub: LiveHub
    private let feed: UserFeed
    private let permit: Permit
    private let number: Int
    private let wakeups: AsyncStream<Void>
    private var position: Int64
    private var resets: Int
    private var isCatchingUp: Bool
    private var mustResync: Bool
    private let expiry: Timestamp?
    private var heartbeat: HeartbeatTimer

    /// - Parameter permit: held until the subscription is released.
    init(
        _ hub: LiveHub,
        _ feed: UserFeed,
        _ permit: Permit,
        from start: SubscriptionStart,
        current: Int64,
        until expiry: Timestamp?
    ) {
        self.hub = hub
        self.feed = feed
        self.permit = permit
        heartbeat = HeartbeatTimer(hub.idleInterval)
        self.expiry = expiry
        // Read before joining, so that a reset in between is noticed.
        resets = feed.resets
        (number, wakeups) = feed.subscribers.add()
        mustResync = start == .unknown
        if case .after(let revision) = start {
            position = revision
            // The revision may belong to an erased account, so check the database.
            isCatchingUp = true
        } else {
            position = current
            isCatchingUp = false
        }
    }

    deinit { feed.subscribers.remove(number) }

    /// The last delivered revision; nil until the device has been sent a due resync.
    package var revision: Int64? { mustResync ? nil : position }

    package func next() async throws(CatalogError) -> LiveOutput? {
        while true {
            let events = try await pending()
            if !events.isEmpty {
                heartbeat.restart()
                return .events(events)
            }
            guard await wakeups.wait() else { return nil }
            if let expiry, expiry <= .now() { return nil }
            if heartbeat.isDue() { return .heartbeat }
        }
    }

    /// Continues at the current revision, and asks the device to resync.
    private func resync() async throws(CatalogError) -> [LiveEvent] {
        position = try await hub.versions.revisions(of: [feed.user])[feed.user] ?? 0
        isCatchingUp = false
        return [.gap(position)]
    }

    private func pending() async throws(CatalogError) -> [LiveEvent] {
        if mustResync {
            let gap = try await resync()
            mustResync = false
            return gap
        }
        if isCatchingUp {
            // At the start, or for a slow reader: read one page at a time from the database.
            let page = try await hub.versions.changes(of: feed.user, since: position, limit: Self.page)
            if page.isResync {
                return try await resync()
            }
            position = max(position, page.revision)
            isCatchingUp = page.events.count == Self.page
            if !page.events.isEmpty { return page.events }
        }
        switch feed.changes(after: position, resets: resets) {
        case .events(let events, let revision):
            position = revision
            return events
        case .tooOld:
            isCatchingUp = true
            return try await pending()
        case .reset(let revision, let resets):
            self.resets = resets
            position = revision
            return [.gap(revision)]
        }
    }

    private static let page = 100
}
