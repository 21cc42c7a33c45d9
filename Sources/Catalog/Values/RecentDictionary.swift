/// A dictionary whose entries have a limited total size, which evicts those that were not used recently.
///
/// It has two generations of entries. When the newer one is full, it replaces the older one, whose entries are evicted;
/// reading an entry moves it to the newer one. So the most recently used entries are always kept, up to half of the limit.
///
/// - Complexity: O(1), amortized; evicting a generation is O(limit).
public struct RecentDictionary<Key: Hashable, Value> {
    // Inlinable, because a generic dictionary that is not specialized takes three times as long.
    @usableFromInline var newer: [Key: Value] = [:]
    @usableFromInline var older: [Key: Value] = [:]
    /// The size of the newer generation.
    @usableFromInline var newerSize = 0
    @usableFromInline let generationLimit: Int
    @usableFromInline let size: (Key, Value) -> Int

    /// - Parameters:
    ///   - limit: the maximum size of all entries, in bytes; at least 2. An entry that exceeds half of it is not kept.
    ///   - size: the approximate size of an entry, in bytes.
    @inlinable
    public init(limit: Int, size: @escaping (Key, Value) -> Int) {
        precondition(limit >= 2)
        generationLimit = limit / 2
        self.size = size
    }

    /// The size of the older generation.
    @usableFromInline var olderSize = 0
    /// The number of entries that were evicted.
    public private(set) var evictions = 0
    /// The size of all entries.
    public var totalSize: Int { newerSize + olderSize }
    /// The number of entries.
    @inlinable public var count: Int { newer.count + older.count }

    /// All entries, in no order. Reading them does not count as use.
    @inlinable public var entries: [(key: Key, value: Value)] { newer.map { ($0, $1) } + older.map { ($0, $1) } }

    /// The value of a key; reading it counts as use.
    @inlinable
    public subscript(key: Key) -> Value? {
        @inline(__always) mutating get {
            if let value = newer[key] { return value }
            guard let value = removeOlder(key) else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            _ = removeOlder(key)
            if let newValue { insert(newValue, for: key) } else { removeNewer(key) }
        }
    }

    @inlinable
    mutating func insert(_ value: Value, for key: Key) {
        let added = size(key, value)
        removeNewer(key)
        guard added <= generationLimit else { return }
        if newerSize + added > generationLimit { replaceOlder() }
        newer[key] = value
        newerSize += added
    }

    @usableFromInline
    mutating func replaceOlder() {
        evictions += older.count
        (older, olderSize) = (newer, newerSize)
        (newer, newerSize) = ([:], 0)
    }

    @inlinable
    mutating func removeOlder(_ key: Key) -> Value? {
        guard let removed = older.removeValue(forKey: key) else { return nil }
        olderSize -= size(key, removed)
        return removed
    }

    @inlinable
    mutating func removeNewer(_ key: Key) {
        if let removed = newer.removeValue(forKey: key) { newerSize -= size(key, removed) }
    }
}
