internal import Catalog
internal import LibPQ

extension ImportSession {
    /// Compares the staged rows with the catalog and keeps only those that differ.
    ///
    /// - Parameter onReject: called for every row that is rejected only now.
    func compare(_ onReject: (ImportRejection) throws -> Void) async throws {
        try await resolveStock(onReject)
        try await resolveAttributes(onReject)
        try checkRejected()
        let (id, columns, count) = (id, columns, summary.read - summary.rejected - summary.skipped)
        // The staged rows are compared with each other, or with all rows of their stores: lookups would not help.
        let conflicts: Conflicts
        (hasRepeats, summary.repeated, conflicts) = try await compareTransaction(hashing: true) { connection in
            let hasRepeats = try connection.query(ImportStatements.findRepeats, [id.parameter]) { $0.count > 0 }
            guard hasRepeats else { return (false, 0, Conflicts()) }
            let conflicts = try Self.conflicts(columns, id, connection)
            try connection.execute(ImportStatements.applyLastRows, [id.parameter])
            try connection.execute(ImportStatements.dropRepeated, [id.parameter])
            let remaining = try connection.query(ImportStatements.countRows, [id.parameter]) {
                try $0.first { try $0.int(0) } ?? 0
            }
            return (true, count - remaining, conflicts)
        }
        if hasRepeats { try await spreadMistypedAttributes() }
        summary.conflicts = conflicts.count
        let keys = storeKeys
        summary.warnings += conflicts.first.map { row in
            """
            lines \(line(of: row.numbers.0)) and \(line(of: row.numbers.1)): product “\(row.sku)” (\(row.name)) of “\(keys[row.store]!)” has \
            different values: \(row.differences); the last row counts
            """
        }
        if options.prunes {
            if summary.rejected > 0 {
                try refuse(
                    .unprocessable(
                        field: "file",
                        detail: """
                            pruning requires a file without rejected rows (\(summary.rejected) were rejected); correct them, or \
                            import without pruning
                            """
                    )
                )
            } else {
                try await findStale()
            }
        }
        let (updated, inserted, staged) = try await compareTransaction(
            hashing: count > ImportStatements.hashingLimit
        ) { connection in
            for statement in ImportStatements.dropUnchanged(columns) {
                try connection.execute(statement, [id.parameter])
            }
            let (updated, all, staged) = try connection.query(ImportStatements.countChanged, [id.parameter]) {
                try $0.first { (try $0.int(0), try $0.int(1), try $0.int(2)) } ?? (0, 0, 0)
            }
            return (updated, all - updated, staged)
        }
        changedRows = staged
        summary.unchanged = count - summary.repeated - updated - inserted
        summary.updated = updated
        summary.inserted = inserted
        summary.storesCreated = stores.values.count { !$0.exists }
        summary.shelvesCreated = newShelves
    }

    /// The rows of products that have other values in a later row.
    private struct Conflicts: Sendable {
        var count = 0
        /// The first ones.
        var first: [Row] = []

        struct Row: Sendable {
            let store: Int32
            let sku: String
            let name: String
            let numbers: (Int, Int)
            let differences: String
        }
    }

    private static func conflicts(
        _ columns: WrittenColumns,
        _ id: ImportID,
        _ connection: isolated PostgresConnection
    ) throws -> Conflicts {
        let count = try connection.query(ImportStatements.countConflicts(columns), [id.parameter]) {
            try $0.first { try $0.int(0) } ?? 0
        }
        guard count > 0 else { return Conflicts() }
        let rows = try connection.query(ImportStatements.conflicts(columns), [id.parameter]) {
            try $0.map { row in
                Conflicts.Row(
                    store: try row.int4(0),
                    sku: try row.text(1),
                    name: try row.text(2),
                    numbers: (Int(try row.int8(3)), Int(try row.int8(4))),
                    differences: try row.text(5)
                )
            }
        }
        return Conflicts(count: count, first: rows)
    }

    /// Runs a comparison, with hash joins or with index lookups.
    private func compareTransaction<T: Sendable>(
        hashing: Bool,
        _ body: @escaping @Sendable (isolated PostgresConnection) throws -> T
    ) async throws -> T {
        try await transaction { [id] connection in
            try id.check(connection)
            if hashing {
                try connection.set("enable_nestloop", "off")
                try connection.set("enable_mergejoin", "off")
            }
            return try body(connection)
        }
    }

    /// Finds what pruning removes. Stores created after the file was read are not pruned.
    private func findStale() async throws {
        let id = id
        let (placements, products, unplaced, shelves) = try await compareTransaction(hashing: true) { connection in
            (
                try connection.query(ImportStatements.stalePlacements, [id.parameter]) {
                    try $0.map { (try $0.int4(0), try $0.int4(1), try $0.text(2)) }
                },
                try connection.query(ImportStatements.staleProducts, [id.parameter]) {
                    try $0.map { (try $0.int4(0), try $0.text(1)) }
                },
                try connection.query(ImportStatements.unplacedProducts, [id.parameter]) {
                    try $0.map { (try $0.int4(0), try $0.textOrNil(1), try $0.int(2)) }
                },
                try connection.query(ImportStatements.shelvesOfFile, [id.parameter]) {
                    try $0.map { (try $0.int4(0), try $0.int4(1), try $0.text(2), Int(try $0.int4(3))) }
                }
            )
        }
        let keys = storeKeys
        for (store, shelf, sku) in placements {
            if let key = keys[store] { stores[key]?.stalePlacements.append((shelf, sku)) }
        }
        for (store, sku) in products { if let key = keys[store] { stores[key]?.staleProducts.append(sku) } }
        var listed: [CatalogKey: Int] = [:]
        var missing: [CatalogKey: Int] = [:]
        for (store, sku, count) in unplaced {
            guard let key = keys[store] else { continue }
            if let sku {
                missing[key, default: 0] += 1
                stores[key]?.staleProducts.append(sku)
            } else {
                listed[key] = count
            }
        }
        summary.removedPlacements = stores.values.reduce(0) { $0 + $1.stalePlacements.count }
        summary.removedProducts = stores.values.reduce(0) { $0 + $1.staleProducts.count }
        let lost = stores.mapValues { store in
            store.stalePlacements.reduce(into: [:]) { $0[$1.0, default: 0] += 1 }
        }
        var removals = try shelves.compactMap { store, shelf, name, products -> ShelfRemoval? in
            guard let key = keys[store], let removed = lost[key]?[shelf] else { return nil }
            let remaining = max(0, products - removed)
            return ShelfRemoval(store: key, shelf: try CatalogKey(stored: name), removed: removed, remaining: remaining)
        }
        removals += missing.map {
            ShelfRemoval(store: $0.key, shelf: nil, removed: $0.value, remaining: listed[$0.key] ?? 0)
        }
        summary.removedByShelf = removals.sorted { ($0.store, $0.shelf?.text ?? "") < ($1.store, $1.shelf?.text ?? "") }
    }

    /// Asks for the confirmation of what pruning removes. A dry run only warns.
    ///
    /// - Parameter onPrune: is called with all removals; returns whether they are confirmed.
    /// - Throws: `unprocessable` if a removal must be confirmed and is not.
    func confirmPrune(_ onPrune: ([ShelfRemoval]) throws -> Bool) throws {
        let removals = summary.removedByShelf
        guard !removals.isEmpty else { return }
        let isConfirmed = try onPrune(removals)
        guard !options.confirmsPrune, !isConfirmed else { return }
        if options.isDryRun {
            let large = removals.filter(\.isLarge)
            guard !large.isEmpty else { return }
            summary.warnings.append(
                """
                pruning removes \(ShelfRemoval.list(large)), more than a tenth; it needs confirm_prune (command line: --yes)
                """
            )
        } else {
            try ShelfRemoval.checkUnconfirmed(removals)
        }
    }
}
