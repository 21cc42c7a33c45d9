internal import Catalog
internal import Collation
internal import LibPQ
internal import Ordering

extension PostgresShelfStore {
    func put(_ store: Store) async throws(CatalogError) -> Bool {
        try await database.write(to: store.key, within: .store, changesStore: true) { connection in
            try connection.set("lock_timeout", "0")
            guard let old = try lookup.storeIfExists(store.key, connection, locking: ShelfStatements.lockStore) else {
                let newID = try StoreLifecycle.newIDs(1, connection)[0]
                guard let id = try StoreLifecycle.create(store, newID: newID, connection) else {
                    // The next attempt changes it.
                    throw PostgresError(.conflict, "the store was created concurrently")
                }
                try Self.check(store.attributeSorts(), in: id, connection)
                try AuditLog.record(.store(nil, store), in: id, connection)
                return true
            }
            try Self.check(store.attributeSorts(since: old.store), in: old.id, connection)
            var updated = store
            updated.lastCount = old.store.lastCount
            if old.store == updated { return false }
            if old.store.currency != store.currency {
                // Lock, so that no first price can be set concurrently.
                try connection.execute(ShelfStatements.lockStoreExclusively, [.int4(old.id)])
                let priced = try connection.query(
                    ShelfStatements.anyPrice,
                    [.int4(old.id)]
                ) { $0.count > 0 }
                guard !priced else { throw CatalogError.currencyInUse(old.store) }
            }
            let changesLanguage = !LanguageCollator.haveEqualRules(old.store.language, store.language)
            let changesSoldOut = old.store.soldOut != store.soldOut
            // No name may be written in the old language meanwhile.
            if changesLanguage { try connection.execute(ShelfStatements.lockStoreExclusively, [.int4(old.id)]) }
            if changesLanguage || changesSoldOut {
                try connection.execute(
                    ShelfStatements.lockAll,
                    [.int4(old.id)]
                )
            }
            try connection.execute(Self.updateStore, StoreLifecycle.columns(store))
            try connection.execute(ShelfStatements.bumpStore, [.int4(old.id)])
            try AuditLog.record(.store(old.store, store), in: old.id, connection)
            if changesLanguage {
                try Recollation.compute(old.id, in: store.language, connection)
            } else if changesSoldOut {
                try connection.executeDeferred(ShelfChangeStatements.recordSettingsOfAll, [.int4(old.id)])
            }
            // Without a record of what changed, shelves are read as a whole.
            if changesLanguage || changesSoldOut { try connection.execute(ShelfStatements.bumpAll, [.int4(old.id)]) }
            return false
        }
    }

    func remove(store: CatalogKey) async throws(CatalogError) -> Int {
        try await database.write(to: store, within: .store, changesStore: true) { connection in
            try connection.set("lock_timeout", "0")
            return try StoreLifecycle.delete(store, lookup, connection)
        }
    }

    func update(
        shelf key: CatalogKey,
        in store: CatalogKey,
        _ change: @escaping @Sendable (Shelf?) throws(CatalogError) -> Shelf
    ) async throws(CatalogError) -> Bool {
        try await database.write(to: store) { connection in
            // Serialize creating and deleting shelves of a store, so that ids, positions and parents stay valid.
            let found = try lookup.store(store, connection, locking: ShelfStatements.lockStore)
            let old = try connection.query(ShelfStatements.lockByKey, [.int4(found.id), .text(key.text)]) {
                try $0.first {
                    (id: try $0.int4(0), isDeleted: try $0.bool(1), shelf: try ShelfRow.settings($0, of: key, from: 2))
                }
            }
            let stored = old.flatMap { $0.isDeleted ? nil : $0.shelf }
            let shelf = try change(stored)
            try Self.check(shelf.attributeSorts(since: stored), in: found.id, connection)
            let isMoved = stored == nil || stored?.parent != shelf.parent
            let parentID = try shelf.parent.map {
                try Self.parentID($0, of: key, isMoved: isMoved, found.id, connection)
            }
            let settings: [PostgresValue] = [
                .int4(found.id), .text(key.text), .text(shelf.title), .int4(parentID),
                .text(shelf.defaultSort?.description), .int2(shelf.dimension.map { Int16($0.ordinal) }),
                .text(shelf.soldOut?.rawValue), .text(shelf.positionSource?.description),
                .bytea(LanguageCollator.of(found.store.language).key(shelf.title)), .bool(shelf.includesDescendants),
                .bool(shelf.collapsesGroups),
            ]
            guard let old else {
                let next = try ShelfLocks.nextShelf(found.id, connection)
                try connection.execute(Self.insertShelf, settings + [.bytea(next.position.bytes), .int4(next.id)])
                try AuditLog.record(.shelf(nil, shelf), in: found.id, connection)
                return true
            }
            if let stored, stored != shelf { try ShelfChanges([], on: old.id).record(in: found.id, connection) }
            try connection.execute(Self.updateShelf, settings)
            try AuditLog.record(.shelf(stored, shelf), in: found.id, connection)
            let location: [PostgresValue] = [.int4(found.id), .int4(old.id)]
            let changesInheritance = (old.shelf.parent, old.shelf.defaultSort) != (shelf.parent, shelf.defaultSort)
            if changesInheritance, try connection.query(ShelfStatements.anyChild, location, { $0.count > 0 }) {
                try connection.execute(ShelfStatements.bumpStore, [.int4(found.id)])
            }
            return old.isDeleted
        }
    }

    func remove(shelf: CatalogKey, from store: CatalogKey) async throws(CatalogError) {
        try await database.write(to: store) { connection in
            let found = try lookup.store(store, connection, locking: ShelfStatements.lockStore)
            let id = try ShelfLocks.lockShelf(shelf, found.id, connection)
            let key: [PostgresValue] = [.int4(found.id), .int4(id)]
            let hasChildren = try connection.query(
                ShelfStatements.anyChild,
                key
            ) { $0.count > 0 }
            guard !hasChildren else {
                throw CatalogError.conflict("shelf “\(shelf)” has child shelves; move or delete them first")
            }
            try connection.execute(
                ShelfStatements.removeAllProducts,
                key
            )
            try connection.execute(ShelfStatements.deletePlacements, key)
            try connection.execute(ShelfStatements.deleteHistory, key)
            try connection.execute(
                ShelfStatements.delete,
                key
            )
            try AuditLog.record(.deleted(shelf), in: found.id, connection)
        }
    }

    /// Checks that a store has the attributes of new sorts.
    ///
    /// - Throws: `unknownSortKey`.
    private static func check(
        _ sorts: [(field: String, sort: Sort)],
        in storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws {
        guard !sorts.isEmpty else { return }
        try AttributeSets.current(storeID, connection).check(sorts)
    }

    /// Returns the id of a shelf's parent.
    ///
    /// - Parameter isMoved: whether the shelf is new or has another parent, so that it may become nested too deep.
    private static func parentID(
        _ parent: CatalogKey,
        of shelf: CatalogKey,
        isMoved: Bool,
        _ storeID: Int32,
        _ connection: isolated PostgresConnection
    ) throws -> Int32 {
        // The shelf must not be its own ancestor.
        let line = try connection.query(
            ShelfStatements.ancestors,
            [.int4(storeID), .text(parent.text)]
        ) { try $0.map { (try $0.int4(0), try $0.text(1)) } }
        guard let first = line.first else {
            throw CatalogError.unprocessable(field: "parent", detail: "shelf “\(parent)” does not exist")
        }
        guard !line.contains(where: { $0.1 == shelf.text }) else {
            throw CatalogError.unprocessable(
                field: "parent",
                detail: "parent must not be a descendant: “\(parent)” is below “\(shelf)”"
            )
        }
        guard isMoved else { return first.0 }
        let height = try connection.query(ShelfStatements.height, [.int4(storeID), .text(shelf.text)]) {
            try $0.first { Int(try $0.int4(0)) } ?? 1
        }
        guard line.count + height <= Shelf.depthLimit else {
            throw CatalogError.unprocessable(
                field: "parent",
                detail: "shelves can be nested at most \(Shelf.depthLimit) levels deep"
            )
        }
        return first.0
    }

    // MARK: - Statements

    static let updateStore: PostgresStatement = """
        UPDATE store SET title = $2, currency = $3, locale = $4, unit_pricing = $5, sold_out = $6, default_sort = $7,
            popularity_metric = $8, popularity_half_life_days = $9, newcomer_boost = $10, sort_language = $11
        WHERE key = $1
        """

    static let insertShelf: PostgresStatement = """
        INSERT INTO shelf (store_id, key, title, parent_id, default_sort, dimension, sold_out, position_source, title_key,
            includes_descendants, collapses_groups, position, shelf_id, modified_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now())
        """

    static let updateShelf: PostgresStatement = """
        UPDATE shelf SET title = $3, parent_id = $4, default_sort = $5, dimension = $6, sold_out = $7,
            position_source = $8, title_key = $9, includes_descendants = $10, collapses_groups = $11,
            modified_at = \(ShelfStatements.nextTime), deleted_at = NULL,
            settled_dimension = CASE WHEN deleted_at IS NULL THEN settled_dimension ELSE 0 END,
            version = \(SQL.nextVersion(after: "version"))
        WHERE store_id = $1 AND key = $2 AND (
            (title, parent_id, default_sort, dimension, sold_out, position_source, includes_descendants, collapses_groups)
                IS DISTINCT FROM ($3, $4, $5, $6, $7, $8, $10, $11) OR deleted_at IS NOT NULL)
        """
}
