internal import Catalog
internal import Synchronization

/// A cache that also keeps the last of the entries that are too large for it.
final class TableCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Large {
        var entry: (key: Key, value: Value)?
        /// The number of entries that a later one has replaced.
        var evictions = 0

        mutating func remove(_ key: Key) { if entry?.key == key { entry = nil } }
    }

    private let cache: SharedCache<Key, Value>
    /// The size of the largest entry in `cache`, in bytes.
    private let largest: Int
    private let large = Mutex(Large())
    private let size: @Sendable (Value) -> Int

    /// - Parameters:
    ///   - limit: the maximum size of all entries but the large one, in bytes.
    ///   - largest: the size of the largest entry that is not the large one, in bytes.
    ///   - size: the approximate size of a value, in bytes.
    init(limit: Int, largest: Int, size: @escaping @Sendable (Value) -> Int) {
        cache = SharedCache(limit: limit, largest: largest) { size($1) }
        (self.largest, self.size) = (largest, size)
    }

    /// The value of a key; reading it counts as use.
    subscript(key: Key) -> Value? { cache[key] ?? largeValue(key) }

    /// Returns the value of a key. It does not count as use.
    func peek(_ key: Key) -> Value? { cache.peek(key) ?? largeValue(key) }

    private func largeValue(_ key: Key) -> Value? { large.withLock { $0.entry?.key == key ? $0.entry?.value : nil } }

    func insert(_ value: Value, for key: Key) {
        if size(value) <= largest {
            cache[key] = value
            large.withLock { $0.remove(key) }
        } else {
            cache[key] = nil
            large.withLock { large in
                if let entry = large.entry, entry.key != key { large.evictions += 1 }
                large.entry = (key, value)
            }
        }
    }

    func remove(_ key: Key) {
        cache[key] = nil
        large.withLock { $0.remove(key) }
    }

    /// The maximum size of all entries but the large one, in bytes; a lower one evicts entries at once.
    var limit: Int {
        get { cache.limit }
        set { cache.limit = newValue }
    }

    /// The size of all entries but the large one, in bytes.
    var limitedSize: Int { cache.use.size }

    /// All entries, in no order.
    var entries: [(key: Key, value: Value)] {
        var entries = cache.entries
        if let large = large.withLock({ $0.entry }) { entries.append(large) }
        return entries
    }

    var use: CacheUse {
        var use = cache.use
        let (value, evictions) = large.withLock { ($0.entry?.value, $0.evictions) }
        use.evictions += evictions
        if let value {
            use.count += 1
            use.size += size(value)
        }
        return use
    }
}
