internal import Catalog

/// The shelves whose images this server should write, because it read them without an image, or with many changes since then.
struct ImageQueue {
    /// The least time between two images of a shelf by one server.
    static let interval: Duration = .seconds(600)
    /// The number of shelves that can wait. Others are entered when they are read again.
    static let limit = 10_000

    private var waiting: [ShelfLocation] = []
    private var members: Set<ShelfLocation> = []
    /// When the last images were taken from the queue.
    private var taken = RecentDictionary<ShelfLocation, ContinuousClock.Instant>(limit: 20 * limit) { _, _ in 1 }

    /// Enters a shelf, unless its last image is too recent.
    mutating func insert(_ location: ShelfLocation, at now: ContinuousClock.Instant) {
        guard members.count < Self.limit, !members.contains(location) else { return }
        if let last = taken[location], now - last < Self.interval { return }
        members.insert(location)
        waiting.append(location)
    }

    /// Removes and returns the shelf that has waited longest; nil if there is none.
    mutating func next(at now: ContinuousClock.Instant) -> ShelfLocation? {
        guard let first = waiting.first else { return nil }
        waiting.removeFirst()
        members.remove(first)
        taken[first] = now
        return first
    }
}
