internal import Catalog
internal import LibPQ
internal import Ordering

/// Edits one shelf's manual order in a transaction that locks the shelf's row.
///
/// The row is the lock. Neighbours are read after it is acquired, in separate statements, so that they include all
/// earlier edits. See decision 0008.
struct ManualOrderEditor {
    let request: OrderEditRequest
    let storeID: Int32
    let shelf: LockedShelf
    /// The rows named by the moves, and the first move's target, read in the same round trip as the lock.
    private let rows: [Row]
    private let firstGap: OrderGap?
    /// The store that reads the shelf's products in the order of a sort.
    private let pages: PostgresPageStore

    /// A shelf whose row is locked.
    struct LockedShelf {
        let id: Int32
        let version: Int64
        let orderVersion: Int64
        /// The versions if the edit changes something.
        let newVersion: Int64
        let newOrderVersion: Int64
        /// The number of the current change.
        let change: Int64

        init(_ id: Int32, _ row: borrowing PostgresRow) throws {
            self.id = id
            version = try row.int8(0)
            orderVersion = try row.int8(1)
            newVersion = try row.int8(2)
            newOrderVersion = try row.int8(3)
            change = try row.int8(4)
        }
    }

    var scope: [PostgresValue] { [.int4(storeID), .int4(shelf.id)] }

    /// Locks the shelf of a request, and reads what the first move needs in the same round trip.
    static func lockShelf(
        _ request: OrderEditRequest,
        _ storeID: Int32,
        _ pages: PostgresPageStore,
        _ connection: isolated PostgresConnection
    ) throws -> ManualOrderEditor {
        let id = try connection.query(ManualOrderStatements.shelfID, [.int4(storeID), .text(request.shelf.text)]) {
            try $0.first { try $0.int4(0) }
        }
        guard let id else { throw CatalogError.notFound("shelf “\(request.shelf)”") }
        let scope: [PostgresValue] = [.int4(storeID), .int4(id)]
        var queries = [PostgresQuery(ManualOrderStatements.lockShelf, scope)]
        var target: OrderMove.Target?
        if case .moves(let moves) = request.edit {
            let referencedIDs = Set(moves.flatMap { $0.ids + [$0.anchor].compactMap { $0 } })
            queries.append(PostgresQuery(ManualOrderStatements.rows, scope + [.textArray(Array(referencedIDs))]))
            if let gap = OrderGap.query(moves[0], scope) {
                queries.append(gap)
                target = moves[0].target
            }
        }
        var shelf: LockedShelf?
        var rows: [Row] = []
        var gap: OrderGap?
        try connection.queryBatch(queries) { index, found in
            switch index {
            case 0: shelf = try found.first { try LockedShelf(id, $0) }
            case 1: rows = try found.map { try Row($0) }
            default: gap = try found.first { try OrderGap($0, target!) }
            }
        }
        guard let shelf else { throw CatalogError.notFound("shelf “\(request.shelf)”") }
        return ManualOrderEditor(
            request: request,
            storeID: storeID,
            shelf: shelf,
            rows: rows,
            firstGap: gap,
            pages: pages
        )
    }

    /// Returns the outcome, without a change if nothing moves. The transaction has counted a change and must
    /// then be rolled back.
    ///
    /// - Throws: `CatalogError`.
    func run(_ connection: isolated PostgresConnection) throws -> ManualOrderOutcome {
        if let expected = request.expected, !expected.contains(shelf.orderVersion) {
            throw CatalogError.stale(current: shelf.orderVersion)
        }
        if case .moves(let moves) = request.edit { return try run(moves, connection) }
        return try runWhole(connection)
    }

    // MARK: - Moves

    private struct Row {
        let id: String
        let key: PathKey
        let left: String

        init(_ row: borrowing PostgresRow) throws {
            id = try row.text(0)
            key = try PathKey(bytes: try row.bytea(1))
            let placed = try row.byteaOrNil(2).map { try PathKey(bytes: $0) }
            let removed = try row.byteaOrNil(4).map { try PathKey(bytes: $0) }
            let nearest = [placed, removed].compactMap { $0 }.max()
            left = nearest == nil ? "" : try row.text(nearest == placed ? 3 : 5)
        }
    }

    private func run(_ moves: [OrderMove], _ connection: isolated PostgresConnection) throws -> ManualOrderOutcome {
        let before = Dictionary(rows.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for move in moves {
            if let unknownID = (move.ids + [move.anchor].compactMap { $0 }).first(where: { before[$0] == nil }) {
                throw CatalogError.unknownProduct(unknownID)
            }
        }
        let oldIndexes = request.wantsIndexes ? try indexes(moves.flatMap(\.ids), connection) : [:]
        // Several moves may restore the original order; a single one cannot, unless it is in place.
        let oldAfters = moves.count > 1 ? try readLeftNeighbours(Array(before.keys), connection) : [:]
        var keys = before.mapValues(\.key)
        var afters: [(id: String, after: String?)] = []
        var pending: [(id: String, key: PathKey)] = []
        var placed: Set<String> = []
        for (index, move) in moves.enumerated() where !move.isInPlace {
            let gap = try index == 0 ? firstGap ?? gap(move, connection) : gap(move, connection)
            if gap.isFilled(move.ids.map { keys[$0]! }) { continue }
            let made = try makeKeys(move.ids.count, gap)
            pending = zip(move.ids, made).map { ($0, $1) }
            // The keys of a single move are written with the rest; after several, the neighbours are looked up.
            if moves.count > 1 { try write(&pending, connection) }
            for (id, key) in zip(move.ids, made) { keys[id] = key }
            placed.formUnion(move.ids)
            afters = zip(move.ids, [gap.leftNeighbour] + move.ids.dropLast()).map { ($0, $1) }
        }
        // Record the original neighbours, whatever keys were assigned, so that the history is deterministic.
        let moved = before.keys.filter { placed.contains($0) }
        guard !moved.isEmpty else { return unchanged }
        let leftNeighbours = moved.map { (id: $0, row: before[$0]!) }.sorted { $0.row.key < $1.row.key }
        if moves.count > 1 {
            let newAfters = try readLeftNeighbours(Array(before.keys), connection)
            guard newAfters != oldAfters else { return unchanged }
            afters = moved.sorted { keys[$0]! < keys[$1]! }.map { ($0, newAfters[$0] ?? nil) }
        }
        var outcome = try finish(pending, leftNeighbours.map { ($0.id, $0.row.left) }, afters, connection)
        let newIndexes = request.wantsIndexes ? try indexes(afters.map(\.id), connection) : [:]
        outcome.moved = afters.map {
            ManualOrderOutcome.Moved(id: $0.id, after: $0.after, from: oldIndexes[$0.id], to: newIndexes[$0.id])
        }
        outcome.needsCompaction = keys.values.contains(where: \.isLong)
        return outcome
    }

    private func write(
        _ pending: inout [(id: String, key: PathKey)],
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.execute(
            ManualOrderStatements.setKeys,
            scope + [.textArray(pending.map(\.id)), .byteaArray(pending.map(\.key.bytes))]
        )
        pending = []
    }

    /// Returns the left neighbours of products; nil at the front.
    private func readLeftNeighbours(
        _ ids: [String],
        _ connection: isolated PostgresConnection
    ) throws -> [String: String?] {
        Dictionary(
            try connection.query(ManualOrderStatements.leftNeighbours, scope + [.textArray(ids)]) {
                try $0.map { (try $0.text(0), try $0.textOrNil(1)) }
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private func indexes(_ ids: [String], _ connection: isolated PostgresConnection) throws -> [String: Int] {
        Dictionary(
            try connection.query(ManualOrderStatements.indexes, scope + [.textArray(ids)]) {
                try $0.map { (try $0.text(0), try $0.int(1)) }
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private func gap(_ move: OrderMove, _ connection: isolated PostgresConnection) throws -> OrderGap {
        var move = move
        if case .position(let position) = move.target {
            let next = try connection.query(
                ManualOrderStatements.atPosition,
                scope + [.textArray(move.ids), .int8(Int64(position))]
            ) { try $0.first { try $0.text(0) } }
            move.target = next.map { .before($0) } ?? .last
        }
        let query = OrderGap.query(move, scope)!
        return try connection.query(query.statement, query.parameters) {
            try $0.first { try OrderGap($0, move.target) }!
        }
    }

    private func makeKeys(_ count: Int, _ gap: OrderGap) throws -> [PathKey] {
        let made = try PathKey.between(gap.left, gap.right, count: count)
        guard made.allSatisfy({ $0.length <= PathKey.maximumLength }) else { throw Self.tooLong }
        return made
    }

    /// The error until background compaction has made room, which takes a moment.
    static let tooLong = CatalogError.conflict(
        "too many moves to the same place; the order is being compacted; try again in a few seconds"
    )

    // MARK: - Ends

    var unchanged: ManualOrderOutcome {
        ManualOrderOutcome(
            fromVersion: shelf.version,
            version: shelf.version,
            orderVersion: shelf.orderVersion,
            moved: []
        )
    }

    /// Returns the shelf's products in the order of a sort.
    func ids(by sort: Sort, _ connection: isolated PostgresConnection) throws -> [String] {
        try pages.ids(ShelfAddress(request.store, request.shelf), by: sort, connection)
    }

    /// Writes the remaining keys and records what an undo needs.
    ///
    /// - Parameters:
    ///   - lefts: the moved products, in the old order, with their old left neighbours; empty at the front.
    ///   - afters: the moved products with their new left neighbours.
    func finish(
        _ made: [(id: String, key: PathKey)],
        _ lefts: [(id: String, left: String)],
        _ afters: [(id: String, after: String?)],
        undoes: Int64? = nil,
        _ connection: isolated PostgresConnection
    ) throws -> ManualOrderOutcome {
        let change = shelf.change
        let slot: PostgresValue = .int2(Int16(change % Int64(OrderChange.retentionLimit)))
        let entry: [PostgresValue] = [
            .int8(change), .text(request.subject), .text(request.edit.kind.rawValue), .int8(undoes),
            .text(Self.text(lefts)), .text(Self.placed(lefts.map(\.id), afters, change)),
        ]
        let keys: [PostgresValue] = [.textArray(made.map(\.id)), .byteaArray(made.map(\.key.bytes))]
        try connection.executeDeferred(ManualOrderStatements.setKeys, scope + keys)
        try connection.executeDeferred(
            ShelfChangeStatements.recordAfter,
            scope + [
                .int8(shelf.newVersion), .int8(shelf.version),
                .textArray(Set(made.map(\.id) + lefts.map(\.id)).sorted()),
            ]
        )
        try connection.executeDeferred(ManualOrderStatements.rememberChange, scope + [slot] + entry)
        try connection.executeDeferred(ManualOrderStatements.rememberFirstChange, scope + [slot] + entry)
        let outcome = ManualOrderOutcome(
            fromVersion: shelf.version,
            version: shelf.newVersion,
            orderVersion: shelf.newOrderVersion,
            moved: [],
            change: change
        )
        let listed = lefts.prefix(AuditChange.itemLimit).map { ($0.id, $0.left.isEmpty ? nil : $0.left) }
        let moves = OrderChange.Move.list(listed, afters)
        try AuditLog.record(
            .order(request, moves, of: lefts.count, outcome, from: shelf.orderVersion, undoes: undoes),
            in: storeID,
            connection
        )
        return outcome
    }

    /// Pairs of SKUs separated by slashes, which a SKU cannot contain.
    private static func text(_ lefts: [(id: String, left: String)]) -> String {
        lefts.map { "\($0.id)/\($0.left)" }.joined(separator: "/")
    }

    /// The new left neighbours of the first moved products, behind the number of their change.
    private static func placed(_ ids: [String], _ afters: [(id: String, after: String?)], _ change: Int64) -> String {
        let afters = Dictionary(afters.map { ($0.id, $0.after ?? "") }, uniquingKeysWith: { first, _ in first })
        return "\(change)/" + text(ids.prefix(OrderChange.shownLimit).map { ($0, afters[$0] ?? "") })
    }

    /// Returns the new left neighbours of the first moved products; none if they are of another change.
    static func newNeighbours(_ placed: String?, of change: Int64) -> [String: String?] {
        guard let placed, let slash = placed.firstIndex(of: "/"), placed[..<slash] == "\(change)" else { return [:] }
        let found = leftNeighbours(String(placed[slash...].dropFirst())).map { ($0.id, $0.left) }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    /// The maximum length of the shown products with their neighbours, and one pair more; a SKU has at most as many code points as
    /// bytes.
    static let shownLength = (OrderChange.shownLimit + 1) * 2 * (SKU.byteLimit + 1)

    static func leftNeighbours(_ text: String) -> [(id: String, left: String?)] {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        return stride(from: 0, to: parts.count - 1, by: 2).map {
            (parts[$0], parts[$0 + 1].isEmpty ? nil : parts[$0 + 1])
        }
    }
}
