/// The statements that a connection has prepared, and their names.
///
/// A full cache keeps what it has: further statements travel without a name, parsed on each use. libpq cannot close a
/// prepared statement by protocol before version 17, and SQL `DEALLOCATE` does not pass a transaction pooler. A
/// connection that meets many statements beyond its cache is replaced instead (`isWornOut`), and starts with an empty one.
///
/// - Complexity: O(1) a use.
struct StatementCache {
    private let capacity: Int
    private var names: [PostgresStatement: String] = [:]
    private var nextName: UInt64 = 0
    private var unnamedUses = 0

    /// How many unnamed uses are worth a new connection.
    private static let unnamedUseLimit = 2000

    /// - Parameter capacity: the most names; 0 to name none.
    init(capacity: Int) { self.capacity = capacity }

    /// Whether a new connection, with an empty cache, would serve better.
    var isWornOut: Bool { capacity > 0 && unnamedUses > Self.unnamedUseLimit }

    /// The name of a prepared statement; nil if it is not prepared.
    func name(of statement: PostgresStatement) -> String? { names[statement] }

    /// A name to prepare a statement under; nil if it is to travel without one.
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
