internal import Catalog

/// A subscription to a shelf. Changes between two reads are combined into one diff.
package actor ShelfChanges: LiveChanges {
    private let hub: LiveHub
    private let feed: ShelfFeed
    private let number: Int
    private let wakes: AsyncStream<Void>
    private var shown: ShelfFeed.Window?
    private var isOver = false
    private var pulse: Pulse

    init(_ hub: LiveHub, _ feed: ShelfFeed) {
        self.hub = hub
        self.feed = feed
        pulse = Pulse(hub.silence)
        (number, wakes) = feed.followers.join()
    }

    /// Resumes from the window that the subscriber shows, if it is still cached.
    func begin(at version: Int64) { shown = feed.window(at: version) }

    deinit {
        feed.followers.leave(number)
        hub.leave(nil)
    }

    package func next() async -> LiveOutput? {
        while !isOver {
            if let (event, shown) = feed.event(from: shown) {
                self.shown = shown
                isOver = event.name == .gone
                pulse.beat()
                return .events([event])
            }
            guard await wakes.wake() else { return nil }
            if pulse.isDue { return .heartbeat }
        }
        return nil
    }
}
