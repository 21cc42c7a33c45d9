import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The statements of purchases: the states of cells, strays, retention and erasures, each condition with a row of its own.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "rows are inserted as on one server"),
    .timeLimit(.minutes(15))
) struct PurchaseStatementTests {
    private typealias Probe = StatementProbe
    private static let ann: [UInt8] = [0xA1]

    /// One cell in each state, in an order that differs from that of the cells.
    private static let cells = """
        UPDATE purchase_cell SET state = CASE cell WHEN 1 THEN 'sealed' WHEN 2 THEN 'folded' WHEN 3 THEN 'open' WHEN 5 THEN 'open'
            ELSE 'empty' END;
        """

    /// SQL that adds a purchase to a cell.
    private static func inbox(
        _ sku: String,
        cell: Int,
        store: Int = 1,
        day: Int = 10,
        quantity: String = "1",
        customer: String = "a1"
    ) -> String {
        """
        INSERT INTO purchase_inbox (cell, store_id, day, quantity, customer, sku)
        VALUES (\(cell), \(store), date '1970-01-01' + \(day), \(quantity), '\\x\(customer)', '\(sku)');

        """
    }

    /// SQL that adds a purchase of a product that did not exist.
    private static func stray(_ sku: String, _ event: Int, store: Int = 1, day: Int = 10, customer: String = "a1")
        -> String
    {
        """
        INSERT INTO purchase_stray (store_id, event_id, sku, day, customer, quantity)
        VALUES (\(store), '0000000\(event)-0000-4000-8000-000000000000', '\(sku)', date '1970-01-01' + \(day), '\\x\(customer)', 2);

        """
    }

    /// SQL that adds the purchases of a customer on a day.
    private static func bought(_ sku: String, day: Int, _ quantity: Int, store: Int = 1, customer: String = "a1")
        -> String
    {
        """
        INSERT INTO purchase_by_customer (store_id, day, quantity, customer, sku, is_counted)
        VALUES (\(store), date '1970-01-01' + \(day), \(quantity), '\\x\(customer)', '\(sku)', true);

        """
    }

    private static func isAny(_ statement: PostgresStatement, _ parameters: [PostgresValue] = [], _ probe: Probe)
        async throws -> Bool
    {
        try await probe.catalog.database.writes.perform { try $0.query(statement, parameters) { $0.count > 0 } }
    }

    private static func number(_ statement: PostgresStatement, _ parameters: [PostgresValue] = [], _ probe: Probe)
        async throws -> Int?
    {
        try await probe.catalog.database.writes.perform {
            try $0.query(statement, parameters) { try $0.first { try $0.int(0) } }
        }
    }

    // MARK: - Cells

    @Test("Purchases in open and sealed cells are pending, and those in folded and empty cells are not")
    func cellStates() async throws {
        try await Probe.run { probe in
            let skus = ["sealed", "folded", "open", "empty", "late-open"]
            let shelves = skus + ["stray", "unknown-stray", "due", "nothing"]
            let products = shelves.filter { $0 != "unknown-stray" }
            // Each product is on the shelf of its name.
            let placements = """
                INSERT INTO placement (store_id, shelf_id, sku, popularity_log2)
                SELECT h.store_id, h.shelf_id, h.key, 0 FROM shelf h JOIN product r ON r.store_id = h.store_id AND r.sku = h.key;
                """
            let due = """
                INSERT INTO due_products (store_id, first_sku, mark, last_sku, size, is_counted, skus)
                VALUES (1, 'due', 1, 'due', 1, false, '{due}'), (2, 'nothing', 1, 'nothing', 1, false, '{nothing}');
                """
            let scripts = [
                Self.cells, Probe.products(products), Probe.products(["nothing"], in: 2), Probe.shelves(shelves),
                placements,
                Self.inbox("sealed", cell: 1), Self.inbox("folded", cell: 2), Self.inbox("open", cell: 3),
                Self.inbox("empty", cell: 4), Self.inbox("late-open", cell: 5),
                Self.inbox("nothing", cell: 3, store: 2),
                Self.stray("stray", 1), Self.stray("unknown-stray", 2), Self.stray("nothing", 3, store: 2), due,
            ]
            try await probe.run(scripts.joined())
            // Open, sealed and late-open, and the stray whose product exists.
            #expect(try await Self.number(PurchaseStatements.pendingCount, [.int4(1)], probe) == 4)
            #expect(try await Self.number(PurchaseStatements.sealedCount, [], probe) == 1)
            let found = try await probe.numbers(ResortStatements.boughtShelves, [.int4(1)])
            #expect(Set(found.map { shelves[Int($0) - 1] }) == ["sealed", "open", "late-open", "stray", "due"])
            #expect(found.count == 5)
            let first = try await probe.catalog.database.writes.perform {
                try $0.query(PurchaseStatements.firstOpenCell) { try $0.first { try $0.int2(0) } }
            }
            #expect(first == 3)
            #expect(try await Self.isAny(PurchaseStatements.hasOpenEvents, [], probe))
            try await probe.run("DELETE FROM purchase_inbox WHERE cell IN (3, 5)")
            #expect(try await !Self.isAny(PurchaseStatements.hasOpenEvents, [], probe))
        }
    }

    @Test("A seal swaps the halves, and folded and emptied cells are marked alone")
    func marks() async throws {
        try await Probe.run { probe in
            func states() async throws -> String {
                try await probe.rows("SELECT left(state, 1) FROM purchase_cell ORDER BY cell").joined()
            }
            #expect(try await states() == "ooooeeee")
            try await probe.execute(PurchaseStatements.seal)
            #expect(try await states() == "ssssoooo")
            #expect(try await probe.execute(PurchaseStatements.markFolded, [.int8Array([1, 3])]) == 2)
            #expect(try await states() == "sfsfoooo")
            #expect(try await probe.execute(PurchaseStatements.markEmpty, [.int8Array([3])]) == 1)
            #expect(try await states() == "sfseoooo")
        }
    }

    @Test("Reports go to the open half, whichever it is, and strays follow them when their products exist")
    func openHalf() async throws {
        try await Probe.run { probe in
            let catalog = probe.catalog
            let skus = (0..<40).map { SKU("p\($0)")! }
            try await probe.run(Probe.products(skus.map(\.text)))
            func report(_ sku: SKU, _ event: String) async throws {
                let purchase = Purchase(eventID: event, sku: sku, quantity: 1, at: .now())
                _ = try await catalog.purchases.add([purchase], to: Probe.shop)
            }
            func usedCells() async throws -> Set<String> {
                Set(try await probe.rows("SELECT cell::text FROM purchase_inbox"))
            }
            for sku in skus { try await report(sku, "1 \(sku)") }
            #expect(try await usedCells() == ["0", "1", "2", "3"])
            try await probe.run("DELETE FROM purchase_inbox")
            try await probe.execute(PurchaseStatements.seal)
            for sku in skus { try await report(sku, "2 \(sku)") }
            #expect(try await usedCells() == ["4", "5", "6", "7"])
            let stray = SKU("p0-later")!
            try await report(stray, "3")
            try await probe.run(Probe.products([stray.text]))
            #expect(try await PurchaseFold(catalog).run().total == skus.count + 1)
        }
    }

    @Test("A fold counts the purchases of its cells only, and queues their products")
    func foldedCells() async throws {
        try await Probe.run { probe in
            let scripts = [
                Self.inbox("a", cell: 1), Self.inbox("a", cell: 1), Self.inbox("b", cell: 3), Self.inbox("c", cell: 2),
                Self.inbox("d", cell: 3, store: 2),
            ]
            try await probe.run(scripts.joined())
            let events = try await probe.catalog.database.writes.perform {
                try $0.query(PurchaseStatements.fold, [.int8Array([1, 3])]) { rows in
                    Dictionary(uniqueKeysWithValues: try rows.map { (try $0.int4(0), try $0.int(1)) })
                }
            }
            #expect(events == [1: 3, 2: 1])
            let counts =
                "SELECT concat_ws(' ', store_id, sku, day - date '1970-01-01', count) FROM purchase_count ORDER BY 1"
            #expect(try await probe.rows(counts) == ["1 a 10 1", "1 b 10 1", "2 d 10 1"])
            let due = "SELECT concat_ws(' ', store_id, skus::text, is_counted) FROM due_products ORDER BY 1"
            #expect(try await probe.rows(due) == ["1 {a,b} f", "2 {d} f"])
            let customers =
                "SELECT concat_ws(' ', store_id, sku, quantity, is_counted) FROM purchase_by_customer ORDER BY 1"
            #expect(try await probe.rows(customers) == ["1 a 2 t", "1 b 1 t", "2 d 1 t"])
        }
    }

    @Test("Purchases that are folded while due products are counted are due afterwards")
    func foldsDuringCountsOfDueProducts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await PopularityTests.fill(catalog)
            let store = try await catalog.shelves.store(PopularityTests.shop)
            #expect(store.popularityMetric == .decay)
            let book = PurchaseBook(catalog)
            func count() async throws -> Int { try await book.count(PopularityTests.shop, day: PopularityTests.today) }
            _ = try await count()
            func buy(_ sku: SKU, _ event: String) async throws {
                let purchase = Purchase(eventID: event, sku: sku, quantity: 1, at: .now())
                _ = try await catalog.purchases.add([purchase], to: PopularityTests.shop)
                #expect(try await PurchaseFold(catalog).run().total == 1)
            }
            func uncounted() async throws -> [String] {
                try await catalog.database.writes.perform {
                    try $0.query("SELECT first_sku FROM due_products WHERE NOT is_counted ORDER BY first_sku") {
                        try $0.map { try $0.text(0) }
                    }
                }
            }
            try await buy(PopularityTests.skus[1], "before")
            let holder = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await holder.perform {
                try $0.run(script: "\(Probe.begin); SELECT FROM product WHERE store_id = 1 AND sku = 'p1' FOR UPDATE")
            }
            let counting = Task { try await count() }
            try await catalog.untilLockIsAwaited()
            try await buy(PopularityTests.skus[5], "meanwhile")
            try await holder.perform { try $0.run(script: "ROLLBACK") }
            await holder.close()
            #expect(try await counting.value == 1)
            #expect(try await uncounted() == ["p5"])
            #expect(try await count() == 1)
            #expect(try await uncounted().isEmpty)
        }
    }

    @Test("Purchases that are folded while a sliding window is counted are due afterwards")
    func foldsDuringCounts() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await PopularityTests.fill(catalog)
            var store = try await catalog.shelves.store(PopularityTests.shop)
            store.popularityMetric = .last30Days
            _ = try await catalog.shelves.put(store)
            let book = PurchaseBook(catalog)
            _ = try await book.count(PopularityTests.shop, day: PopularityTests.today)
            func buy(_ sku: SKU, _ event: String) async throws {
                let purchase = Purchase(eventID: event, sku: sku, quantity: 1, at: .now())
                _ = try await catalog.purchases.add([purchase], to: PopularityTests.shop)
                #expect(try await PurchaseFold(catalog).run().total == 1)
            }
            func due() async throws -> [String] {
                try await catalog.database.writes.perform {
                    try $0.query(
                        "SELECT first_sku || ' ' || is_counted FROM due_products ORDER BY is_counted, first_sku"
                    ) {
                        try $0.map { try $0.text(0) }
                    }
                }
            }
            try await buy(PopularityTests.skus[1], "before")
            let holder = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await holder.perform {
                try $0.run(script: "\(Probe.begin); SELECT FROM product WHERE store_id = 1 AND sku = 'p3' FOR UPDATE")
            }
            let count = Task { try await book.count(PopularityTests.shop, day: PopularityTests.today) }
            try await catalog.untilLockIsAwaited()
            try await buy(PopularityTests.skus[5], "meanwhile")
            try await holder.perform { try $0.run(script: "ROLLBACK") }
            await holder.close()
            // The count sees both purchases, but only what was folded before it is done.
            #expect(try await count.value == 2)
            #expect(try await due() == ["p5 false", "p1 true", "p1 true"])
            // The products of the next count, which changes no score, are counted as well.
            #expect(try await book.count(PopularityTests.shop, day: PopularityTests.today) == 0)
            #expect(try await due().allSatisfy { $0.hasSuffix(" true") })
        }
    }

    @Test("Only rows with the same first product, time and size are marked and deleted")
    func givenRows() async throws {
        try await Probe.run { probe in
            func insert(_ mark: Int, _ skus: [String], isCounted: Bool, store: Int = 1) -> String {
                """
                INSERT INTO due_products (store_id, first_sku, mark, last_sku, size, is_counted, skus)
                VALUES (\(store), '\(skus[0])', \(mark), '\(skus.last!)', \(skus.count), \(isCounted), '{\(skus.joined(separator: ","))}');

                """
            }
            let given: [PostgresValue] = [.int4(1), .textArray(["a"]), .int8Array([5]), .int8Array([2])]
            for isCounted in [false, true] {
                let scripts = [
                    insert(5, ["a", "b"], isCounted: isCounted), insert(6, ["a", "b"], isCounted: isCounted),
                    insert(5, ["b", "c"], isCounted: isCounted), insert(5, ["a", "b"], isCounted: isCounted, store: 2),
                ]
                try await probe.run("DELETE FROM due_products;" + scripts.joined())
                let marked = try await probe.execute(DueProductStatements.markCounted, given)
                #expect(marked == (isCounted ? 0 : 1))
                let deleted = try await probe.execute(DueProductStatements.delete, given + [.bool(true)])
                #expect(deleted == 1)
                let left = try await probe.rows(
                    "SELECT concat_ws(' ', store_id, first_sku, mark) FROM due_products ORDER BY 1"
                )
                #expect(left == ["1 a 6", "1 b 5", "2 a 5"])
                let larger = [insert(5, ["a", "b", "c"], isCounted: isCounted)]
                try await probe.run(larger.joined())
                for isDeleted in [false, true] {
                    #expect(try await probe.execute(DueProductStatements.delete, given + [.bool(isDeleted)]) == 0)
                }
                #expect(try await probe.execute(DueProductStatements.markCounted, given) == 0)
            }
        }
    }

    // MARK: - Queue

    /// SQL that adds a row to the queue of products.
    private static func due(_ mark: Int, _ skus: [String], isCounted: Bool = false, store: Int = 1) -> String {
        """
        INSERT INTO due_products (store_id, first_sku, mark, last_sku, size, is_counted, skus)
        VALUES (\(store), '\(skus[0])', \(mark), '\(skus.last!)', \(skus.count), \(isCounted), '{\(skus.joined(separator: ","))}');

        """
    }

    @Test("Products are queued if they have purchases in their store, and others only when their scores are computed")
    func queuedProducts() async throws {
        try await Probe.run { probe in
            try await probe.run(
                """
                INSERT INTO purchase_count (store_id, sku, day, count)
                VALUES (1, 'bought', '2024-01-01', 1), (1, 'unlisted', '2024-01-01', 1), (2, 'elsewhere', '2024-01-01', 1)
                """
            )
            let given: [PostgresValue] = [.int4(1), .textArray(["never", "elsewhere", "bought"])]
            let queue = "SELECT concat_ws(' ', store_id, skus::text, size, last_sku, is_counted) FROM due_products"
            try await probe.execute(DueProductStatements.queueBought, given)
            #expect(try await probe.rows(queue) == ["1 {bought} 1 bought f"])
            try await probe.run("DELETE FROM due_products")
            try await probe.execute(DueProductStatements.queueCounted, given)
            #expect(try await probe.rows(queue) == ["1 {bought,elsewhere,never} 3 never t"])
        }
    }

    @Test(
        "Uncounted products are read once each between two SKUs, and a store is merged after many transactions of one kind"
    )
    func readQueue() async throws {
        try await Probe.run { probe in
            let scripts = [
                Self.due(1, ["a", "b", "c"]), Self.due(2, ["c", "d"]), Self.due(3, ["bb", "e"], isCounted: true),
                Self.due(1, ["ba", "bc"], store: 2), Self.due(1, ["x"]), Self.due(1, ["y"], store: 2),
            ]
            try await probe.run(scripts.joined())
            func products(_ from: String, _ to: String, _ limit: Int64) async throws -> [String] {
                let bounds: [PostgresValue] = [.int4(1), .text(from), .text(to), .int8(limit)]
                return try await probe.texts(DueProductStatements.uncountedProducts, bounds)
            }
            #expect(try await products("", "z", 9) == ["a", "b", "c", "d", "x"])
            #expect(try await products("a", "c", 9) == ["b", "c"])
            #expect(try await products("a", "c", 1) == ["b"])
            #expect(try await products("c", "w", 9) == ["d"])
            func merged(_ limit: Int64) async throws -> [String] {
                try await probe.catalog.database.writes.perform {
                    try $0.query(DueProductStatements.storesToMerge, [.int8(limit)]) {
                        try $0.map { row in "\(try row.int4(0)) \(try row.bool(1))" }
                    }
                }
            }
            // The first store has rows of two transactions that are not counted; the rows of each other kind are of one.
            #expect(try await merged(0) == ["1 false", "1 true", "2 false"])
            #expect(try await merged(1) == ["1 false"])
            #expect(try await merged(2) == [])
        }
    }

    // MARK: - Strays

    @Test("Strays are taken in the order of their events, up to a limit, if their product exists in their store")
    func takenStrays() async throws {
        try await Probe.run { probe in
            let scripts = [
                Probe.products(["a", "b"]), Probe.products(["c"], in: 2), Self.stray("a", 5), Self.stray("b", 4),
                Self.stray("a", 3), Self.stray("b", 2), Self.stray("c", 1), Self.stray("a", 1, store: 2),
                Self.stray("a", 2, store: 2),
            ]
            try await probe.run(scripts.joined())
            #expect(try await probe.numbers(PurchaseStatements.storesWithStrays) == [1])
            func take(_ limit: Int64) async throws -> [String] {
                try await probe.texts(PurchaseStatements.takeStrays, [.int4(1), .int8(limit)]).sorted()
            }
            let events = "SELECT store_id || ' ' || left(event_id::text, 8)::integer FROM purchase_stray ORDER BY 1"
            #expect(try await take(2) == ["a", "b"])
            #expect(try await probe.rows(events) == ["1 1", "1 4", "1 5", "2 1", "2 2"])
            #expect(try await take(9) == ["a", "b"])
            #expect(try await probe.rows(events) == ["1 1", "2 1", "2 2"])
            #expect(try await probe.numbers(PurchaseStatements.storesWithStrays) == [])
        }
    }

    // MARK: - Retention

    @Test(
        "Before purchases are anonymized, later ones lose what earlier ones have cancelled, and no other purchase changes"
    )
    func settledPurchases() async throws {
        // Purchases by day; the first kept day is 10.
        let cases: [(sku: String, days: [Int: Int], settled: [Int: Int])] = [
            ("refunded-later", [5: 1, 15: -1], [5: 1, 15: 0]),
            ("refunded-on-first-day", [5: 1, 10: -1], [5: 1, 10: 0]),
            ("partly-refunded", [5: 3, 15: -1], [5: 3, 15: 0]), ("refund-of-more", [5: 1, 15: -3], [5: 1, 15: -2]),
            ("owed-from-before", [5: -1, 15: 2], [5: -1, 15: 1]), ("more-owed", [5: -3, 15: 2], [5: -3, 15: 0]),
            ("only-later", [12: 1, 15: -1], [12: 1, 15: -1]), ("from-first-day", [10: 1, 15: -1], [10: 1, 15: -1]),
            ("only-earlier", [5: 1, 9: -1], [5: 1, 9: -1]), ("without-refunds", [5: 1, 15: 2], [5: 1, 15: 2]),
        ]
        try await Probe.run { probe in
            let scripts = cases.flatMap { purchases in
                purchases.days.map { Self.bought(purchases.sku, day: $0, $1) }
            }
            let others = [
                // Refunds of another customer, and in another store.
                Self.bought("without-refunds", day: 15, -1, customer: "b2"),
                Self.bought("refunded-later", day: 5, 1, store: 2),
                Self.bought("refunded-later", day: 15, -1, store: 2),
            ]
            try await probe.run(scripts.joined() + others.joined())
            let otherRows =
                "SELECT b::text FROM purchase_by_customer b WHERE store_id = 2 OR customer <> '\\xa1' ORDER BY 1"
            let before = try await probe.rows(otherRows)
            func expect(_ expected: [String: [Int: Int]]) async throws {
                let found = try await probe.rows(
                    """
                    SELECT concat_ws(' ', sku, day - date '1970-01-01', quantity) FROM purchase_by_customer
                    WHERE store_id = 1 AND customer = '\\xa1'
                    """
                )
                let rows = expected.flatMap { sku, days in days.map { "\(sku) \($0) \($1)" } }
                #expect(found.sorted() == rows.sorted())
                #expect(try await probe.rows(otherRows) == before)
            }
            let day: [PostgresValue] = [.int4(1), .date(10)]
            let settled = Dictionary(uniqueKeysWithValues: cases.map { ($0.sku, $0.settled) })
            let changed = cases.count { $0.days != $0.settled }
            #expect(try await probe.execute(PurchaseStatements.settleBefore, day) == changed)
            try await expect(settled)
            let earlier = settled.values.reduce(0) { $0 + $1.keys.count { $0 < 10 } }
            #expect(try await probe.execute(PurchaseStatements.anonymizeBefore, day) == earlier)
            try await expect(settled.mapValues { $0.filter { $0.key >= 10 } })
        }
    }

    // MARK: - Erasures

    @Test("A request ends when nothing of the customer is pending, unless it was repeated meanwhile")
    func endedErasures() async throws {
        try await Probe.run { probe in
            // Customers and their pending purchases; the request of the second one was repeated.
            let requests = (1...7).map { number in
                "INSERT INTO purchase_erasure (customer, mark) VALUES ('\\x0\(number)', \(number == 2 ? 2 : 1));"
            }
            let scripts = [
                Self.cells, Self.inbox("a", cell: 3, customer: "03"), Self.inbox("a", cell: 1, customer: "04"),
                Self.stray("a", 1, customer: "05"), Self.inbox("a", cell: 2, customer: "06"),
            ]
            try await probe.run(scripts.joined() + requests.joined())
            // The seventh is not among those that were read.
            let customers = PostgresValue.byteaArray((1...6).map { [UInt8($0)] })
            let marks = PostgresValue.int8Array([1, 1, 1, 1, 1, 1])
            #expect(try await probe.execute(PurchaseStatements.endErasures, [customers, marks]) == 2)
            let left = "SELECT encode(customer, 'hex') FROM purchase_erasure ORDER BY customer"
            #expect(try await probe.rows(left) == ["02", "03", "04", "05", "07"])
        }
    }

    @Test("Requests are read in the order of customers, a thousand at a time, and repeated ones get a new mark")
    func requestedErasures() async throws {
        try await Probe.run { probe in
            try await probe.run(
                "INSERT INTO purchase_erasure (customer, mark) SELECT int4send(n), 1 FROM generate_series(1005, 1, -1) n"
            )
            func customers(after last: [UInt8]) async throws -> [[UInt8]] {
                try await probe.catalog.database.writes.perform {
                    try $0.query(PurchaseStatements.requestedErasures, [.bytea(last)]) {
                        try $0.map { try $0.bytea(0) }
                    }
                }
            }
            func bytes(_ number: Int) -> [UInt8] { [0, 0, UInt8(number / 256), UInt8(number % 256)] }
            #expect(try await customers(after: []) == (1...1000).map(bytes))
            #expect(try await customers(after: bytes(1000)) == (1001...1005).map(bytes))
            for _ in 0..<2 { try await probe.execute(PurchaseStatements.requestErasure, [.bytea(bytes(7))]) }
            try await probe.execute(PurchaseStatements.requestErasure, [.bytea([1])])
            let marks =
                "SELECT encode(customer, 'hex') || ' ' || mark FROM purchase_erasure WHERE mark > 1 OR length(customer) = 1"
            #expect(try await probe.rows(marks).sorted() == ["00000007 3", "01 1"])
        }
    }

    @Test("The folded purchases and strays of the given customers are anonymized in all stores, and no others")
    func anonymizedRows() async throws {
        try await Probe.run { probe in
            let scripts = [
                Self.bought("a", day: 1, 1), Self.bought("a", day: 1, 1, store: 2),
                Self.bought("a", day: 1, 1, customer: "b2"),
                Self.stray("a", 1), Self.stray("a", 1, store: 2), Self.stray("a", 2, customer: "b2"),
                Self.stray("a", 3, customer: ""),
            ]
            try await probe.run(scripts.joined())
            let customers = PostgresValue.byteaArray([Self.ann, []])
            #expect(try await probe.execute(PurchaseStatements.anonymizeCustomers, [customers]) == 2)
            #expect(try await probe.execute(PurchaseStatements.anonymizeStrays, [customers]) == 2)
            let left = try await probe.rows("SELECT store_id || encode(customer, 'hex') FROM purchase_by_customer")
            #expect(left == ["1b2"])
            let strays = try await probe.rows(
                "SELECT store_id || encode(customer, 'hex') FROM purchase_stray ORDER BY 1"
            )
            #expect(strays == ["1", "1", "1b2", "2"])
        }
    }

    @Test(
        "A customer's purchases of a day are summed over folded and pending ones, in the order of stores, days and products"
    )
    func purchasesOfCustomer() async throws {
        try await Probe.run { probe in
            let scripts = [
                Self.cells, Self.bought("b", day: 10, 1), Self.bought("a", day: 11, 4), Self.bought("c", day: 10, 4),
                Self.inbox("b", cell: 1), Self.inbox("b", cell: 3, quantity: "0.5"),
                Self.inbox("b", cell: 2, quantity: "64"),
                Self.inbox("b", cell: 4, quantity: "64"), Self.stray("b", 1),
                Self.bought("b", day: 10, 64, customer: "b2"),
                Self.inbox("b", cell: 1, quantity: "64", customer: "b2"), Self.stray("b", 2, customer: "b2"),
                Self.bought("a", day: 10, 3, store: 2),
            ]
            try await probe.run(scripts.joined())
            let found = try await probe.catalog.database.writes.perform {
                try $0.query(PurchaseStatements.ofCustomer, [.bytea(Self.ann)]) {
                    try $0.map { row in
                        "\(try row.text(0)) \(try row.text(1)) \(try row.int4(2)) \(try row.text(3))"
                    }
                }
            }
            #expect(found == ["other a 10 3", "shop b 10 4.5", "shop c 10 4", "shop a 11 4"])
        }
    }
}
