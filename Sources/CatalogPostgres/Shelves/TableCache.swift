internal import Catalog
internal import Synchronization

/// A cache that also keeps the last of the entries that are too large for it.
final class TableCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let cache: SharedCache<Key, Value>
    /// The size of the largest entry in `cache`, in bytes.
    private let largest: Int
    private let large = Mutex<(key: Key, value: Value)?>(nil)
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
    subscript(key: Key) -> Value? { cache[key] ?? large.withLock { $0?.key == key ? $0?.value : nil } }

    func insert(_ value: Value, for key: Key) {
        if size(value) <= largest {
            cache[key] = value
            large.withLock { if $0?.key == key { $0 = nil } }
        } else {
            cache[key] = nil
            large.withLock { $0 = (key, value) }
        }
    }

    func remove(_ key: Key) {
        cache[key] = nil
        large.withLock { if $0?.key == key { $0 = nil } }
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
        if let large = large.withLock({ $0 }) { entries.append(large) }
        return entries
    }

    var use: CacheUse {
        var use = cache.use
        if let large = large.withLock({ $0?.value }) {
            use.count += 1
            use.size += size(large)
        }
        return use
    }
}
