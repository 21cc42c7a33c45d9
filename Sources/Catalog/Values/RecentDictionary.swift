/// A dictionary with a limited total size, which evicts entries that were not used recently.
///
/// Entries keep the order of their insertion. A mark says that an entry was used since then. A hand goes from older to newer entries, and
/// then starts again at the oldest. For an eviction, the hand removes the marks of the entries that it passes, and evicts the first entry
/// without a mark. This is SIEVE (Zhang et al., “SIEVE is Simpler than LRU”, NSDI 2024): an entry that is used once leaves sooner than with
/// LRU.
///
/// - Complexity: O(1), amortized. Evicting an entry takes longer after many were used.
public struct RecentDictionary<Key: Hashable, Value> {
    // Inlinable, because a generic dictionary that is not specialized takes three times as long.
    @usableFromInline
    struct Entry {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        /// The number of the entry that was added before; `none` for the first one.
        @usableFromInline var older: Int32
        /// The number of the entry that was added after; `none` for the last one.
        @usableFromInline var newer = RecentDictionary.none
        @usableFromInline var isUsed: Bool

        @inlinable
        init(_ key: Key, _ value: Value, after older: Int32, isUsed: Bool) {
            (self.key, self.value, self.older, self.isUsed) = (key, value, older, isUsed)
        }
    }

    /// The entries by their numbers; nil for a number that is free.
    @usableFromInline var slots: [Entry?] = []
    @usableFromInline var freeNumbers: [Int32] = []
    @usableFromInline var numbers: [Key: Int32] = [:]
    @usableFromInline var oldest = none
    @usableFromInline var newest = none
    /// The entry at which the next eviction begins; `none` for the oldest one.
    @usableFromInline var hand = none
    /// The maximum size of all entries; a lower one evicts entries at once.
    public var limit: Int {
        didSet { while total > limit { evict() } }
    }
    @usableFromInline let size: (Key, Value) -> Int

    @usableFromInline static var none: Int32 { -1 }

    @usableFromInline var evicted = 0
    @usableFromInline var total = 0

    /// The number of entries that were evicted.
    public var evictions: Int { evicted }
    /// The size of all entries.
    public var totalSize: Int { total }

    /// - Parameters:
    ///   - limit: the maximum size of all entries, in bytes; at least 2. An entry that exceeds half of it is not kept.
    ///   - size: the approximate size of an entry, in bytes.
    @inlinable
    public init(limit: Int, size: @escaping (Key, Value) -> Int) {
        precondition(limit >= 2)
        self.limit = limit
        self.size = size
    }

    /// The usual size of an entry, in bytes, without what its key and value refer to. The key is in the hash table, too. On average, an
    /// array that doubles its capacity is half as large again as its elements, and a hash table is filled by five ninths.
    public static var entryOverhead: Int {
        MemoryLayout<Entry?>.stride * 3 / 2 + (MemoryLayout<Key>.stride + MemoryLayout<Int32>.stride) * 9 / 5
    }

    /// The number of entries.
    @inlinable public var count: Int { numbers.count }

    /// All entries, in no order. Reading them does not count as use.
    @inlinable public var entries: [(key: Key, value: Value)] { slots.compactMap { $0.map { ($0.key, $0.value) } } }

    /// The value of a key; reading and replacing it count as use.
    @inlinable
    public subscript(key: Key) -> Value? {
        @inline(__always) mutating get { value(key) }
        set {
            let known = numbers[key]
            if let known { remove(known) }
            if let newValue { add(newValue, for: key, isUsed: known != nil) }
        }
    }

    /// Returns the value of a key. It does not count as use.
    public func peek(_ key: Key) -> Value? { numbers[key].flatMap { slots[Int($0)]?.value } }

    // A getter copies the dictionary, with all its reference counts, where a method does not.
    @inlinable @inline(__always)
    mutating func value(_ key: Key) -> Value? {
        guard let number = numbers[key] else { return nil }
        slots[Int(number)]!.isUsed = true
        return slots[Int(number)]!.value
    }

    @inlinable
    mutating func add(_ value: Value, for key: Key, isUsed: Bool) {
        let added = size(key, value)
        guard added <= limit / 2 else { return }
        while total + added > limit { evict() }
        let entry = Entry(key, value, after: newest, isUsed: isUsed)
        let number: Int32
        if let free = freeNumbers.popLast() {
            number = free
            slots[Int(number)] = entry
        } else {
            number = Int32(slots.count)
            slots.append(entry)
        }
        if newest == Self.none { oldest = number } else { slots[Int(newest)]!.newer = number }
        newest = number
        numbers[key] = number
        total += added
    }

    /// - Precondition: there is an entry.
    @inlinable
    mutating func evict() {
        var candidate = hand == Self.none ? oldest : hand
        while slots[Int(candidate)]!.isUsed {
            slots[Int(candidate)]!.isUsed = false
            let newer = slots[Int(candidate)]!.newer
            candidate = newer == Self.none ? oldest : newer
        }
        hand = candidate
        remove(candidate)
        evicted += 1
    }

    @inlinable
    mutating func remove(_ number: Int32) {
        let entry = slots[Int(number)]!
        slots[Int(number)] = nil
        freeNumbers.append(number)
        numbers[entry.key] = nil
        total -= size(entry.key, entry.value)
        if entry.older == Self.none { oldest = entry.newer } else { slots[Int(entry.older)]!.newer = entry.newer }
        if entry.newer == Self.none { newest = entry.older } else { slots[Int(entry.newer)]!.older = entry.older }
        if hand == number { hand = entry.newer }
    }
}
