/// A dictionary with a limited number of entries, which evicts those that were not used recently.
///
/// It holds two generations. When the newer one is full, it replaces the older one, whose entries are evicted; a used
/// entry moves to the newer generation. So at least the last half of the limit stays, and no operation visits all
/// entries. Complexity: O(1), amortized.
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
