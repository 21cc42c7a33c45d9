public import Synchronization

/// A cache that many threads use: recent dictionaries with a lock each, so that threads seldom wait for each other and an
/// eviction takes little time.
public final class SharedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A key with its hash value, which is computed once.
    @usableFromInline
    struct HashedKey: Hashable, Sendable {
        @usableFromInline let key: Key
        @usableFromInline let hash: Int

        @inlinable
        init(_ key: Key) {
            self.key = key
            hash = key.hashValue
        }

        @inlinable static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.key == b.key }
        @inlinable func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    @usableFromInline
    final class Part: Sendable {
        @usableFromInline let entries: Mutex<RecentDictionary<HashedKey, Value>>

        init(limit: Int, size: @escaping @Sendable (Key, Value) -> Int) {
            entries = Mutex(RecentDictionary(limit: limit) { size($0.key, $1) })
        }
    }

    @usableFromInline let parts: [Part]

    /// The maximum number of parts.
    private static var partLimit: Int { 16 }

    /// - Parameters:
    ///   - limit: the maximum size of all entries, in bytes; at least 2. An entry that exceeds half of a part's share is not kept.
    ///   - largest: the size of the largest entry to keep, in bytes. A small cache has fewer parts, so that it can keep such entries.
    ///   - size: the approximate size of an entry, in bytes. Clients determine the size of most entries, so a number of entries would not
    ///     limit the memory.
    public init(limit: Int, largest: Int, size: @escaping @Sendable (Key, Value) -> Int) {
        let count = max(1, min(Self.partLimit, limit / (2 * largest)))
        parts = (0..<count).map { _ in Part(limit: limit / count, size: size) }
    }

    /// The usual size of an entry, in bytes, without what its key and value refer to.
    public static var entryOverhead: Int { RecentDictionary<HashedKey, Value>.entryOverhead }

    /// The value of a key; reading it counts as use.
    @inlinable
    public subscript(key: Key) -> Value? {
        get {
            let key = HashedKey(key)
            return part(key).entries.withLock { $0.value(key) }
        }
        set {
            let key = HashedKey(key)
            part(key).entries.withLock { $0[key] = newValue }
        }
    }

    /// Returns the value of a key. It does not count as use.
    public func peek(_ key: Key) -> Value? {
        let key = HashedKey(key)
        return part(key).entries.withLock { $0.peek(key) }
    }

    /// The maximum size of all entries, in bytes; a lower one evicts entries at once.
    public var limit: Int {
        get { parts[0].entries.withLock(\.limit) * parts.count }
        set {
            for part in parts { part.entries.withLock { $0.limit = newValue / parts.count } }
        }
    }

    /// All entries, in no order. Reading them does not count as use.
    public var entries: [(key: Key, value: Value)] {
        parts.flatMap { part in part.entries.withLock { $0.entries.map { ($0.key.key, $0.value) } } }
    }

    public var use: CacheUse {
        parts.reduce(into: CacheUse()) { use, part in
            part.entries.withLock {
                use.count += $0.count
                use.size += $0.totalSize
                use.evictions += $0.evictions
            }
        }
    }

    // The dictionary uses the lower bits of the hash value's own hash.
    @inlinable func part(_ key: HashedKey) -> Part { parts[Int(UInt(bitPattern: key.hash) % UInt(parts.count))] }
}

/// The entries of a cache, and how many it evicted.
public struct CacheUse: Sendable, Hashable {
    public var count = 0
    /// The size of the entries, in bytes.
    public var size = 0
    /// The number of entries that were evicted since the start.
    public var evictions = 0

    public init() {}
}
