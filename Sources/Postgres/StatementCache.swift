/// Which statements a connection has prepared, under which names; the least recently used one makes room.
///
/// - Complexity: O(1) a use, O(n) an eviction.
struct StatementCache {
    private struct Entry {
        let name: String
        var lastUse: UInt64
    }

    private let capacity: Int
    private var entries: [PostgresStatement: Entry] = [:]
    private var uses: UInt64 = 0
    private var nextName: UInt64 = 0

    init(capacity: Int = 256) { self.capacity = capacity }

    var count: Int { entries.count }

    /// The name under which the statement is prepared, and marks it used; nil where it is not.
    mutating func name(of statement: PostgresStatement) -> String? {
        guard let index = entries.index(forKey: statement) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return entries.values[index].name
    }

    /// A new name for a statement, and the name of one to deallocate where the cache is full.
    mutating func insert(_ statement: PostgresStatement) -> (name: String, evicted: String?) {
        var evicted: String?
        if entries.count >= capacity, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            evicted = oldest.value.name
            entries[oldest.key] = nil
        }
        uses += 1
        nextName += 1
        let name = "aisle_\(nextName)"
        entries[statement] = Entry(name: name, lastUse: uses)
        return (name, evicted)
    }

    mutating func remove(_ statement: PostgresStatement) { entries[statement] = nil }
}
