internal import CatalogImport
internal import Catalog
internal import Collation
internal import LibPQ
internal import Ordering

/// The transaction of an import for one store.
struct ImportApplication: Sendable {
    let id: ImportID
    let lookup: ShelfLookup
    let key: CatalogKey
    /// The id of the store in the staged rows.
    let stagedID: Int32
    let store: ImportSession.StoreImport
    let columns: WrittenColumns
    /// The attributes by which the file was read, by name.
    let attributes: [String: AttributeDefinition]
    /// The attributes of products that have columns of their own in the file.
    let attributeNames: [String]
    /// Whether a column has all attributes.
    let hasAllAttributes: Bool
    /// Whether staged rows have attributes of stored products that the file does not have.
    let hasMergedAttributes: Bool
    /// The values of another type than declared that rows may have, because the stored products have them, too.
    let mistyped: [MistypedAttributes.Values]
    /// Whether rows leave the availability, or attributes beside those of the file, of stored products as they are.
    let keepsStock: Bool
    let keepsAttributes: Bool
    let hasRepeats: Bool
    let changed: Int

    /// The result of one store's transaction.
    struct Outcome: Sendable {
        /// Rows that another writer had made identical in the meantime.
        var unchanged = 0
        var updated = 0
        var inserted = 0
        var removedPlacements = 0
        var removedProducts = 0
        var storesCreated = 0
        var shelvesCreated = 0
        /// Values of another type that were cleared, with the numbers of their rows.
        var cleared: [(values: MistypedAttributes.Values, numbers: Set<Int>)] = []

        /// The counts of changed rows, and their names.
        var changedCounts: [(name: String, count: Int)] {
            [
                ("inserted", inserted), ("updated", updated), ("removed_placements", removedPlacements),
                ("removed_products", removedProducts), ("stores_created", storesCreated),
                ("shelves_created", shelvesCreated),
            ]
        }
    }

    func run(_ connection: isolated PostgresConnection) throws -> Outcome {
        try id.check(connection)
        if changed > ImportStatements.hashingLimit {
            try connection.set("enable_nestloop", "off")
            try connection.set("enable_mergejoin", "off")
        }
        var outcome = Outcome()
        let found = try lockStore(&outcome, connection)
        try checkDeletions(found.id, connection)
        try checkAttributes(found.id, connection)
        let storeID = found.id
        try createShelves(storeID, &outcome, connection)
        let rows: [PostgresValue] = [id.parameter, .int4(storeID)]
        // From here on no shelf can be deleted, because deleting one locks the store, too.
        let restored = try connection.query(ImportStatements.restoreShelves, rows) { try $0.map { try $0.text(0) } }
        // The comparison may have left out products that were on it.
        if let lost = restored.first(where: store.shelves.existingKeys.contains) {
            throw CatalogError.conflict("shelf “\(lost)” was deleted during the import; import the file again")
        }
        outcome.shelvesCreated += restored.count
        let locked = try lockShelves(rows, storeID, connection)
        try keepAgain(rows, &outcome, connection)
        // Rows may have changed since they were compared, for example by a second import of the same file.
        let before = try connection.query(ImportStatements.countRowsAgain, rows) { try $0.first { try $0.int(0) } ?? 0 }
        for statement in ImportStatements.dropUnchangedAgain(columns) { try connection.execute(statement, rows) }
        (outcome.updated, outcome.inserted) = try connection.query(ImportStatements.countChangedAgain, rows) {
            try $0.first { (try $0.int(0), try $0.int(1) - $0.int(0)) }!
        }
        outcome.unchanged = before - outcome.updated - outcome.inserted
        var reordered = try prune(storeID, &outcome, connection)
        let shelves = try touchedShelves(rows, connection).union(reordered)
        let bumped = shelves.sorted()
        let touched: PostgresValue = .int8Array(bumped.map(Int64.init))
        try connection.execute(
            ImportStatements.upsertProducts(columns, hasRepeats: hasRepeats).named("ImportStatements.upsertProducts"),
            rows + [
                locked.lastChange, .text(found.store.lastCount.metric.rawValue),
                .int4(Int32(found.store.lastCount.halfLifeDays)), .float8(found.store.lastCount.newcomerBoost),
            ]
        )
        try connection.execute(ImportStatements.queueRecreatedProducts, rows)
        // Placing a product locks its row: earlier placements are visible now, and no new ones can follow.
        guard try shelves.union(touchedShelves(rows, connection)).isSubset(of: locked.ids) else {
            throw ShelfLocks.concurrentPlacement
        }
        if columns.hasPopularity { try connection.execute(ImportStatements.copyScores, rows) }
        try connection.execute(ImportStatements.insertPlacements, rows)
        reordered.formUnion(
            try connection.query(ImportStatements.restorePositions, [.int4(storeID), touched]) {
                try $0.map { try $0.int4(0) }
            }
        )
        reordered.formUnion(try appendPositions(rows, storeID, touched, connection))
        let removed = store.stalePlacements
        try connection.executeDeferred(
            ShelfChangeStatements.recordImport,
            [
                .int4(storeID), id.parameter, .int8Array(removed.map { Int64($0.0) }), .textArray(removed.map(\.1)),
                touched,
            ]
        )
        try connection.execute(
            ImportStatements.bumpShelves,
            [.int4(storeID), touched, .boolArray(bumped.map(reordered.contains))]
        )
        try ShelfImages.store(changed: bumped, of: storeID, connection)
        try AuditLog.record(.work(.importApply, "import", id.text, outcome.changedCounts), in: storeID, connection)
        // A declaration of the deployment does not wait for imports.
        try checkAttributes(storeID, connection)
        return outcome
    }

    private func lockStore(
        _ outcome: inout Outcome,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfRow.StoreRead {
        if !store.exists, try lookup.storeIfExists(key, connection, locking: ShelfStatements.lockStore) == nil {
            if try StoreLifecycle.create(.imported(key, store.currency), newID: stagedID, connection) != nil {
                outcome.storesCreated = 1
            }
        }
        let found = try lookup.store(key, connection, locking: ShelfStatements.lockStore)
        let currency = found.store.currency
        guard currency == store.currency else {
            throw CatalogError.conflict("store “\(key)” was created with currency \(currency.code) during the import")
        }
        guard LanguageCollator.haveEqualRules(found.store.language, store.language) else {
            throw CatalogError.conflict(
                "the language of store “\(key)” changed to \(found.store.language) during the import; import the file again"
            )
        }
        if found.id != stagedID {
            // Another writer has created the store since, or it was deleted before and has its id again.
            let staged: [PostgresValue] = [id.parameter, .int4(stagedID)]
            try connection.execute(ImportStatements.copyRows, staged + [.int4(found.id)])
            try connection.execute(ImportStatements.deleteRowsOfStore, staged)
        }
        return found
    }

    /// - Throws: `conflict` if the store was deleted since the comparison. If it was created again, it lacks the rows that were the same.
    private func checkDeletions(_ storeID: Int32, _ connection: isolated PostgresConnection) throws {
        guard let deletions = store.deletions else { return }
        let now = try connection.query(StoreLifecycle.deletions, [.int4(storeID)]) { try $0.first { try $0.int4(0) } }
        guard now == deletions else {
            throw CatalogError.conflict("store “\(key)” was deleted during the import; import the file again")
        }
    }

    /// - Throws: `conflict` if attributes of the file were declared, deleted or retyped since: the file would be read in another way.
    private func checkAttributes(_ storeID: Int32, _ connection: isolated PostgresConnection) throws {
        guard columns.hasAttributes else { return }
        let now = StoreAttributes.definitions(try PostgresAttributeStore.effective(in: storeID, connection))
        let names = hasAllAttributes ? Set(now.keys).union(attributes.keys) : Set(attributeNames)
        guard names.allSatisfy({ AttributeDefinition.areReadAlike(attributes[$0], now[$0]) }) else {
            throw CatalogError.conflict(
                "the attributes of store “\(key)” were declared differently during the import; import the file again"
            )
        }
    }

    /// Copies values that the file does not set from the stored products again, which other writers may have changed.
    private func keepAgain(
        _ rows: [PostgresValue],
        _ outcome: inout Outcome,
        _ connection: isolated PostgresConnection
    ) throws {
        let mergesAll = columns.hasAttributes && !hasAllAttributes
        guard mergesAll || keepsStock || keepsAttributes || !mistyped.isEmpty else { return }
        try connection.execute(ImportStatements.lockProducts, rows)
        for values in mistyped {
            let numbers = try values.clear(rows, connection)
            if !numbers.isEmpty { outcome.cleared.append((values, numbers)) }
        }
        if mergesAll || keepsAttributes && !attributeNames.isEmpty {
            try mergeAttributesAgain(
                mergesAll
                    ? ImportStatements.mergeAttributesAgain : ImportStatements.mergeAttributesOfPartialRowsAgain,
                rows,
                connection
            )
        }
        if keepsStock { try connection.execute(ImportStatements.keepStockAgain, rows) }
        if keepsAttributes, attributeNames.isEmpty {
            try connection.execute(ImportStatements.keepAttributesAgain, rows)
        }
    }

    /// - Throws: `conflict` if a product has too many attributes now.
    private func mergeAttributesAgain(
        _ statements: [PostgresStatement],
        _ rows: [PostgresValue],
        _ connection: isolated PostgresConnection
    ) throws {
        var merged = 0
        // Rows with attributes of products that were deleted since had them when the file was compared.
        for statement in hasMergedAttributes ? statements[...] : statements[..<1] {
            merged += try connection.execute(statement, rows + [.textArray(attributeNames)])
        }
        // All other rows were checked when the file was compared.
        guard merged > 0 else { return }
        let limit = PostgresValue.int4(Int32(Product.attributesLimit))
        guard try connection.query(ImportStatements.hasLongAttributes, rows + [limit], { $0.count == 0 }) else {
            throw CatalogError.conflict(
                "attributes of store “\(key)” were changed during the import, so that a product has too many; import the file again"
            )
        }
    }

    private func createShelves(
        _ storeID: Int32,
        _ outcome: inout Outcome,
        _ connection: isolated PostgresConnection
    ) throws {
        guard !store.shelves.created.isEmpty else { return }
        let created = store.shelves.created
        let next = try ShelfLocks.nextShelf(storeID, connection)
        let positions = [next.position] + PathKey.appending(created.count - 1, after: next.position)
        for start in stride(from: 0, to: created.count, by: Self.shelfBatchSize) {
            let range = start..<min(created.count, start + Self.shelfBatchSize)
            outcome.shelvesCreated += try connection.execute(
                ImportStatements.createShelves,
                [
                    .int4(storeID), .int8Array(range.map { Int64(Int(next.id) + $0) }),
                    .textArray(created[range].map(\.key.text)), .textArray(created[range].map(\.title)),
                    .byteaArray(positions[range].map(\.bytes)),
                    .byteaArray(created[range].map { store.collator.key($0.title) }),
                ]
            )
        }
        let children = created.filter { $0.parent != nil }
        if !children.isEmpty {
            try connection.execute(
                ImportStatements.setParents,
                [.int4(storeID), .textArray(children.map(\.key.text)), .textArray(children.map { $0.parent!.text })]
            )
        }
        // A shelf that was deleted loses its parent and default sort, which other shelves may inherit.
        try connection.execute(ShelfStatements.bumpStore, [.int4(storeID)])
    }

    /// The number of shelves created per statement.
    private static let shelfBatchSize = 10_000

    /// Locks all shelves that will change, in order, then verifies that the set is complete.
    private func lockShelves(
        _ rows: [PostgresValue],
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> ShelfLocks.LockedShelves {
        let stale = Set(store.stalePlacements.map(\.0))
        let shelves = try touchedShelves(rows, connection).union(stale)
        let locked = try ShelfLocks.lock(shelves.sorted(), storeID, connection)
        if !store.staleProducts.isEmpty {
            // Placing a product locks its row.
            try connection.execute(
                ShelfStatements.lockProducts,
                [.int4(storeID), .textArray(store.staleProducts)]
            )
        }
        guard try touchedShelves(rows, connection).union(stale) == shelves else {
            throw ShelfLocks.concurrentPlacement
        }
        return locked
    }

    /// Returns the shelves in the file and the shelves on which its products are placed.
    private func touchedShelves(_ rows: [PostgresValue], _ connection: isolated PostgresConnection) throws -> Set<Int32>
    {
        Set(try connection.query(ImportStatements.touchedShelves, rows) { try $0.map { try $0.int4(0) } })
    }

    /// Removes what is missing from the file; returns the affected shelves. A product that was placed on another shelf since is
    /// not deleted.
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
            outcome.removedProducts = try connection.execute(
                ImportStatements.deleteProducts,
                [.int4(storeID), .textArray(store.staleProducts)]
            )
        }
        return reordered
    }

    /// Appends placements without a position to the end of their shelves; returns those shelves.
    private func appendPositions(
        _ rows: [PostgresValue],
        _ storeID: Int32,
        _ touched: PostgresValue,
        _ connection: isolated PostgresConnection
    ) throws -> Set<Int32> {
        var last: [Int32: PathKey?] = [:]
        var reordered: Set<Int32> = []
        try connection.execute(ImportStatements.findUnpositioned, rows)
        while true {
            let new = try connection.query(ImportStatements.nextUnpositioned) {
                try $0.map { (try $0.int4(0), try $0.text(1)) }
            }
            if new.isEmpty { break }
            if reordered.isEmpty {
                last = try connection.query(ImportStatements.lastPositions, [.int4(storeID), touched]) { rows in
                    Dictionary(
                        uniqueKeysWithValues: try rows.map {
                            (try $0.int4(0), try $0.byteaOrNil(1).map { try PathKey(bytes: $0) })
                        }
                    )
                }
            }
            let placed = new.map { shelf, sku in
                let key = PathKey.appending(1, after: last[shelf] ?? nil)[0]
                last[shelf] = key
                return (shelf, sku, key)
            }
            try PositionCopy.run(placed, storeID, connection)
            reordered.formUnion(new.map(\.0))
        }
        try connection.execute(ImportStatements.closeUnpositioned)
        return reordered
    }
}
