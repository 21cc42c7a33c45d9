internal import Catalog
internal import LibPQ

/// The places of a user's lists. The lists themselves belong to their owners, who may be other users, so they are read in a second
/// step: on Citus, each owner is on one shard.
struct ListPlaces {
    /// The revision of the account; 0 without one.
    private(set) var revision: Int64 = 0
    /// Whether the user's devices must resync.
    private(set) var isResync: Bool
    /// In the order of their revisions.
    private(set) var places: [ListRow.Place] = []

    /// Reads the places of all lists of a user, or of those that changed after a revision, including left ones.
    init(of user: UserID, since: Int64? = nil, _ connection: isolated PostgresConnection) throws {
        isResync = since ?? 0 > 0
        let parameters: [PostgresValue] = [.text(user.text), .int8(since)]
        (revision, isResync, places) = try connection.query(ListStatements.places, parameters) { [isResync] rows in
            var read: (Int64, Bool, [ListRow.Place]) = (0, isResync, [])
            try rows.forEach { row in
                (read.0, read.1) = (try row.int8(0), try row.bool(1))
                if !row.isNull(2) { read.2.append(try ListRow.Place(row, from: 2)) }
            }
            return read
        }
    }

    /// Returns the lists that exist and were not left, with the numbers of their items and of the checked ones.
    func lists(
        _ connection: isolated PostgresConnection
    ) throws -> [UniqueID: (list: UserList, items: Int, checked: Int)] {
        var found: [UniqueID: (list: UserList, items: Int, checked: Int)] = [:]
        try queryOwners(ListStatements.listsOfOwner, connection) { row in
            let list = try ListRow.list(row)
            let counts = ListRow.listColumnCount
            found[list.id] = (list, try row.int(counts), try row.int(counts + 1))
        }
        return found
    }

    /// Returns the lists that exist, and were neither left nor deleted.
    func current(_ connection: isolated PostgresConnection) throws -> Set<UniqueID> {
        var found: Set<UniqueID> = []
        try queryOwners(ListStatements.currentListsOfOwner, connection) { row in
            if let id = UniqueID(try row.text(0)) { found.insert(id) }
        }
        return found
    }

    /// Runs a statement for the lists of each owner, in one round trip.
    private func queryOwners(
        _ statement: PostgresStatement,
        _ connection: isolated PostgresConnection,
        _ read: (borrowing PostgresRow) throws -> Void
    ) throws {
        let owners = Dictionary(grouping: places.filter { $0.leftAt == nil }, by: \.owner)
        guard !owners.isEmpty else { return }
        let queries = owners.map { owner, places in
            PostgresQuery(statement, [.text(owner), .textArray(places.map(\.list.text))])
        }
        try connection.queryBatch(queries) { _, rows in try rows.forEach(read) }
    }
}
