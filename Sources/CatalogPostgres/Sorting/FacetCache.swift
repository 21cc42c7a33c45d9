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

        /// The approximate size in memory, in bytes.
        fileprivate var size: Int { 256 + 4 * filter.query.utf8.count }
    }

    /// A count in progress, with the callers who wait for it.
    private struct Count {
        let id: Int
        var task: Task<Void, Never>?
        var readers: [Int: CheckedContinuation<Facets?, any Error>] = [:]
    }

    /// Counts on different servers are not shared: one may fail that another can do.
    private struct RunningKey: Hashable {
        let key: Key
        /// The number of the replica; nil for the primary.
        let replica: Int?
    }

    private struct Counts {
        var running: [RunningKey: Count] = [:]
        /// The readers who gave up before they began to wait.
        var departed: Set<Int> = []
        var nextID = 0

        mutating func newID() -> Int {
            nextID += 1
            return nextID
        }
    }

    /// The size of all counts that are kept, and of the largest ones, in bytes.
    private static let (limit, largest) = (8 << 20, 1 << 20)

    private let counted = SharedCache<Key, Facets>(limit: limit, largest: largest) { $0.size + $1.size }
    private let counts = Mutex(Counts())

    subscript(key: Key) -> Facets? {
        get { counted[key] }
        set { counted[key] = newValue }
    }

    /// Returns cached facets, joins a running count, or starts one.
    ///
    /// - Parameters:
    ///   - replica: the number of the replica that counts; nil for the primary.
    ///   - counting: returns the version that was counted, and its facets; nil if they cannot be counted any more. It is
    ///     cancelled when nobody waits for it.
    /// - Returns: nil if the shelf has another version by now.
    func facets(
        _ key: Key,
        from replica: Int? = nil,
        counting: @escaping @Sendable () async throws -> (version: ShelfVersion, facets: Facets)?
    ) async throws -> Facets? {
        if let known = counted[key] { return known }
        let running = RunningKey(key: key, replica: replica)
        let reader = counts.withLock { $0.newID() }
        defer { counts.withLock { _ = $0.departed.remove(reader) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join(running, reader, $0, counting) }
        } onCancel: {
            leave(running, reader)
        }
    }

    /// The number of callers who wait for a count.
    func readers(of key: Key) -> Int {
        counts.withLock { $0.running[RunningKey(key: key, replica: nil)]?.readers.count ?? 0 }
    }

    private func join(
        _ key: RunningKey,
        _ reader: Int,
        _ continuation: CheckedContinuation<Facets?, any Error>,
        _ counting: @escaping @Sendable () async throws -> (version: ShelfVersion, facets: Facets)?
    ) {
        let ended: Result<Facets?, any Error>? = counts.withLock { counts in
            if counts.departed.remove(reader) != nil { return .failure(CancellationError()) }
            if counts.running[key] == nil {
                // A count that has ended since the first look has kept its result before it ended.
                if let known = counted[key.key] { return .success(known) }
                let id = counts.newID()
                let task = Task { await count(key, id, counting) }
                counts.running[key] = Count(id: id, task: task)
            }
            counts.running[key]!.readers[reader] = continuation
            return nil
        }
        if let ended { continuation.resume(with: ended) }
    }

    /// Ends the waiting of a caller, and the count if it was the last one.
    private func leave(_ key: RunningKey, _ reader: Int) {
        let (continuation, task) = counts.withLock { counts in
            guard let continuation = counts.running[key]?.readers.removeValue(forKey: reader) else {
                counts.departed.insert(reader)
                return (nil as CheckedContinuation<Facets?, any Error>?, nil as Task<Void, Never>?)
            }
            guard counts.running[key]!.readers.isEmpty else { return (continuation, nil) }
            return (continuation, counts.running.removeValue(forKey: key)?.task)
        }
        task?.cancel()
        continuation?.resume(throwing: CancellationError())
    }

    private func count(
        _ running: RunningKey,
        _ id: Int,
        _ counting: @Sendable () async throws -> (version: ShelfVersion, facets: Facets)?
    ) async {
        let key = running.key
        let result: Result<Facets?, any Error>
        do {
            let found = try await counting()
            if let found {
                var current = key
                current.version = found.version
                counted[current] = found.facets
            }
            result = .success(found?.version == key.version ? found?.facets : nil)
        } catch { result = .failure(error) }
        let readers = counts.withLock { counts in
            guard counts.running[running]?.id == id else { return [Int: CheckedContinuation<Facets?, any Error>]() }
            return counts.running.removeValue(forKey: running)!.readers
        }
        for reader in readers.values { reader.resume(with: result) }
    }
}

extension Facets {
    /// The approximate size in memory, in bytes.
    fileprivate var size: Int {
        let texts = (brands + tags).reduce(0) { $0 + 48 + $1.value.utf8.count }
        return 256 + texts + prices.count * MemoryLayout<PriceCount>.stride
    }
}
