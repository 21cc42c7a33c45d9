internal import Catalog

/// A subscription to a shelf. Changes between two reads are combined into one diff.
package actor ShelfSubscription: LiveSubscription {
    private let feed: ShelfFeed
    private let permit: Permit
    private let includesProducts: Bool
    private let number: Int
    private let wakeups: AsyncStream<Void>
    private var shown: ShelfFeed.Window?
    private var isOver = false
    private var heartbeat: HeartbeatTimer

    /// - Parameters:
    ///   - permit: held until the subscription is released.
    ///   - heartbeat: the time without output after which it sends a heartbeat.
    init(_ feed: ShelfFeed, _ permit: Permit, heartbeat: Duration, _ includesProducts: Bool) {
        self.includesProducts = includesProducts
        self.feed = feed
        self.permit = permit
        self.heartbeat = HeartbeatTimer(heartbeat)
        (number, wakeups) = feed.subscribers.add()
    }

    /// Resumes from the window that the subscriber shows, if it is still cached.
    func begin(at version: Int64) { shown = feed.window(at: version) }

    deinit { feed.subscribers.remove(number) }

    package func next() async -> LiveOutput? {
        while !isOver {
            if let (event, shown) = feed.event(from: shown, includingProducts: includesProducts) {
                self.shown = shown
                isOver = event.name == .gone
                heartbeat.restart()
                return .events([event])
            }
            guard await wakeups.wait() else { return nil }
            if heartbeat.isDue() { return .heartbeat }
        }
        return nil
    }
}
