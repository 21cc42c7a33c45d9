internal import Catalog
internal import Ordering
internal import Postgres

/// Changes one shelf's manual order, in a transaction that holds the shelf's row.
///
/// The row is the lock: neighbours are read after it was had, in statements of their own, so that they are what everybody
/// before has left. Source of the measurements: decision 0008.
struct OrderEditor {
    let request: OrderEditRequest
    let storeID: Int32
    let shelf: LockedShelf
    /// Reads the shelf's products by a sort.
    let sorted: (Sort, isolated PostgresConnection) throws -> [String]

    /// A shelf whose row is held.
    struct LockedShelf {
        let id: Int32
        let version: Int64
        let orderVersion: Int64
        /// The number of the change that is being made.
        let change: Int64
    }

    /// Everything is in place: the transaction, which has bumped the versions, is taken back.
    struct Unchanged: Error {
        let outcome: OrderEditOutcome
    }

    /// The longest key that is not yet due for compaction, in bytes.
    static let longKey = 64

    var scope: [PostgresValue] { [.int4(storeID), .int4(shelf.id)] }

    static func lock(
        _ key: CatalogKey,
        _ storeID: Int32,
        _ database: isolated PostgresConnection
    ) throws -> LockedShelf {
        let found = try database.query(OrderStatements.lockShelf, [.int4(storeID), .text(key.text)]) {
            try $0.first {
                LockedShelf(
                    id: try $0.int4(0),
                    version: try $0.int8(1),
                    orderVersion: try $0.int8(2),
                    change: try $0.int8(3)
                )
            }
        }
        guard let found else { throw CatalogError.notFound("shelf “\(key)”") }
        return found
    }

    /// - Throws: `Unchanged`, `CatalogError`.
    func run(_ database: isolated PostgresConnection) throws -> OrderEditOutcome {
        if let expected = request.expected, expected != shelf.orderVersion {
            throw CatalogError.stale(current: shelf.orderVersion)
        }
        if case .moves(let moves) = request.edit { return try run(moves, database) }
        return try runWhole(database)
    }

    // MARK: - Moves

    private struct Row {
        var key: PathKey
        var left: String
    }

    private func run(_ moves: [OrderMove], _ database: isolated PostgresConnection) throws -> OrderEditOutcome {
        let named = Set(moves.flatMap { $0.ids + [$0.anchor].compactMap { $0 } })
        let before = try rows(named, database)
        for move in moves {
            if let stranger = (move.ids + [move.anchor].compactMap { $0 }).first(where: { before[$0] == nil }) {
                throw CatalogError.unknownProduct(stranger)
            }
        }
        let oldIndexes = request.wantsIndexes ? try indexes(moves.flatMap(\.ids), database) : [:]
        // Several moves may end where they began; one never does, unless it is in place.
        let oldAfters = moves.count > 1 ? try lookUpAfters(Array(before.keys), database) : [:]
        var keys = before.mapValues(\.key)
        var afters: [(id: String, after: String?)] = []
        var pending: [(id: String, key: PathKey)] = []
        var placed: Set<String> = []
        for (index, move) in moves.enumerated() where !move.isInPlace {
            let gap = try gap(move, keys, database)
            if gap.holds(move.ids.map { keys[$0]! }) { continue }
            let made = try makeKeys(move.ids.count, gap)
            // The last move's keys are written with the rest.
            pending = zip(move.ids, made).map { ($0, $1) }
            if index < moves.count - 1 { try write(&pending, database) }
            for (id, key) in zip(move.ids, made) { keys[id] = key }
            placed.formUnion(move.ids)
            afters = zip(move.ids, [gap.leftNeighbour] + move.ids.dropLast()).map { ($0, $1) }
        }
        // Whatever keys they got: what is remembered must not hang on chance.
        let moved = before.keys.filter { placed.contains($0) }
        guard !moved.isEmpty else { throw unchanged }
        let lefts = moved.map { (id: $0, row: before[$0]!) }.sorted { $0.row.key < $1.row.key }
        var outcome = try conclude(pending, lefts.map { ($0.id, $0.row.left) }, database)
        // One move tells its neighbours by itself; after several they are looked up.
        if moves.count > 1 {
            let newAfters = try lookUpAfters(Array(before.keys), database)
            guard newAfters != oldAfters else { throw unchanged }
            afters = moved.sorted { keys[$0]! < keys[$1]! }.map { ($0, newAfters[$0] ?? nil) }
        }
        let newIndexes = request.wantsIndexes ? try indexes(afters.map(\.id), database) : [:]
        outcome.moved = afters.map {
            OrderEditOutcome.Moved(id: $0.id, after: $0.after, from: oldIndexes[$0.id], to: newIndexes[$0.id])
        }
        outcome.isLong = keys.values.contains { $0.length > Self.longKey }
        return outcome
    }

    private func write(
        _ pending: inout [(id: String, key: PathKey)],
        _ database: isolated PostgresConnection
    ) throws {
        try database.execute(
            OrderStatements.setKeys,
            scope + [.textArray(pending.map(\.id)), .byteaArray(pending.map(\.key.bytes))]
        )
        pending = []
    }

    private func rows(_ ids: Set<String>, _ database: isolated PostgresConnection) throws -> [String: Row] {
        Dictionary(
            uniqueKeysWithValues: try database.query(OrderStatements.rows, scope + [.textArray(Array(ids))]) {
                try $0.map { (try $0.text(0), Row(key: try PathKey(bytes: try $0.bytea(1)), left: try $0.text(2))) }
            }
        )
    }

    /// The left neighbours of products; nil for the front.
    private func lookUpAfters(
        _ ids: [String],
        _ database: isolated PostgresConnection
    ) throws -> [String: String?] {
        Dictionary(
            uniqueKeysWithValues: try database.query(OrderStatements.afters, scope + [.textArray(ids)]) {
                try $0.map { (try $0.text(0), try $0.textOrNil(1)) }
            }
        )
    }

    private func indexes(_ ids: [String], _ database: isolated PostgresConnection) throws -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: try database.query(OrderStatements.indexes, scope + [.textArray(ids)]) {
                try $0.map { (try $0.text(0), try $0.int(1)) }
            }
        )
    }

    /// Where a move goes: between two rows, whose products may have been taken off, and two that stand on the shelf.
    private struct Gap {
        var left: PathKey?
        var right: PathKey?
        var standingLeft: PathKey?
        var standingRight: PathKey?
        var leftNeighbour: String?

        /// Whether products with these keys are there already, in this order and nothing between them.
        func holds(_ keys: [PathKey]) -> Bool {
            zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 } && (standingLeft.map { $0 < keys[0] } ?? true)
                && (standingRight.map { keys[keys.count - 1] < $0 } ?? true)
        }
    }

    private func gap(
        _ move: OrderMove,
        _ keys: [String: PathKey],
        _ database: isolated PostgresConnection
    ) throws -> Gap {
        switch move.target {
        case .after(let anchor): return try gap(behind: keys[anchor]!, anchor, move.ids, database)
        case .before(let anchor): return try gap(before: keys[anchor]!, move.ids, database)
        case .first: return try gap(behind: nil, nil, move.ids, database)
        case .last: return try gap(before: nil, move.ids, database)
        case .position(let position):
            let key = try database.query(
                OrderStatements.keyAtPosition,
                scope + [.textArray(move.ids), .int8(Int64(position))]
            ) { try $0.first { try PathKey(bytes: try $0.bytea(0)) } }
            return try gap(before: key, move.ids, database)
        }
    }

    /// - Parameter key: nil for the front.
    private func gap(
        behind key: PathKey?,
        _ anchor: String?,
        _ ids: [String],
        _ database: isolated PostgresConnection
    ) throws -> Gap {
        let (any, standing, _) = try neighbours(OrderStatements.right, ids, key?.bytes ?? [], database)
        return Gap(left: key, right: any, standingLeft: key, standingRight: standing, leftNeighbour: anchor)
    }

    /// - Parameter key: nil for the end.
    private func gap(before key: PathKey?, _ ids: [String], _ database: isolated PostgresConnection) throws -> Gap {
        let (any, standing, neighbour) = try neighbours(OrderStatements.left, ids, key?.bytes ?? [0xFF], database)
        return Gap(left: any, right: key, standingLeft: standing, standingRight: key, leftNeighbour: neighbour)
    }

    private func neighbours(
        _ statement: PostgresStatement,
        _ ids: [String],
        _ key: [UInt8],
        _ database: isolated PostgresConnection
    ) throws -> (PathKey?, PathKey?, String?) {
        try database.query(statement, scope + [.textArray(ids), .bytea(key)]) {
            try $0.first { row in
                (
                    try row.byteaOrNil(0).map { try PathKey(bytes: $0) },
                    try row.byteaOrNil(1).map { try PathKey(bytes: $0) }, try row.textOrNil(2)
                )
            }!
        }
    }

    private func makeKeys(_ count: Int, _ gap: Gap) throws -> [PathKey] {
        let made = try PathKey.between(gap.left, gap.right, count: count)
        guard made.allSatisfy({ $0.length <= PathKey.maximumLength }) else { throw Self.tooLong }
        return made
    }

    /// Until the background has made room, which takes moments.
    static let tooLong = CatalogError.conflict(
        "too many moves into the same place; it is being tidied, try again shortly"
    )

    // MARK: - Ends

    var unchanged: Unchanged {
        Unchanged(outcome: OrderEditOutcome(version: shelf.version, orderVersion: shelf.orderVersion, moved: []))
    }

    /// Writes the keys that are not written yet, and remembers what it takes to take the change back.
    ///
    /// - Parameter lefts: each product that moved, in the order before, and what then stood before it; empty for the front.
    func conclude(
        _ made: [(id: String, key: PathKey)],
        _ lefts: [(id: String, left: String)],
        undoes: Int64? = nil,
        _ database: isolated PostgresConnection
    ) throws -> OrderEditOutcome {
        let change = shelf.change
        let slot: PostgresValue = .int2(Int16(change % Int64(OrderChange.memoryBound)))
        let entry: [PostgresValue] = [
            .int8(change), .text(request.subject), .text(request.edit.kind), .int8(undoes), .text(Self.text(lefts)),
        ]
        let keys: [PostgresValue] = [.textArray(made.map(\.id)), .byteaArray(made.map(\.key.bytes))]
        let remembered = try database.execute(OrderStatements.conclude, scope + keys + [slot] + entry)
        if remembered == 0 { try database.execute(OrderStatements.record, scope + [slot] + entry) }
        return OrderEditOutcome(
            version: shelf.version + 1,
            orderVersion: shelf.orderVersion + 1,
            moved: [],
            change: change
        )
    }

    /// Pairs of skus with slashes between, which no sku has.
    private static func text(_ lefts: [(id: String, left: String)]) -> String {
        lefts.map { "\($0.id)/\($0.left)" }.joined(separator: "/")
    }

    static func lefts(_ text: String) -> [(id: String, left: String?)] {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return stride(from: 0, to: parts.count - 1, by: 2).map {
            (parts[$0], parts[$0 + 1].isEmpty ? nil : parts[$0 + 1])
        }
    }
}
