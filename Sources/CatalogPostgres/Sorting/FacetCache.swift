internal import Catalog
internal import Platform
internal import Synchronization

/// The facets of shelves: those counted last, and those being counted. They are counted once for all sorts and pages of a shelf, and
/// for everyone who waits.
final class FacetCache: Sendable {
    /// Everything that counts depend on.
    struct Key: Hashable, Sendable {
        let location: ShelfLocation
        var version: ShelfVersion
        let filter: Filter
        let facets: Set<Facet>

        init(_ planned: PlannedPage) {
            location = planned.basis.head.location
            version = ShelfVersion(planned.basis.head)
            filter = planned.plan.view.filter
            facets = planned.plan.facets
        }
    }

    private final class Count: Sendable {
        let task: Task<Facets?, any Error>
        let readers = Atomic<Int>(0)

        init(_ task: Task<Facets?, any Error>) { self.task = task }
    }

    /// The size of all counts that are kept, and of the largest ones, in bytes.
    private static let (limit, largest) = (8 << 20, 1 << 20)

    private let counted = SharedCache<Key, Facets>(limit: limit, largest: largest) { $1.size }
    private let running = Mutex<[Key: Count]>([:])

    subscript(key: Key) -> Facets? {
        get { counted[key] }
        set { counted[key] = newValue }
    }

    /// Returns counts that are known, or those that someone is counting, or counts.
    ///
    /// - Parameter counting: returns nil if the shelf has another version by now. It is cancelled when all who wait for it are.
    func facets(
        _ key: Key,
        counting: @escaping @Sendable () async throws -> Facets?
    ) async throws -> Facets? {
        if let known = counted[key] { return known }
        let count = running.withLock { running in
            let count = running[key] ?? Count(Task { try await self.count(key, counting) })
            count.readers.add(1, ordering: .relaxed)
            running[key] = count
            return count
        }
        return try await withTaskCancellationHandler {
            try await count.task.value
        } onCancel: {
            leave(count, key)
        }
    }

    /// The number of those who wait for a count.
    func readers(of key: Key) -> Int {
        running.withLock { $0[key]?.readers.load(ordering: .relaxed) } ?? 0
    }

    private func count(_ key: Key, _ counting: @Sendable () async throws -> Facets?) async throws -> Facets? {
        // A cancelled count has been replaced, perhaps.
        defer { if !Task.isCancelled { running.withLock { $0[key] = nil } } }
        let facets = try await counting()
        if let facets { counted[key] = facets }
        return facets
    }

    private func leave(_ count: Count, _ key: Key) {
        running.withLock { running in
            guard count.readers.subtract(1, ordering: .relaxed).newValue == 0, running[key] === count else { return }
            running[key] = nil
            count.task.cancel()
        }
    }
}

extension Facets {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int {
        let texts = (brands + tags).reduce(0) { $0 + 48 + $1.value.utf8.count }
        return 256 + texts + prices.count * MemoryLayout<PriceCount>.stride
    }
}
