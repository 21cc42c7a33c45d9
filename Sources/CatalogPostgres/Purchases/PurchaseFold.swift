package import Catalog
internal import LibPQ

/// Folds the pending purchases of all stores into counts per day, and anonymizes the customers who asked for it.
///
/// New purchases go to the open half of the cells. A fold seals that half, opens the other, and folds the sealed cells. The
/// next fold empties the cells. So a reader with a snapshot from before the counts still finds the purchases. Any number of
/// folds may run concurrently and be killed at any point: each event is folded once.
package struct PurchaseFold: Sendable {
    /// The result of a fold.
    package struct Outcome: Sendable, Hashable {
        /// The number of folded events by the id of their store.
        var events: [Int32: Int] = [:]
        /// The number of anonymized rows.
        package var anonymized = 0
        /// Whether purchases remain, and nobody was anonymized, because other sessions did not release the inbox.
        package var isPostponed = false

        /// The number of folded events of all stores.
        package var total: Int { events.values.reduce(0, +) }
    }

    private let database: Database
    private let sealAttempts: Int

    /// - Parameter sealAttempts: how often a fold tries to seal cells. Each attempt waits at most a second for writers, because reports
    ///   of purchases wait behind it, and the next one follows after a second.
    package init(_ catalog: PostgresCatalog, sealAttempts: Int = Self.usualSealAttempts) {
        database = catalog.database
        self.sealAttempts = sealAttempts
    }

    init(_ database: Database) {
        self.database = database
        sealAttempts = Self.usualSealAttempts
    }

    package static let usualSealAttempts = 20

    /// Folds all purchases that were reported before.
    ///
    /// Includes purchases that were reported before their product was created.
    package func run(jobs: Int = 1) async throws(CatalogError) -> Outcome {
        try await database.mappingErrors {
            // Anonymize at the end: until its purchases are folded, a customer must count once a day.
            let erasures = try await requestedErasures()
            try await moveStrays()
            var outcome = Outcome()
            var hasSealed = false
            while true {
                outcome.events.merge(try await foldCells(jobs: jobs), uniquingKeysWith: +)
                switch try await seal(unless: hasSealed) {
                case .sealed: hasSealed = true
                case .unfolded: continue
                case .occupied: try await emptyCells()
                case .locked:
                    outcome.isPostponed = true
                    return outcome
                case .done:
                    for piece in erasures { outcome.anonymized += try await anonymize(piece) }
                    try await DueProducts.mergeRows(database)
                    return outcome
                }
            }
        }
    }

    /// Moves purchases of products that were created since to the inbox, store by store.
    private func moveStrays() async throws {
        let stores = try await database.batch.perform(within: .maintenance) {
            try $0.query(PurchaseStatements.storesWithStrays) { try $0.map { try $0.int4(0) } }
        }
        for store in stores {
            var moved = 0
            repeat {
                try Task.checkCancellation()
                moved = try await database.batch.transaction(within: .bulk) { try Self.moveStrays(of: store, $0) }
            } while moved > 0
        }
    }

    /// The number of strays that a transaction moves.
    private static let movedCount: Int64 = 5000

    private static func moveStrays(of storeID: Int32, _ connection: isolated PostgresConnection) throws -> Int {
        let cell = try firstOpenCell(connection)
        let strays = try connection.query(PurchaseStatements.takeStrays, [.int4(storeID), .int8(movedCount)]) {
            try $0.map { try StoredPurchase($0) }
        }
        try StoredPurchase.addToInbox(strays, storeID, cell, connection)
        guard try firstOpenCell(connection) == cell else {
            throw PostgresError(.conflict, "the cells were sealed concurrently")
        }
        return strays.count
    }

    private static func firstOpenCell(_ connection: isolated PostgresConnection) throws -> Int32 {
        try connection.query(PurchaseStatements.firstOpenCell) { Int32(try $0.first { try $0.int2(0) }!) }
    }

    // MARK: - Cells

    private enum SealOutcome {
        case sealed
        /// Some sealed cells are not folded.
        case unfolded
        /// All are folded, but not empty.
        case occupied
        /// All purchases from before the last seal are folded.
        case done
        /// Other sessions did not release the inbox.
        case locked
    }

    /// Seals the open cells if the others are empty.
    ///
    /// - Parameter hasSealed: whether this fold has already sealed cells. A fold seals cells only once.
    private func seal(unless hasSealed: Bool) async throws -> SealOutcome {
        // Avoid a deadlock on Citus: a move of a shard waits for reports of purchases, the reports for this transaction, and the
        // transaction for the move, which locks the inbox.
        if try await database.movesShard() { return .locked }
        do {
            return try await retrying(limit: sealAttempts, pause: .seconds(1), when: { $0.isLockTimeout }) {
                try await sealOnce(unless: hasSealed)
            }
        } catch let error as PostgresError where error.isLockTimeout { return .locked }
    }

    private func sealOnce(unless hasSealed: Bool) async throws -> SealOutcome {
        try await database.batch.transaction(within: .night) { connection in
            // Another fold may take long.
            try PurchaseBook.removeLimits(connection)
            let states = try connection.query(PurchaseStatements.lockCells) { try $0.map { try $0.text(0) } }
            if states.contains("sealed") { return .unfolded }
            if hasSealed { return .done }
            if states.contains("folded") { return .occupied }
            let hasEvents = try connection.query(PurchaseStatements.hasOpenEvents) { $0.count > 0 }
            if !hasEvents { return .done }
            try connection.execute(PurchaseStatements.seal)
            try connection.set("lock_timeout", "1s")
            try connection.execute(PurchaseStatements.waitForWriters)
            return .sealed
        }
    }

    /// The number of purchases that a transaction folds, unless a cell has more. Each transaction passes over the indexes
    /// once.
    private static let foldedCount = 500_000

    /// Folds all sealed cells but those that other folds have claimed, and returns the events by store.
    private func foldCells(jobs: Int) async throws -> [Int32: Int] {
        let count = try await database.batch.perform(within: .maintenance) {
            try $0.query(PurchaseStatements.sealedCount) { try $0.first { try $0.int(0) }! }
        }
        let jobs = max(1, min(jobs, PurchaseCells.openCount))
        let piece = min(PurchaseCells.openCount / jobs, PurchaseCells.openCount * Self.foldedCount / max(1, count))
        return try await withThrowingTaskGroup(of: [Int32: Int].self) { group in
            for _ in 0..<jobs {
                group.addTask {
                    var events: [Int32: Int] = [:]
                    while let folded = try await foldCells(atMost: max(1, piece)) {
                        events.merge(folded, uniquingKeysWith: +)
                    }
                    return events
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
    }

    /// Folds some sealed cells; nil if there are none.
    private func foldCells(atMost limit: Int) async throws -> [Int32: Int]? {
        try Task.checkCancellation()
        let fold = try await database.router.form(PurchaseStatements.cellFolds)
        return try await database.batch.transaction(within: .night) { connection in
            try PurchaseBook.runInBatch(connection)
            let claimed = try connection.query(PurchaseStatements.claimCells, [.int8(Int64(limit))]) {
                try $0.map { Int64(try $0.int2(0)) }
            }
            guard !claimed.isEmpty else { return nil }
            let cells = PostgresValue.int8Array(claimed)
            try connection.executeDeferred(PurchaseStatements.prepareFold)
            let events = try connection.query(fold.first, [cells]) { rows in
                Dictionary(uniqueKeysWithValues: try rows.map { (try $0.int4(0), try $0.int(1)) })
            }
            for store in events.keys.sorted() {
                for statement in fold.ofStore { try connection.executeDeferred(statement, [.int4(store), cells]) }
            }
            try connection.execute(PurchaseStatements.markFolded, [cells])
            return events
        }
    }

    /// Folds the pending purchases of the products of some shelves, in a dry run.
    ///
    /// - Parameters:
    ///   - shelves: the store's id, and the ids of the shelves.
    ///   - statements: a form of `PurchaseStatements.shelfFolds`.
    static func foldShelves(
        _ shelves: [PostgresValue],
        by statements: [PostgresStatement],
        _ connection: isolated PostgresConnection
    ) throws {
        try connection.executeDeferred(PurchaseStatements.prepareFold)
        for statement in statements { try connection.execute(statement, shelves) }
    }

    /// Deletes the rows of folded cells: at once, or one by one if a backup reads them, or if the role may not truncate.
    private func emptyCells() async throws {
        do {
            try await emptyCells(PurchaseStatements.truncate, lockTimeout: "2s")
        } catch let error as PostgresError
            where error.isLockTimeout || error.sqlState == .insufficientPrivilege
        {
            try await emptyCells(PurchaseStatements.deleteRows, lockTimeout: "120s")
        }
    }

    /// - Parameter statements: by cell.
    private func emptyCells(_ statements: [PostgresStatement], lockTimeout: String) async throws {
        try await database.batch.transaction(within: .night) { connection in
            try connection.set("lock_timeout", lockTimeout)
            let cells = try connection.query(PurchaseStatements.foldedCells) { try $0.map { Int(try $0.int2(0)) } }
            guard !cells.isEmpty else { return }
            for cell in cells { try connection.execute(statements[cell]) }
            try connection.execute(PurchaseStatements.markEmpty, [.int8Array(cells.map(Int64.init))])
        }
    }

    // MARK: - Anonymizing

    /// Requests of at most 1,000 customers.
    private struct Erasures: Sendable {
        var customers: [[UInt8]] = []
        var marks: [Int64] = []
    }

    private func requestedErasures() async throws -> [Erasures] {
        var pieces: [Erasures] = []
        while true {
            let last = pieces.last?.customers.last ?? []
            let piece = try await database.batch.perform(within: .lookup) { connection in
                try connection.query(PurchaseStatements.requestedErasures, [.bytea(last)]) { rows in
                    var piece = Erasures()
                    for (customer, mark) in try rows.map({ (try $0.bytea(0), try $0.int8(1)) }) {
                        piece.customers.append(customer)
                        piece.marks.append(mark)
                    }
                    return piece
                }
            }
            if piece.customers.isEmpty { return pieces }
            pieces.append(piece)
        }
    }

    private func anonymize(_ piece: Erasures) async throws -> Int {
        try await database.batch.transaction(within: .maintenance) { connection in
            try PurchaseBook.runInBatch(connection)
            let customers = PostgresValue.byteaArray(piece.customers)
            let anonymized =
                try connection.execute(PurchaseStatements.anonymizeCustomers, [customers])
                + connection.execute(PurchaseStatements.anonymizeStrays, [customers])
            try connection.execute(PurchaseStatements.endErasures, [customers, .int8Array(piece.marks)])
            return anonymized
        }
    }
}
