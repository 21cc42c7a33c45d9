/// The prepared statements of a connection, and their names.
///
/// A full cache does not evict: further statements are sent unnamed and parsed on each use. Before version 17, libpq
/// cannot close a prepared statement by protocol. SQL `DEALLOCATE` does not work through a transaction pooler. A
/// connection with many statements beyond its cache is replaced instead (`isWornOut`) and starts with an empty cache.
///
/// - Complexity: O(1) per use.
struct StatementCache {
    private let capacity: Int
    private var names: [PostgresStatement: String] = [:]
    private var nextName: UInt64 = 0
    private var unnamedUses = 0

    /// The number of unnamed uses that justify a new connection.
    private static let unnamedUseLimit = 2000

    /// - Parameter capacity: the maximum number of names; 0 disables naming.
    init(capacity: Int) { self.capacity = capacity }

    /// Whether a new connection with an empty cache would be more efficient.
    var isWornOut: Bool { capacity > 0 && unnamedUses > Self.unnamedUseLimit }

    /// Returns the name of a prepared statement; nil if it is not prepared.
    func name(of statement: PostgresStatement) -> String? { names[statement] }

    /// Adds a statement and returns its name; nil if it must be sent unnamed.
    mutating func insert(_ statement: PostgresStatement) -> String? {
        guard names.count < capacity else {
            unnamedUses += 1
            return nil
        }
        nextName += 1
        let name = "aisle_\(nextName)"
        names[statement] = name
        return name
    }

    mutating func remove(_ statement: PostgresStatement) { names[statement] = nil }
}

/// The use of prepared statements.
package enum PreparedStatements: String, Sendable {
    /// Prepared once under a name. A transaction pooler must support prepared statements, and know the outstanding results.
    /// PgBouncer does so from 1.22.1 on; before 1.24, this is a setting.
    case named
    /// Sent as full text each time, for older poolers. At most one transaction of a connection is in flight then: if the connection is
    /// lost between two results, PgBouncer 1.18 passes the second one to the next client.
    case unnamed
}
