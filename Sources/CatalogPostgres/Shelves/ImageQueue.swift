internal import Catalog
internal import Shelves

/// The shelves whose images this server should store, because it read them without an image, or with many changes since then.
struct ImageQueue {
    /// A shelf that waits.
    struct Entry {
        let location: ShelfLocation
        /// The image and its version; nil if the shelf must be read again.
        var image: (version: Int64, image: ShelfImage)?
    }

    /// The least time between two images of a shelf by one server.
    static let interval: Duration = .seconds(600)
    /// The number of shelves that can wait. Others are entered when they are read again.
    static let limit = 10_000
    private let sizeLimit: Int
    private var waiting: [Entry] = []
    private var members: Set<ShelfLocation> = []
    private var size = 0
    /// When the last images were taken from the queue.
    private var taken = RecentDictionary<ShelfLocation, ContinuousClock.Instant>(limit: 20 * limit) { _, _ in 1 }

    /// - Parameter sizeLimit: the size of the images that can wait, beyond their tables, in bytes. Other shelves are read again.
    init(sizeLimit: Int = 32 << 20) { self.sizeLimit = sizeLimit }

    /// Enters a shelf, unless its last image is too recent.
    mutating func insert(_ entry: Entry, at now: ContinuousClock.Instant) {
        guard members.count < Self.limit, !members.contains(entry.location) else { return }
        if let last = taken[entry.location], now - last < Self.interval { return }
        var entry = entry
        let added = entry.image?.image.detailSize ?? 0
        if size + added > sizeLimit { entry.image = nil } else { size += added }
        members.insert(entry.location)
        waiting.append(entry)
    }

    /// Removes and returns the shelf that has waited longest; nil if there is none.
    mutating func next(at now: ContinuousClock.Instant) -> Entry? {
        guard let first = waiting.first else { return nil }
        waiting.removeFirst()
        members.remove(first.location)
        size -= first.image?.image.detailSize ?? 0
        taken[first.location] = now
        return first
    }
}
