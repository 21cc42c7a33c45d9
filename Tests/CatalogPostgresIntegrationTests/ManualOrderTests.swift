import Catalog
import CatalogJSON
import CatalogPostgres
import Foundation
import InMemoryCatalog
import LibPQ
import Ordering
import Testing
import TestSupport

/// Manual orders in the database, compared with rearranged plain lists.
@Suite(.timeLimit(.minutes(15))) struct ManualOrderTests {
    private static let shop = CatalogKey("shop")!
    private static let shelf = CatalogKey("shelf")!

    private func withShelf(
        _ ids: [String],
        _ body: (PostgresCatalog) async throws -> Void
    ) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await fill(catalog.storage, ids)
            try await body(catalog)
        }
    }

    private func fill(_ catalog: CatalogStorage, _ ids: [String]) async throws {
        _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
        _ = try await catalog.shelves.put(Shelf(key: Self.shelf, title: "Shelf"), in: Self.shop)
        for id in ids {
            _ = try await catalog.products.put(Product(sku: SKU(id)!, name: id), in: Self.shop)
            _ = try await catalog.products.place(SKU(id)!, on: Self.shelf, in: Self.shop)
        }
    }

    private func order(_ catalog: CatalogStorage) async throws -> [String] {
        try await catalog.pages.order(Self.shop, Self.shelf, .position).ids
    }

    private func edit(
        _ catalog: CatalogStorage,
        _ edit: ManualOrderEdit,
        expected: Int64? = nil,
        once call: IdempotentCall<ManualOrderOutcome>? = nil
    ) async throws -> String {
        let request = OrderEditRequest(store: Self.shop, shelf: Self.shelf, edit: edit, expected: expected.map { [$0] })
        return String(decoding: try await catalog.manualOrder.editOrder(request, once: call).json, as: UTF8.self)
    }

    private func keys(_ catalog: PostgresCatalog) async throws -> [(String, PathKey, Bool)] {
        try await catalog.database.writes.perform {
            try $0.query("SELECT sku, key, removed_at IS NOT NULL FROM placement_position ORDER BY key") {
                try $0.map { (try $0.text(0), try PathKey(bytes: try $0.bytea(1)), try $0.bool(2)) }
            }
        }
    }

    private func written(_ catalog: PostgresCatalog) async throws -> Int {
        try await catalog.database.writes.perform {
            try $0.query(
                "SELECT count(*) FROM placement_position WHERE xmin = (SELECT max(xmin::text::bigint)::text::xid FROM placement_position)"
            ) {
                try $0.first { try $0.int(0) } ?? 0
            }
        }
    }

    /// Returns a random edit, valid or not.
    private func anyEdit(_ ids: [String], _ random: inout SeededGenerator) -> ManualOrderEdit {
        func some(_ limit: Int) -> [String] {
            Array(ids.shuffled(using: &random).prefix(Int.random(in: 1...limit, using: &random)))
        }
        switch Int.random(in: 0...19, using: &random) {
        case 0: return .undo(change: nil)
        case 1: return .set(some(ids.count))
        case 2:
            return .snapshot(
                [Sort(.name, .ascending)!, Sort(.name, .descending)!][Int.random(in: 0...1, using: &random)]
            )
        default:
            let moves = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let anchor = ids[Int.random(in: 0..<ids.count, using: &random)]
                let targets: [OrderMove.Target] = [
                    .after(anchor), .before(anchor), .first, .last,
                    .position(Int.random(in: 0...(ids.count + 2), using: &random)),
                ]
                return OrderMove(some(4), targets[Int.random(in: 0..<targets.count, using: &random)])
            }
            return .moves(moves)
        }
    }

    /// The number of seeds and of operations per seed; `make soak` uses 100 and 10,000.
    private static let soak: (seeds: Int, rounds: Int) = {
        let environment = ProcessInfo.processInfo.environment
        return (
            environment["AISLE_SOAK_SEEDS"].flatMap { Int($0) } ?? 4,
            environment["AISLE_SOAK_ROUNDS"].flatMap { Int($0) } ?? 150
        )
    }()

    /// Also in a database with another locale: keys do not depend on collations.
    @Test("Ordering keys compare by bytes in any database locale")
    func keysIgnoreDatabaseLocale()
        async throws
    {
        let database = try await TestDatabase.migrated(icuLocale: "hr")
        let catalog = PostgresCatalog(try Database(database.configuration), encodingEvents: \.json)
        let ids = (0..<14).map { "p\($0)" }
        try await fill(catalog.storage, ids)
        try await compare(catalog, ids, seed: 1000, rounds: 100)
        catalog.shutDown()
        try await database.drop()
    }

    /// The database and the in-memory catalog agree on every edit, while products are removed and re-added.
    @Test("Random edits leave the same order as edits of a plain list", arguments: 0..<soak.seeds)
    func randomEditsMatchMemory(_ seed: Int) async throws {
        let ids = (0..<14).map { "p\($0)" }
        try await withShelf(ids) { (catalog: PostgresCatalog) async throws in
            try await compare(catalog, ids, seed: seed, rounds: Self.soak.rounds)
        }
    }

    private func compare(_ catalog: PostgresCatalog, _ ids: [String], seed: Int, rounds: Int) async throws {
        do {
            let meant = InMemoryCatalog(collate: collator)
            try await fill(meant.storage, ids)
            var random = SeededGenerator(seed: UInt64(seed))
            var before = try await order(catalog.storage)
            for round in 0..<rounds {
                if round % 500 == 499 { _ = try await ManualOrderCompaction(catalog).run() }
                var isUnchanged = false
                if Int.random(in: 0...4, using: &random) == 0 {
                    let sku = SKU(ids[Int.random(in: 0..<ids.count, using: &random)])!
                    if try await order(meant.storage).contains(sku.text), try await order(meant.storage).count > 6 {
                        try await catalog.products.unplace(sku, from: Self.shelf, in: Self.shop)
                        try await meant.unplace(sku, from: Self.shelf, in: Self.shop)
                    } else {
                        _ = try await catalog.products.place(sku, on: Self.shelf, in: Self.shop)
                        _ = try await meant.place(sku, on: Self.shelf, in: Self.shop)
                    }
                } else {
                    let randomEdit = anyEdit(ids, &random)
                    let version = try await catalog.shelves.shelf(Self.shop, Self.shelf).state.orderVersion
                    let results = (
                        try? await edit(catalog.storage, randomEdit), try? await edit(meant.storage, randomEdit)
                    )
                    #expect((results.0 == nil) == (results.1 == nil), "\(randomEdit) of \(before)")
                    isUnchanged =
                        try await catalog.shelves.shelf(Self.shop, Self.shelf).state.orderVersion == version
                }
                let (actual, expected) = (try await order(catalog.storage), try await order(meant.storage))
                guard actual == expected else {
                    Issue.record("round \(round): \(actual) is not \(expected)")
                    return
                }
                if isUnchanged { #expect(actual == before) }
                before = actual
            }
            let keys = try await keys(catalog).map(\.1)
            #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test("A move writes only the moved rows; a no-op writes none")
    func movesWriteMovedRowsOnly() async throws {
        try await withShelf((0..<20).map { "p\($0)" }) { (catalog: PostgresCatalog) async throws in
            let start = try await catalog.shelves.shelf(Self.shop, Self.shelf).state
            for (moved, target) in [
                (["p3"], OrderMove.Target.after("p9")), (["p1", "p7", "p5"], .first), (["p2", "p4"], .last),
            ] {
                _ = try await edit(catalog.storage, .moves([OrderMove(moved, target)]))
                #expect(try await written(catalog) == moved.count)
            }
            let settled = try await catalog.shelves.shelf(Self.shop, Self.shelf).state
            #expect(settled.orderVersion >= start.orderVersion + 3)
            #expect(settled.version >= start.version + 3)
            let keys = try await keys(catalog).map(\.1)
            for move in [
                OrderMove(["p3"], .after("p9")), OrderMove(["p3"], .after("p3")), OrderMove(["p1", "p7"], .first),
                OrderMove(["p4"], .last), OrderMove(["p7"], .position(1)),
            ] {
                let response = try await edit(catalog.storage, .moves([move]))
                #expect(response.contains(#""moves":[]"#))
                #expect(response.contains("\"order_version\":\(settled.orderVersion),"))
            }
            #expect(try await self.keys(catalog).map(\.1) == keys)
            #expect(try await catalog.shelves.shelf(Self.shop, Self.shelf).state == settled)
        }
    }

    @Test("The returned diff leads a client to the new order")
    func returnedDiffLeadsToOrder() async throws {
        try await withShelf(["a", "b", "c", "d", "e"]) { (catalog: PostgresCatalog) async throws in
            let request = OrderEditRequest(
                store: Self.shop,
                shelf: Self.shelf,
                edit: .moves([OrderMove(["e"], .position(1)), OrderMove(["c"], .position(4))]),
                wantsIndexes: true
            )
            let response = try await catalog.manualOrder.editOrder(request, once: nil)
            #expect(
                String(decoding: response.json, as: UTF8.self).contains(
                    #""moves":[{"id":"e","from":4,"to":1,"after":"a"},{"id":"c","from":2,"to":4,"after":"d"}]"#
                )
            )
            #expect(try await order(catalog.storage) == ["a", "e", "b", "d", "c"])
        }
    }

    @Test("Fifty changes can be undone and redone")
    func undoesFiftyChanges()
        async throws
    {
        let (database, memory) = (try await TestDatabase.migrated(), InMemoryCatalog(collate: collator))
        let real = PostgresCatalog(try Database(database.configuration), encodingEvents: \.json)
        for catalog in [real.storage, memory.storage] as [CatalogStorage] {
            try await fill(catalog, ["a", "b", "c", "d"])
            var seen = [try await order(catalog)]
            for id in ["d", "c", "b"] {
                _ = try await edit(catalog, .moves([OrderMove([id], .first)]))
                seen.append(try await order(catalog))
            }
            for expected in seen.dropLast().reversed() {
                _ = try await edit(catalog, .undo(change: nil))
                #expect(try await order(catalog) == expected)
            }
            // Undo the undos 6, 5 and 4.
            for (number, expected) in zip([6, 5, 4] as [Int64], seen.dropFirst()) {
                _ = try await edit(catalog, .undo(change: number))
                #expect(try await order(catalog) == expected)
            }
            // Redo the last of these.
            _ = try await edit(catalog, .undo(change: 9))
            #expect(try await order(catalog) == seen[2])
            _ = try await edit(catalog, .undo(change: nil))
            #expect(try await order(catalog) == seen[1])
            let start = try await order(catalog)
            for round in 0..<50 {
                _ = try await edit(catalog, .moves([OrderMove([round % 2 == 0 ? "a" : "b"], .first)]))
            }
            for _ in 0..<50 { _ = try await edit(catalog, .undo(change: nil)) }
            #expect(try await order(catalog) == start)
        }
        real.shutDown()
        try await database.drop()
    }

    @Test("One request may contain the same move twice")
    func repeatedMoveInOneRequest() async throws {
        try await withShelf(["a", "b", "c"]) { (catalog: PostgresCatalog) async throws in
            let first = OrderMove(["c"], .first)
            _ = try await edit(catalog.storage, .moves([first, OrderMove(["b"], .first), first]))
            #expect(try await order(catalog.storage) == ["c", "b", "a"])
            _ = try await edit(catalog.storage, .undo(change: nil))
            #expect(try await order(catalog.storage) == ["a", "b", "c"])
        }
    }

    @Test("Changes are undone one after another and redone")
    func undoesAndRedoes()
        async throws
    {
        try await withShelf(["a", "b", "c", "d"]) { (catalog: PostgresCatalog) async throws in
            var seen = [try await order(catalog.storage)]
            for wanted in [
                ManualOrderEdit.moves([OrderMove(["d"], .first)]), .snapshot(Sort(.name, .descending)!), .set(["b"]),
                .moves([OrderMove(["a", "b"], .last), OrderMove(["c"], .first)]),
            ] {
                _ = try await edit(catalog.storage, wanted)
                seen.append(try await order(catalog.storage))
            }
            // Unrelated products are added and removed in between.
            _ = try await catalog.products.put(Product(sku: SKU("x")!, name: "x"), in: Self.shop)
            _ = try await catalog.products.place(SKU("x")!, on: Self.shelf, in: Self.shop)
            try await catalog.products.unplace(SKU("x")!, from: Self.shelf, in: Self.shop)
            for expected in seen.dropLast().reversed() {
                _ = try await edit(catalog.storage, .undo(change: nil))
                #expect(try await order(catalog.storage) == expected)
            }
            await #expect(throws: CatalogError.self) { try await edit(catalog.storage, .undo(change: nil)) }
            let history = try await catalog.manualOrder.orderHistory(Self.shop, Self.shelf)
            #expect(history.map(\.kind) == [.undo, .undo, .undo, .undo, .move, .set, .snapshot, .move])
            #expect(history.prefix(4).map(\.undoes) == [1, 2, 3, 4])
            // Undoing an undo reapplies its change, latest first.
            await #expect(throws: CatalogError.self) {
                try await edit(catalog.storage, .undo(change: history[1].number))
            }
            _ = try await edit(catalog.storage, .undo(change: history[0].number))
            #expect(try await order(catalog.storage) == seen[1])
            _ = try await edit(catalog.storage, .undo(change: nil))
            #expect(try await order(catalog.storage) == seen[0])
        }
    }

    @Test("The history says where the first moved products came from and went to")
    func historyTellsPlaces() async throws {
        let ids = (0..<7).map { "p\($0)" }
        try await withShelf(ids) { (catalog: PostgresCatalog) async throws in
            func latest() async throws -> OrderChange {
                try await catalog.manualOrder.orderHistory(Self.shop, Self.shelf)[0]
            }
            typealias Move = OrderChange.Move
            _ = try await edit(catalog.storage, .moves([OrderMove(["p4"], .first)]))
            #expect(try await latest().moves == [Move(id: "p4", fromAfter: "p3", toAfter: nil)])
            _ = try await edit(catalog.storage, .moves([OrderMove(["p0"], .last), OrderMove(["p6"], .after("p4"))]))
            #expect(
                try await latest().moves == [
                    Move(id: "p0", fromAfter: "p4", toAfter: "p5"), Move(id: "p6", fromAfter: "p5", toAfter: "p4"),
                ]
            )
            _ = try await edit(catalog.storage, .undo(change: nil))
            _ = try await edit(catalog.storage, .undo(change: nil))
            let undo = try await latest()
            #expect(undo.kind == .undo)
            #expect(undo.moves == [Move(id: "p4", fromAfter: nil, toAfter: "p3")])
            _ = try await edit(catalog.storage, .set(ids.reversed()))
            #expect(try await latest().count > OrderChange.shownLimit)
            #expect(try await latest().moves.count == OrderChange.shownLimit)
            // A program without this column writes another change into the same row.
            try await catalog.database.writes.transaction(within: .edit) {
                try $0.execute(
                    """
                    UPDATE order_change SET change_number = change_number + 1
                    WHERE change_number = (SELECT max(change_number) FROM order_change)
                    """
                )
            }
            #expect(try await latest().moves == [])
        }
    }

    /// With concurrent writers, compaction and lost connections, each move is atomic.
    @Test("Moves survive concurrent compaction and lost connections")
    func movesSurviveCompactionAndLostConnections()
        async throws
    {
        let ids = (0..<30).map { "p\($0)" }
        try await withShelf(ids) { (catalog: PostgresCatalog) async throws in
            let start = try await catalog.shelves.shelf(Self.shop, Self.shelf).state.orderVersion
            let made = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        var made = 0
                        for round in 0..<60 {
                            let pair = ["p\(2 + writer * 7 + round % 7)", "p\(2 + writer * 7 + (round + 1) % 7)"]
                            let target: OrderMove.Target = round % 2 == 0 ? .after("p0") : .before("p1")
                            do {
                                let response = try await edit(catalog.storage, .moves([OrderMove(pair, target)]))
                                if !response.contains(#""moves":[]"#) { made += 1 }
                            } catch CatalogError.unavailable {
                                continue
                            }
                        }
                        return made
                    }
                }
                group.addTask {
                    for _ in 0..<20 { _ = try? await ManualOrderCompaction(catalog).run() }
                    return 0
                }
                group.addTask {
                    let other = try await PostgresConnection.connect(catalog.database.writes.configuration)
                    for _ in 0..<6 {
                        _ = try await other.perform {
                            try $0.execute(
                                """
                                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
                                """
                            )
                        }
                    }
                    await other.close()
                    return 0
                }
                return try await group.reduce(0, +)
            }
            let keys = try await keys(catalog)
            #expect(keys.map(\.0).sorted() == ids.sorted())
            #expect(Set(keys.map(\.1)).count == ids.count)
            // A commit whose response was lost still counts.
            let version = try await catalog.shelves.shelf(Self.shop, Self.shelf).state.orderVersion
            #expect(version >= start + Int64(made))
        }
    }

    @Test("A stale version moves nothing")
    func staleVersionMovesNothing() async throws {
        try await withShelf(["a", "b", "c"]) { (catalog: PostgresCatalog) async throws in
            let version = try await catalog.shelves.shelf(Self.shop, Self.shelf).state.orderVersion
            _ = try await edit(catalog.storage, .moves([OrderMove(["c"], .first)]), expected: version)
            let moved = try await catalog.shelves.shelf(Self.shop, Self.shelf).state.orderVersion
            #expect(moved > version)
            await #expect(throws: CatalogError.stale(current: moved)) {
                try await edit(catalog.storage, .moves([OrderMove(["b"], .first)]), expected: version)
            }
            #expect(try await order(catalog.storage) == ["c", "a", "b"])
        }
    }

    @Test("A repeated call moves once")
    func repeatedCallMovesOnce() async throws {
        try await withShelf(["a", "b", "c", "d"]) { (catalog: PostgresCatalog) async throws in
            let call = IdempotentCall<ManualOrderOutcome>(key: "k", fingerprint: [1])
            let wanted = ManualOrderEdit.moves([OrderMove(["a"], .position(2))])
            let first = try await edit(catalog.storage, wanted, once: call)
            // A repeated move by position would move the product again.
            _ = try await edit(catalog.storage, .moves([OrderMove(["d"], .first)]))
            #expect(try await edit(catalog.storage, wanted, once: call) == first)
            #expect(try await order(catalog.storage) == ["d", "b", "c", "a"])
            await #expect(throws: CatalogError.keyReused) {
                try await edit(catalog.storage, wanted, once: IdempotentCall(key: "k", fingerprint: [2]))
            }
            // A no-op is recorded too.
            let quiet = IdempotentCall<ManualOrderOutcome>(key: "quiet", fingerprint: [3])
            let nothing = try await edit(catalog.storage, .moves([OrderMove(["d"], .first)]), once: quiet)
            _ = try await edit(catalog.storage, .moves([OrderMove(["d"], .last)]))
            #expect(try await edit(catalog.storage, .moves([OrderMove(["d"], .first)]), once: quiet) == nothing)
            #expect(try await order(catalog.storage).last == "d")
            // Keys expire after a day.
            try await catalog.database.writes.perform {
                try $0.execute(
                    "UPDATE idempotency_record SET created_at = now() - interval '25 hours' WHERE key = 'quiet'"
                )
            }
            _ = try await edit(catalog.storage, .moves([OrderMove(["d"], .first)]), once: quiet)
            #expect(try await order(catalog.storage).first == "d")
            try await catalog.database.writes.perform {
                try $0.execute("UPDATE idempotency_record SET created_at = now() - interval '25 hours'")
            }
            #expect(try await catalog.sweepResponses() == 2)
        }
    }

    @Test("Compaction shortens keys and changes no order")
    func compactionKeepsOrder() async throws {
        try await withShelf((0..<40).map { "p\($0)" }) { (catalog: PostgresCatalog) async throws in
            // Alternating inserts from both sides of one gap: the worst case.
            var list = try await order(catalog.storage)
            for round in 0..<700 {
                let place = list.count / 2
                let moved = round % 2 == 0 ? list[0] : list[list.count - 1]
                let anchor = list[place - (round % 4 < 2 ? 0 : 1)]
                guard moved != anchor else { continue }
                _ = try await edit(catalog.storage, .moves([OrderMove([moved], .after(anchor))]))
                list.removeAll { $0 == moved }
                list.insert(moved, at: list.firstIndex(of: anchor)! + 1)
            }
            let before = try await keys(catalog)
            #expect(before.map(\.0) == list)
            let longest = before.map(\.1.length).max()!
            let state = try await catalog.shelves.shelf(Self.shop, Self.shelf).state
            // Paging continues at the same position during compaction.
            var request = PageRequest(store: Self.shop, shelf: Self.shelf, sort: .position, limit: 20)
            let first = try await catalog.pages.page(request)
            let written = try await ManualOrderCompaction(catalog).run()
            request.after = first.next
            let second = try await catalog.pages.page(request)
            #expect((first.products + second.products).map(\.sku.text) == before.map(\.0))
            let after = try await keys(catalog)
            #expect(after.map(\.0) == before.map(\.0))
            #expect(longest > 64)
            #expect(written > 0)
            #expect(after.allSatisfy { $0.1.length <= 64 })
            // Shelves in memory follow the keys by the version.
            let compacted = try await catalog.shelves.shelf(Self.shop, Self.shelf).state
            #expect(compacted.version > state.version)
            #expect(compacted.orderVersion == state.orderVersion)
            _ = try await edit(catalog.storage, .undo(change: nil))
        }
    }

    @Test("A move between two keys without room is refused until the order is compacted")
    func noRoom() async throws {
        try await withShelf(["a", "b", "c"]) { (catalog: PostgresCatalog) async throws in
            // Every key between these is longer.
            let start = [Int64](repeating: 0, count: PathKey.maximumLength - 1)
            try await catalog.database.writes.perform { connection in
                for (sku, last) in [("b", 1), ("a", 0)] as [(String, Int64)] {
                    try connection.execute(
                        "UPDATE placement_position SET key = $1 WHERE sku = $2",
                        [.bytea(PathKey(start + [last]).bytes), .text(sku)]
                    )
                }
            }
            let move = ManualOrderEdit.moves([OrderMove(["c"], .after("a"))])
            let error = await #expect(throws: CatalogError.self) { _ = try await edit(catalog.storage, move) }
            guard case .conflict(let detail)? = error else {
                Issue.record("\(error as Any)")
                return
            }
            #expect(detail.hasPrefix("too many moves to the same place"))
            #expect(try await order(catalog.storage) == ["a", "b", "c"])
            #expect(try await ManualOrderCompaction(catalog).run() > 0)
            _ = try await edit(catalog.storage, move)
            #expect(try await order(catalog.storage) == ["a", "c", "b"])
        }
    }

    @Test("Shelves are moved within their store")
    func movesShelvesOfStore() async throws {
        for catalog in [InMemoryCatalog(collate: collator).storage] as [CatalogStorage] {
            try await checkShelves(catalog)
        }
        try await withCatalog { (catalog: PostgresCatalog) async throws in try await checkShelves(catalog.storage) }
    }

    private func checkShelves(_ catalog: CatalogStorage) async throws {
        _ = try await catalog.shelves.put(Store(key: Self.shop, title: "Shop", currency: Currency("EUR")!))
        for key in ["a", "b", "c", "d"] {
            _ = try await catalog.shelves.put(Shelf(key: CatalogKey(key)!, title: key), in: Self.shop)
        }
        func order() async throws -> [String] {
            try await catalog.shelves.shelves(ShelvesRequest(store: Self.shop)).shelves.map(\.shelf.key.text)
        }
        func move(_ moves: [OrderMove], expected: Int64? = nil) async throws -> ManualOrderOutcome {
            try await catalog.shelves.moveShelves(
                moves,
                in: Self.shop,
                expected: expected.map { [$0] },
                once: nil
            )
        }
        let first = try await move([OrderMove(["d"], .first)])
        #expect(first.orderVersion > first.fromVersion)
        try await catalog.shelves.remove(shelf: CatalogKey("b")!, from: Self.shop)
        let second = try await move([OrderMove(["c"], .before("a"))])
        #expect(second.orderVersion > first.orderVersion)
        #expect(try await order() == ["d", "c", "a"])
        let unchanged = try await move([OrderMove(["c"], .after("d"))])
        #expect(unchanged.moved.isEmpty)
        #expect(unchanged.orderVersion == second.orderVersion)
        await #expect(throws: CatalogError.stale(current: second.orderVersion)) {
            try await move([OrderMove(["a"], .first)], expected: first.fromVersion)
        }
        await #expect(throws: CatalogError.self) { try await move([OrderMove(["b"], .first)]) }
    }
}
