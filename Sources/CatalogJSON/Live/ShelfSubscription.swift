internal import Catalog

/// A subscription to a shelf. Changes between two reads are combined into one diff.
package actor ShelfSubscription: LiveSubscription {
    private let hub: LiveHub
    private let feed: ShelfFeed
    private let number: Int
    private let wakes: AsyncStream<Void>
    private var shown: ShelfFeed.Window?
    private var isOver = false
    private var pulse: HeartbeatTimer

    init(_ hub: LiveHub, _ feed: ShelfFeed) {
        self.hub = hub
        self.feed = feed
        pulse = HeartbeatTimer(hub.silence)
        (number, wakes) = feed.followers.add()
    }

    /// Resumes from the window that the subscriber shows, if it is still cached.
    func begin(at version: Int64) { shown = feed.window(at: version) }

    deinit {
        feed.followers.remove(number)
        hub.leave(nil)
    }

    package func next() async -> LiveOutput? {
        while !isOver {
            if let (event, shown) = feed.event(from: shown) {
                self.shown = shown
                isOver = event.name == .gone
                pulse.restart()
                return .events([event])
            }
            guard await wakes.wake() else { return nil }
            if pulse.isDue { return .heartbeat }
        }
        return nil
    }
}
