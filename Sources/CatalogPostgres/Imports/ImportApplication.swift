internal import CatalogJSON
internal import Catalog
internal import LibPQ
internal import Ordering

/// What one store's transaction of an import does.
struct ImportApplication: Sendable {
    let id: ImportID
    let key: CatalogKey
    let store: ImportSession.StoreImport
    let columns: ImportColumns
    let hasRepeats: Bool
    let changed: Int

    /// What one store's transaction did.
    struct Outcome: Sendable {
        /// Rows that others had written in the meantime, just so.
        var unchanged = 0
        var updated = 0
        var inserted = 0
        var removedPlacements = 0
        var removedProducts = 0
        var storesCreated = 0
        var shelvesCreated = 0
    }

    func run(_ connection: isolated PostgresConnection) throws -> Outcome {
        try id.check(connection)
        if changed > ImportStatements.hashingLimit {
            try connection.set("enable_nestloop", "off")
            try connection.set("enable_mergejoin", "off")
        }
        var outcome = Outcome()
        let storeID = try lockStore(&outcome, connection)
        try makeShelves(storeID, &outcome, connection)
        let rows: [PostgresValue] = [id.parameter, .int4(storeID), .text(key.text)]
        // Nobody deletes one from here on: who does holds the store's row too.
        outcome.shelvesCreated += try connection.execute(ImportStatements.reviveShelves, rows)
        let locked = try lockShelves(rows, storeID, connection)
        // What was compared before the locks may have been written since, by the same file a second time even.
        outcome.unchanged = try connection.execute(ImportStatements.dropUnchangedAgain(columns), rows)
        (outcome.updated, outcome.inserted) = try connection.query(ImportStatements.countChangedAgain, rows) {
            try $0.first { (try $0.int(0), try $0.int(1) - $0.int(0)) }!
        }
        var reordered = try prune(storeID, &outcome, connection)
        let shelves = try touchedShelves(rows, connection).union(reordered)
        let touched: PostgresValue = .int8Array(shelves.sorted().map(Int64.init))
        try connection.execute(ImportStatements.upsertProducts(columns, hasRepeats: hasRepeats), rows)
        try connection.execute(ImportStatements.rememberOld, rows)
        // Who places a product holds its row: whoever was first is seen now, and nobody comes after.
        guard try shelves.union(touchedShelves(rows, connection)).isSubset(of: locked) else {
            throw Self.placedElsewhere
        }
        try connection.execute(ImportStatements.syncPlacements, rows)
        try connection.execute(ImportStatements.insertPlacements, rows)
        reordered.formUnion(
            try connection.query(ImportStatements.returnPositions, [.int4(storeID), touched]) {
                try $0.map { try $0.int4(0) }
            }
        )
        reordered.formUnion(try appendPositions(rows, storeID, touched, connection))
        try connection.execute(
            ImportStatements.bumpShelves,
            [.int4(storeID), touched, .int8Array(reordered.map(Int64.init))]
        )
        return outcome
    }

    private func lockStore(_ outcome: inout Outcome, _ connection: isolated PostgresConnection) throws -> Int32 {
        if !store.exists {
            outcome.storesCreated = try connection.execute(
                ImportStatements.insertStore,
                [.text(key.text), .text(store.currency.code)]
            )
        }
        let found = try connection.query(
            ImportStatements.lockStore,
            [.text(key.text)]
        ) { try $0.first { (try $0.int4(0), try $0.text(1)) } }
        guard let (id, currency) = found else { throw CatalogError.notFound("store “\(key)”") }
        guard currency == store.currency.code else {
            throw CatalogError.conflict("store “\(key)” was made with currency \(currency) meanwhile")
        }
        return id
    }

    private func makeShelves(
        _ storeID: Int32,
        _ outcome: inout Outcome,
        _ connection: isolated PostgresConnection
    ) throws {
        guard !store.shelves.created.isEmpty else { return }
        let last = try ShelfLocks.nextShelfPosition(storeID, connection)
        let positions = [last] + PathKey.appending(store.shelves.created.count - 1, after: last)
        let created = store.shelves.created
        for start in stride(from: 0, to: created.count, by: Self.shelvesAtOnce) {
            let range = start..<min(created.count, start + Self.shelvesAtOnce)
            outcome.shelvesCreated += try connection.execute(
                ImportStatements.makeShelves,
                [
                    .int4(storeID), .textArray(created[range].map(\.key.text)),
                    .textArray(created[range].map(\.title)), .byteaArray(positions[range].map(\.bytes)),
                ]
            )
        }
    }

    /// How many shelves one statement makes.
    private static let shelvesAtOnce = 10_000

    /// Locks every shelf that will change, in order, then looks again whether these are all.
    private func lockShelves(
        _ rows: [PostgresValue],
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> Set<Int32> {
        let shelves = try touchedShelves(rows, withStale: true, connection)
        try connection.execute(
            ImportStatements.lockShelves,
            [.int4(storeID), .int8Array(shelves.sorted().map(Int64.init))]
        )
        if !store.staleProducts.isEmpty {
            // Who places one holds its row.
            try connection.execute(
                ImportStatements.lockProducts,
                [.int4(storeID), .textArray(store.staleProducts)]
            )
        }
        guard try touchedShelves(rows, withStale: true, connection) == shelves else { throw Self.placedElsewhere }
        return shelves
    }

    /// The shelves that the file names and those on which its products stand.
    ///
    /// - Parameter withStale: with those that pruning may change.
    private func touchedShelves(
        _ rows: [PostgresValue],
        withStale: Bool = false,
        _ connection: isolated PostgresConnection
    ) throws -> Set<Int32> {
        let products: PostgresValue = .textArray(withStale ? store.staleProducts : [])
        let found = try connection.query(ImportStatements.touchedShelves, rows + [products]) {
            try $0.map { try $0.int4(0) }
        }
        return Set(found).union(withStale ? store.stalePlacements.map(\.0) : [])
    }

    /// Locks taken now would be out of order: the transaction is run again.
    private static let placedElsewhere = PostgresError(
        .server,
        "products were placed elsewhere meanwhile",
        sqlState: .serializationFailure
    )

    /// Takes away what the file does not name; returns the shelves that lose something.
    private func prune(
        _ storeID: Int32,
        _ outcome: inout Outcome,
        _ connection: isolated PostgresConnection
    ) throws -> Set<Int32> {
        var reordered: Set<Int32> = []
        if !store.stalePlacements.isEmpty {
            let pairs: [PostgresValue] = [
                .int4(storeID), .int8Array(store.stalePlacements.map { Int64($0.0) }),
                .textArray(store.stalePlacements.map(\.1)),
            ]
            let shelves = try connection.query(ImportStatements.removePlacements, pairs) {
                try $0.map { try $0.int4(0) }
            }
            outcome.removedPlacements = shelves.count
            reordered = Set(shelves)
            try connection.execute(ImportStatements.removePositions, pairs)
        }
        if !store.staleProducts.isEmpty {
            let products: [PostgresValue] = [.int4(storeID), .textArray(store.staleProducts)]
            reordered.formUnion(
                try connection.query(
                    ImportStatements.takeOff,
                    products
                ) { try $0.map { try $0.int4(0) } }
            )
            try connection.execute(ImportStatements.deletePlacements, products)
            outcome.removedProducts = try connection.execute(
                ImportStatements.deleteProducts,
                products
            )
        }
        return reordered
    }

    /// Gives every placement without one a place behind all others of its shelf; returns those shelves.
    private func appendPositions(
        _ rows: [PostgresValue],
        _ storeID: Int32,
        _ touched: PostgresValue,
        _ connection: isolated PostgresConnection
    ) throws -> Set<Int32> {
        let new = try connection.query(ImportStatements.unpositioned, rows) {
            try $0.map { (try $0.int4(0), try $0.text(1)) }
        }
        guard !new.isEmpty else { return [] }
        var last = Dictionary(
            uniqueKeysWithValues: try connection.query(ImportStatements.lastPositions, [.int4(storeID), touched]) {
                try $0.map { (try $0.int4(0), try $0.byteaOrNil(1).map { try PathKey(bytes: $0) }) }
            }
        )
        var index = 0
        _ = try connection.copyIn(PlacementStatements.copyPositions) {
            var text = CopyText()
            while index < new.count, text.bytes.count < PostgresConnection.copyPieceSize {
                let (shelf, sku) = new[index]
                let position = PathKey.appending(1, after: last[shelf] ?? nil)[0]
                last[shelf] = position
                text.field(storeID)
                text.field(shelf)
                text.field(sku)
                text.field(bytes: position.bytes)
                text.endRow()
                index += 1
            }
            return text.bytes
        }
        return Set(new.map(\.0))
    }
}
