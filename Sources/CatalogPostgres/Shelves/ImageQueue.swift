internal import Catalog
internal import DequeModule
internal import Shelves

/// The shelves whose images this server should store. It has read such a shelf without an image or with many changes after the image, or
/// the shelf changes in memory.
struct ImageQueue {
    /// A shelf that waits.
    struct Entry {
        let location: ShelfLocation
        /// Whether the stored image cannot be read, although its version and its format are right.
        var isDamaged = false
        /// How much earlier than the shelf's version the stored image may be, in microseconds.
        var tolerance: Int64 = 0
    }

    /// The least time between two images of a shelf by one server.
    static let interval: Duration = .seconds(600)
    /// How long after a change a shelf in memory is entered. Changes are kept for twice as long, so the image before is of use until then.
    static let delay: Duration = .seconds(1800)
    /// The number of shelves that can wait. Others are entered when they are read again.
    static let limit = 10_000

    private var waiting: Deque<Entry> = []
    private var members: Set<ShelfLocation> = []
    /// The shelves that change while they are in memory, and when they are entered.
    private var changing: Deque<(location: ShelfLocation, due: ContinuousClock.Instant)> = []
    private var changingMembers: Set<ShelfLocation> = []
    /// When the last images were taken from the queue.
    private var taken = RecentDictionary<ShelfLocation, ContinuousClock.Instant>(limit: 20 * limit) { _, _ in 1 }

    /// Notes that a shelf was read. It is entered if it has no image, or one that many changes follow.
    mutating func noteRead(
        _ found: ShelfReader.ReadShelf,
        of location: ShelfLocation,
        isDamaged: Bool,
        at now: ContinuousClock.Instant
    ) {
        switch found.kind {
        case .changes: noteChange(of: location, at: now)
        case .image where found.changeCount <= max(4, found.shelf.table.count / 32): break
        case .image, .whole: insert(Entry(location: location, isDamaged: isDamaged), at: now)
        }
    }

    /// Enters a shelf, unless its last image is too recent.
    mutating func insert(_ entry: Entry, at now: ContinuousClock.Instant) {
        guard members.count < Self.limit, !members.contains(entry.location) else { return }
        if let last = taken[entry.location], now - last < Self.interval { return }
        members.insert(entry.location)
        waiting.append(entry)
    }

    /// Notes that a shelf in memory has changed: it is entered later, once for all changes until then.
    mutating func noteChange(of location: ShelfLocation, at now: ContinuousClock.Instant) {
        guard changingMembers.count < Self.limit, changingMembers.insert(location).inserted else { return }
        changing.append((location, now + Self.delay))
    }

    /// Removes and returns the shelf that has waited longest; nil if there is none.
    mutating func next(at now: ContinuousClock.Instant) -> Entry? {
        while let first = changing.first, first.due <= now {
            changing.removeFirst()
            changingMembers.remove(first.location)
            // Another server that has the shelf in memory may store its image at the same time.
            insert(Entry(location: first.location, tolerance: Self.delay.microseconds / 2), at: now)
        }
        guard let first = waiting.popFirst() else { return nil }
        members.remove(first.location)
        taken[first.location] = now
        return first
    }
}

extension Duration {
    fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
