/// A dictionary with a limited number of entries, which evicts those that were not used recently.
///
/// It has two generations of entries. When the newer one is full, it replaces the older one, whose entries are evicted;
/// reading an entry moves it to the newer one. So the `limit / 2` most recently used entries are always kept.
///
/// - Complexity: O(1), amortized; evicting a generation is O(limit).
package struct RecentDictionary<Key: Hashable, Value> {
    private var newer: [Key: Value] = [:]
    private var older: [Key: Value] = [:]
    private let generationLimit: Int

    /// - Parameter limit: the maximum number of entries; at least 2.
    package init(limit: Int) {
        precondition(limit >= 2)
        generationLimit = limit / 2
    }

    /// The number of entries.
    package var count: Int { newer.count + older.count }

    /// The value of a key; reading it counts as use.
    package subscript(key: Key) -> Value? {
        mutating get {
            if let value = newer[key] { return value }
            guard let value = older.removeValue(forKey: key) else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            older[key] = nil
            if let newValue { insert(newValue, for: key) } else { newer[key] = nil }
        }
    }

    private mutating func insert(_ value: Value, for key: Key) {
        if newer.count >= generationLimit, newer[key] == nil {
            older = newer
            newer = [:]
        }
        newer[key] = value
    }
}
