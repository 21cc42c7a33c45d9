internal import Synchronization

/// A read of shelves, which begins before its transaction.
struct ShelfLoad: Sendable {
    let origin: ReadSource.Origin
    var start: ContinuousClock.Instant = .now
}

/// A shelf that this server keeps in memory.
final class KeptShelf: Sendable {
    let shelf: ShelfSnapshot
    /// Whether it was read as a whole.
    let isWhole: Bool
    private let readAt: ContinuousClock.Instant
    /// Whether a request has used the shelf since `takeUse`.
    private let isUsed: Atomic<Bool>

    init(_ shelf: ShelfSnapshot, readAt: ContinuousClock.Instant = .now, isWhole: Bool, isUsed: Bool) {
        (self.shelf, self.readAt, self.isWhole) = (shelf, readAt, isWhole)
        self.isUsed = Atomic(isUsed)
    }

    /// Notes that a request uses the shelf.
    func noteUse() { if !isUsed.load(ordering: .relaxed) { isUsed.store(true, ordering: .relaxed) } }

    /// Returns whether a request has used the shelf since the last call.
    func takeUse() -> Bool { isUsed.exchange(false, ordering: .relaxed) }

    /// Returns whether a read that found a version replaces this one: a later version, or an earlier one of a database that has lost commits.
    func isReplaced(by version: Int64, of load: ShelfLoad) -> Bool {
        if version >= shelf.version { return version > shelf.version }
        // The primary has an earlier version than it had before the transaction began.
        return readAt < load.start && load.origin.hasAllCommits
    }
}
