import Catalog
@testable import CatalogPostgres
import Foundation
import LibPQ
import Ordering
import Testing
import TestSupport

/// Popularity in the database, compared with plain sums of purchases.
@Suite(.timeLimit(.minutes(15))) struct PopularityTests {
    static let shop = CatalogKey("shop")!
    static let shelf = CatalogKey("shelf")!
    static let today = Timestamp.now().day
    static let skus = (0..<7).map { SKU("p\($0)")! }

    /// Counts purchases by definition: 1 per customer and day on which a piece was bought that was not returned, 1 per anonymous
    /// event, −1 per refund. Each thousandth of a piece is on a stack, from which refunds take the last ones.
    static func days(_ events: [Purchase], _ sku: SKU) -> [Int: Double] {
        var seen: Set<String> = []
        var customers: [String: [Int: Int]] = [:]
        var counts: [Int: Double] = [:]
        for event in events where event.sku == sku && seen.insert(event.eventID).inserted {
            if let customer = event.customer {
                let thousandths = Int(event.quantity.significand(atScale: 3)!)
                customers[customer, default: [:]][event.at.day, default: 0] += thousandths
            } else {
                counts[event.at.day, default: 0] += event.quantity.isNegative ? -1 : 1
            }
        }
        for nets in customers.values {
            for day in Set(left(nets)) { counts[day, default: 0] += 1 }
        }
        return counts
    }

    /// Returns the days of the units that remain of a customer's net quantities by day.
    private static func left(_ nets: [Int: Int]) -> [Int] {
        let unit = nets.values.reduce(0) { gcd($0, abs($1)) }
        var (stack, owed) = ([Int](), 0)
        for (day, net) in nets.sorted(by: { $0.key < $1.key }) {
            for _ in 0..<abs(net) / max(1, unit) {
                switch (net > 0, owed > 0) {
                case (true, true): owed -= 1
                case (true, false): stack.append(day)
                case (false, _): if stack.popLast() == nil { owed += 1 }
                }
            }
        }
        return stack
    }

    private static func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }

    /// Returns Σ count × 2^(−age ÷ half-life), summed from the smallest.
    static func decayed(_ counts: [Int: Double], halfLife: Int, day: Int) -> Double {
        let terms = counts.map { $1 * pow(2, -Double(day - $0) / Double(halfLife)) }
        return terms.sorted { abs($0) < abs($1) }.reduce(0, +)
    }

    static func events(_ random: inout SeededGenerator, _ count: Int, spread: Int = 60) -> [Purchase] {
        let events = (0..<count).map { _ in
            let number = Int.random(in: 0..<count * 2, using: &random)
            var own = SeededGenerator(seed: UInt64(number) &* 7919)
            let age = Int64.random(in: 0..<Int64(spread) * 86_400, using: &own)
            let customer = Int.random(in: 0..<5, using: &own)
            return Purchase(
                // Not all ids are UUIDs.
                eventID: number % 3 == 0 ? "order 4711/\(number)" : uuid(number),
                sku: skus[Int.random(in: 0..<skus.count, using: &own)],
                quantity: ExactDecimal(
                    [100, 100, 200, 300, -100, -200, 25, -75].randomElement(using: &own)!,
                    scale: 2
                ),
                at: Timestamp(microseconds: Int64(today) * 86_400_000_000 + 40_000_000_000 - age * 1_000_000),
                customer: customer == 0 ? nil : "customer \(customer)"
            )
        }
        return events
    }

    static func uuid(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    static func fill(_ catalog: PostgresCatalog, halfLife: Int = 14, boost: Double = 0) async throws {
        _ = try await catalog.shelves.put(
            Store(
                key: shop,
                title: "Shop",
                currency: Currency("EUR")!,
                popularityHalfLifeDays: halfLife,
                newcomerBoost: boost
            )
        )
        _ = try await catalog.shelves.put(Shelf(key: shelf, title: "Shelf"), in: shop)
        for sku in skus {
            _ = try await catalog.products.put(Product(sku: sku, name: sku.text), in: shop)
            _ = try await catalog.products.place(sku, on: shelf, in: shop)
        }
    }

    static func scores(
        _ catalog: PostgresCatalog,
        _ skus: [SKU] = skus,
        on day: Int = today
    ) async throws -> [SKU: Double] {
        let store = try await catalog.shelves.store(shop)
        let products = try await catalog.products.products(shop, skus).products
        return Dictionary(
            uniqueKeysWithValues: products.map { ($0.sku, $0.popularity.score(day: day, count: store.lastCount)) }
        )
    }

    /// Folds all pending purchases and returns their number.
    static func fold(_ catalog: PostgresCatalog) async throws -> Int { try await PurchaseFold(catalog).run().total }

    static func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-6 * max(1, abs(b)) || max(a, b) < 1e-9 }

    @Test("Scores equal the decayed sum of purchases", arguments: [1, 14, 3650])
    func scoresMatchPurchases(halfLife: Int) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, halfLife: halfLife)
            var random = SeededGenerator(seed: UInt64(halfLife))
            let book = PurchaseBook(catalog)
            var purchases: [Purchase] = []
            for round in 0..<6 {
                let batch = Self.events(&random, 80, spread: 400)
                purchases += batch
                let outcome = try await catalog.purchases.add(batch, to: Self.shop)
                #expect(outcome.accepted + outcome.repeated == batch.count)
                #expect(outcome.unknown == 0)
                // Some rounds are scored, others only recorded or folded.
                if round % 3 > 0 { _ = try await Self.fold(catalog) }
                guard round % 2 == 1 else { continue }
                _ = try await Self.fold(catalog)
                _ = try await book.count(Self.shop, day: Self.today)
                let scores = try await Self.scores(catalog)
                for sku in Self.skus {
                    let expected = max(
                        0,
                        Self.decayed(Self.days(purchases, sku), halfLife: halfLife, day: Self.today)
                    )
                    #expect(
                        Self.isNear(scores[sku]!, expected),
                        "\(sku) in round \(round): \(scores[sku]!), \(expected)"
                    )
                }
            }
            #expect(try await Self.fold(catalog) == 0)
            #expect(try await book.count(Self.shop, day: Self.today) == 0)
        }
    }

    @Test("Sliding windows count whole days")
    func slidingWindowsCountDays() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, boost: 2)
            var random = SeededGenerator(seed: 5)
            let events = Self.events(&random, 300)
            _ = try await catalog.purchases.add(events, to: Self.shop)
            let book = PurchaseBook(catalog)
            _ = try await Self.fold(catalog)
            for metric in PopularityMetric.allCases {
                var store = try await catalog.shelves.store(Self.shop)
                store.popularityMetric = metric
                _ = try await catalog.shelves.put(store)
                for day in [Self.today, Self.today + 3, Self.today + 9] {
                    _ = try await book.count(Self.shop, day: day)
                    let scores = try await Self.scores(catalog, on: day)
                    for sku in Self.skus {
                        let purchases = Self.days(events, sku)
                        var counts = purchases
                        counts[Self.today, default: 0] += 2
                        func sum(_ range: Range<Int>) -> Double {
                            counts.filter { range.contains(day - $0.key) }.values.reduce(0, +)
                        }
                        let expected =
                            switch metric {
                            // The boost stays, even if more was returned than bought.
                            case .decay:
                                max(0, Self.decayed(purchases, halfLife: 14, day: day))
                                    + Self.decayed([Self.today: 2], halfLife: 14, day: day)
                            case .last7Days: sum(0..<7)
                            case .last30Days: sum(0..<30)
                            case .last90Days: sum(0..<90)
                            case .all: sum(0..<100_000)
                            case .trend: sum(0..<7) / max(1, sum(7..<14))
                            }
                        let what: Comment = "\(metric) of \(sku) on \(day - Self.today): \(scores[sku]!), \(expected)"
                        #expect(Self.isNear(scores[sku]!, max(0, expected)), what)
                    }
                }
            }
        }
    }

    @Test("Counting by a sliding window does not block writes of other products")
    func windowsBlockNoWrites() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            var store = try await catalog.shelves.store(Self.shop)
            store.popularityMetric = .last30Days
            _ = try await catalog.shelves.put(store)
            let book = PurchaseBook(catalog)
            _ = try await book.count(Self.shop, day: Self.today)
            let sku = Self.skus[0]
            _ = try await catalog.purchases.add(
                [Purchase(eventID: Self.uuid(1), sku: sku, quantity: 1, at: .now())],
                to: Self.shop
            )
            #expect(try await Self.fold(catalog) == 1)
            // The count waits for a product that another transaction holds.
            let holder = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await holder.perform {
                try $0.begin()
                try $0.run(script: "SELECT 1 FROM product WHERE store_id = 1 AND sku = 'p3' FOR UPDATE")
            }
            let count = Task { try await book.count(Self.shop, day: Self.today) }
            try await catalog.untilLockIsAwaited()
            _ = try await catalog.products.put(Product(sku: SKU("new")!, name: "New"), in: Self.shop)
            _ = try await catalog.products.place(Self.skus[6], on: Self.shelf, in: Self.shop)
            _ = try await catalog.products.put(Product(sku: Self.skus[6], name: "Renamed"), in: Self.shop)
            await holder.close()
            #expect(try await count.value == 1)
            #expect(Self.isNear(try await Self.scores(catalog)[sku]!, 1))
        }
    }

    @Test("A fold is postponed while another session locks the inbox, and reports go on")
    func foldsBlockNoReports() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            func report(_ number: Int) async throws {
                let purchase = Purchase(eventID: Self.uuid(number), sku: Self.skus[0], quantity: 1, at: .now())
                let outcome = try await catalog.purchases.add([purchase], to: Self.shop)
                #expect(outcome.accepted == 1)
            }
            try await report(1)
            // This is what Citus locks while it moves a shard.
            let mover = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await mover.perform {
                try $0.begin()
                try $0.run(script: "LOCK TABLE purchase_inbox IN ROW EXCLUSIVE MODE")
            }
            let fold = Task { try await PurchaseFold(catalog, sealAttempts: 2).run() }
            try await catalog.untilLockIsAwaited()
            try await report(2)
            let outcome = try await fold.value
            #expect(outcome.isPostponed && outcome.total == 0)
            await mover.close()
            #expect(try await Self.fold(catalog) == 2)
        }
    }

    @Test("Seeds, purchases and the newcomer boost add up")
    func seedsAndBoostsAddUp() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let file = "store,shelf,sku,name,popularity\nshop,shelf,a,A,8\nshop,shelf,b,B,\n"
            _ = try await Importer(catalog).importFile(
                ImporterTests.Chunks(text: file),
                ImportOptions(format: .csv, createsStores: true)
            )
            var store = try await catalog.shelves.store(Self.shop)
            store.newcomerBoost = 4
            _ = try await catalog.shelves.put(store)
            let purchase = Purchase(eventID: Self.uuid(1), sku: SKU("a")!, quantity: 1, at: .now())
            _ = try await catalog.purchases.add([purchase], to: Self.shop)
            let book = PurchaseBook(catalog)
            _ = try await Self.fold(catalog)
            // A changed rule recounts everything, including shelves.
            let version = try await catalog.shelves.shelf(Self.shop, Self.shelf).state.version
            _ = try await book.count(Self.shop, day: Self.today)
            #expect(try await catalog.shelves.shelf(Self.shop, Self.shelf).state.version > version)
            func score(_ sku: String) async throws -> Double {
                try await catalog.products.product(Self.shop, SKU(sku)!).product.popularity.score(
                    day: Self.today,
                    count: try await catalog.shelves.store(Self.shop).lastCount
                )
            }
            #expect(Self.isNear(try await score("a"), 13))
            #expect(Self.isNear(try await score("b"), 4))
            // A new seed replaces the first one; purchases and boost are kept.
            let second = file.replacingOccurrences(of: "A,8", with: "A,1")
            _ = try await Importer(catalog).importFile(
                ImporterTests.Chunks(text: second),
                ImportOptions(format: .csv, createsStores: true)
            )
            #expect(Self.isNear(try await score("a"), 6))
            // Products created from now on have the boost immediately.
            _ = try await catalog.products.put(Product(sku: SKU("c")!, name: "C"), in: Self.shop)
            #expect(Self.isNear(try await score("c"), 4))
        }
    }

    @Test("Late refunds and recreated products keep exact counts")
    func lateRefundsKeepExactCounts()
        async throws
    {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, halfLife: 1)
            let (sku, book) = (Self.skus[0], PurchaseBook(catalog))
            func event(_ number: Int, _ quantity: Int, daysAgo: Int, _ customer: String?) -> Purchase {
                let at = Int64(Self.today - daysAgo) * 86_400_000_000
                return Purchase(
                    eventID: Self.uuid(number),
                    sku: sku,
                    quantity: quantity,
                    at: Timestamp(microseconds: at),
                    customer: customer
                )
            }
            // An old purchase, and a refund today without effect: the score rounds to zero, but
            // it is still greater than zero.
            let events = [event(1, 1, daysAgo: 300, "a"), event(2, -1, daysAgo: 0, "b")]
            _ = try await catalog.purchases.add(events, to: Self.shop)
            _ = try await Self.fold(catalog)
            _ = try await book.count(Self.shop, day: Self.today)
            let popularity = try await catalog.products.product(Self.shop, sku).product.popularity
            #expect(Self.isNear(popularity.log2, Double(Self.today - 300 - Popularity.epochDay)))
            // A product that is deleted and recreated, by API or import, has its purchases again.
            for isImported in [false, true] {
                try await catalog.products.remove(product: sku, from: Self.shop)
                if isImported {
                    let file = "store,shelf,sku,name\nshop,shelf,\(sku),Again\n"
                    let options = ImportOptions(format: .csv, createsStores: true)
                    _ = try await Importer(catalog).importFile(ImporterTests.Chunks(text: file), options)
                } else {
                    _ = try await catalog.products.put(Product(sku: sku, name: "Again"), in: Self.shop)
                }
                #expect(try await catalog.products.product(Self.shop, sku).product.popularity == .none)
                _ = try await Resorter(catalog, day: Self.today).run(ResortRequest())
                #expect(try await catalog.products.product(Self.shop, sku).product.popularity == popularity)
            }
            let due = try await catalog.database.writes.perform {
                try $0.query("SELECT count(*) FROM due_products") { try $0.first { try $0.int(0) } }
            }
            #expect(due == 0)
        }
    }

    @Test("A refund cancels the customer's latest purchases before it, whatever the day", arguments: [false, true])
    func refundsCancelEarlierDays(isFoldedOften: Bool) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog, halfLife: 1)
            let (sku, book) = (Self.skus[0], PurchaseBook(catalog))
            var number = 0
            func report(_ quantity: String, daysAgo: Int, of customer: String? = "ann") async throws {
                number += 1
                let at = Timestamp(microseconds: Int64(Self.today - daysAgo) * 86_400_000_000)
                let purchase = Purchase(
                    eventID: "till 1, receipt \(number)",
                    sku: sku,
                    quantity: ExactDecimal(quantity)!,
                    at: at,
                    customer: customer
                )
                #expect(try await catalog.purchases.add([purchase], to: Self.shop).accepted == 1)
                if isFoldedOften { _ = try await Self.fold(catalog) }
            }
            func expectScore(_ expected: Double, _ what: Comment) async throws {
                _ = try await Self.fold(catalog)
                _ = try await book.count(Self.shop, day: Self.today)
                let score = try await Self.scores(catalog)[sku]!
                #expect(Self.isNear(score, expected), what)
            }
            try await report("1", daysAgo: 4)
            try await report("2.5", daysAgo: 2)
            try await report("-2.499", daysAgo: 1)
            try await expectScore(0.25 + 0.0625, "a thousandth of the second purchase is left")
            try await report("-0.001", daysAgo: 0)
            try await expectScore(0.0625, "the first purchase is left")
            try await report("-2", daysAgo: 0)
            try await expectScore(0, "nothing is left, and one is owed")
            try await report("1", daysAgo: 0)
            try await expectScore(0, "the refunds cancel the new purchase")
            try await report("1", daysAgo: 0)
            try await expectScore(
                0.0625,
                "the first purchase is left, because purchases and refunds of a day are netted"
            )
            // A purchase that is reported late was before the refunds.
            try await report("3", daysAgo: 3)
            try await expectScore(0.125 + 0.0625, "the refunds cancel the second purchase")
            try await report("1", daysAgo: 2, of: nil)
            try await report("-0.5", daysAgo: 2, of: nil)
            try await expectScore(0.125 + 0.0625, "without a customer, a refund counts -1")
        }
    }

    @Test("Refunds that cancelled anonymized purchases cancel no later ones")
    func retentionSettlesRefunds() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let (sku, book) = (Self.skus[0], PurchaseBook(catalog))
            func report(_ quantity: Int, daysAgo: Int, of customer: String) async throws {
                let at = Timestamp(microseconds: Int64(Self.today - daysAgo) * 86_400_000_000)
                let id = "\(customer) \(daysAgo) \(quantity)"
                let purchase = Purchase(eventID: id, sku: sku, quantity: quantity, at: at, customer: customer)
                _ = try await catalog.purchases.add([purchase], to: Self.shop)
            }
            try await report(1, daysAgo: 30, of: "ann")
            try await report(-1, daysAgo: 5, of: "ann")
            try await report(-1, daysAgo: 30, of: "bob")
            try await report(2, daysAgo: 5, of: "bob")
            _ = try await Self.fold(catalog)
            _ = try await book.applyRetention(Self.shop, olderThan: 10, day: Self.today)
            try await report(1, daysAgo: 0, of: "ann")
            try await report(-1, daysAgo: 0, of: "bob")
            _ = try await Self.fold(catalog)
            _ = try await book.count(Self.shop, day: Self.today)
            #expect(Self.isNear(try await Self.scores(catalog)[sku]!, 1))
        }
    }

    @Test("Folding store by store, as on Citus, gives the same counts and customers")
    func foldsByStoreAgree() async throws {
        var random = SeededGenerator(seed: 31)
        let batches = (0..<4).map { _ in Self.events(&random, 150, spread: 6) }
        func rows(_ fold: (PostgresCatalog) async throws -> Void) async throws -> String {
            var rows = ""
            try await withCatalog { (catalog: PostgresCatalog) async throws in
                try await Self.fill(catalog)
                for batch in batches {
                    _ = try await catalog.purchases.add(batch, to: Self.shop)
                    try await fold(catalog)
                }
                rows = try await catalog.database.writes.perform {
                    try $0.query(Self.countedRows) { try $0.first { try $0.text(0) } ?? "" }
                }
            }
            return rows
        }
        let together = try await rows { _ = try await Self.fold($0) }
        let byStore = try await rows { catalog in
            try await catalog.database.writes.perform { connection in
                for statement in PurchaseStatements.foldOfStore {
                    try connection.execute(statement, [.int4(1), .int8Array(Array(0..<8))])
                }
                try connection.run(script: "DELETE FROM purchase_inbox")
            }
        }
        #expect(together == byStore)
        #expect(together.count > 1000)
    }

    /// The counts and the days of customers, whose hashes have a key of each database.
    private static let countedRows: PostgresStatement = """
        SELECT (SELECT string_agg((sku, day, count)::text, ';' ORDER BY sku, day) FROM purchase_count WHERE count <> 0)
            || (SELECT string_agg((sku, day, trim_scale(quantity), is_counted)::text, ';' ORDER BY sku, day, quantity, is_counted)
                FROM purchase_by_customer)
        """

    @Test("Purchases of unknown products wait until the product exists")
    func purchasesWaitForProducts()
        async throws
    {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let sku = SKU("later")!
            let purchases = (0..<4).map { Purchase(eventID: Self.uuid($0), sku: sku, quantity: 1, at: .now()) }
            let outcome = try await catalog.purchases.add(purchases + purchases, to: Self.shop)
            #expect(outcome.unknown == 4)
            #expect(outcome.repeated == 4)
            #expect(outcome.unknownSKUs == ["later"])
            let book = PurchaseBook(catalog)
            #expect(try await Self.fold(catalog) == 0)
            _ = try await catalog.products.put(Product(sku: sku, name: "Later"), in: Self.shop)
            #expect(try await catalog.purchases.add(purchases, to: Self.shop).repeated == 4)
            #expect(try await Self.fold(catalog) == 4)
            _ = try await book.count(Self.shop, day: Self.today)
            #expect(Self.isNear(try await Self.scores(catalog, [sku])[sku]!, 4))
        }
    }

    @Test("Purchases that wait for a product count once, though folds seal the cells meanwhile")
    func strayPurchasesMeetSeals() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let skus = (0..<12).map { SKU("later\($0)")! }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, sku) in skus.enumerated() {
                    group.addTask {
                        let purchases = (0..<3).map {
                            Purchase(eventID: Self.uuid(3 * number + $0), sku: sku, quantity: 1, at: .now())
                        }
                        _ = try await catalog.purchases.add(purchases, to: Self.shop)
                        _ = try await catalog.products.put(Product(sku: sku, name: "Later"), in: Self.shop)
                        _ = try await catalog.purchases.add(purchases, to: Self.shop)
                    }
                }
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<8 { _ = try await Self.fold(catalog) } }
                }
                try await group.waitForAll()
            }
            _ = try await Self.fold(catalog)
            _ = try await PurchaseBook(catalog).count(Self.shop, day: Self.today)
            let scores = try await Self.scores(catalog, skus)
            for sku in skus { #expect(Self.isNear(scores[sku]!, 3)) }
        }
    }

    @Test("A fold in a role that must not truncate deletes the rows of folded cells")
    func foldsWithoutTruncating() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            let owner = try await PostgresConnection.connect(catalog.database.writes.configuration.inOwnerRole)
            try await owner.perform { connection in
                for cell in 0..<8 {
                    try connection.run(
                        script: "REVOKE TRUNCATE ON purchase_inbox_\(cell) FROM \(DatabaseRoles().server)"
                    )
                }
            }
            await owner.close()
            var random = SeededGenerator(seed: 21)
            let events = Self.events(&random, 900)
            for start in [0, 300, 600] {
                let added = try await catalog.purchases.add(Array(events[start..<(start + 300)]), to: Self.shop)
                #expect(try await Self.fold(catalog) == added.accepted)
            }
            #expect(try await Self.fold(catalog) == 0)
            let left = try await catalog.database.writes.perform {
                try $0.query("SELECT count(*) FROM purchase_inbox") { try $0.first { try $0.int(0) }! }
            }
            #expect(left == 0)
        }
    }

    @Test("Purchases of anonymized customers stay counted")
    func anonymizedPurchasesCount() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            var random = SeededGenerator(seed: 11)
            let events = Self.events(&random, 300, spread: 20)
            _ = try await catalog.purchases.add(events, to: Self.shop)
            let book = PurchaseBook(catalog)
            _ = try await Self.fold(catalog)
            _ = try await book.count(Self.shop, day: Self.today)
            let before = try await Self.scores(catalog)
            #expect(try await catalog.anonymize(customer: "customer 2") > 0)
            #expect(try await catalog.anonymize(customer: "customer 2") == 0)
            // Old purchases are anonymized, and late reports of them are rejected.
            #expect(try await book.applyRetention(Self.shop, olderThan: 10, day: Self.today) > 0)
            #expect(try await book.applyRetention(Self.shop, olderThan: 10, day: Self.today) == 0)
            let old = try await catalog.database.writes.perform {
                try $0.query(
                    "SELECT count(*) FROM purchase_by_customer WHERE day < current_date - 10"
                ) { try $0.first { try $0.int(0) } }
            }
            #expect(old == 0)
            let late = events.filter { $0.at.day < Self.today - 10 }
            #expect(try await catalog.purchases.add(late, to: Self.shop).tooOld == late.count)
            // A full recount gives the same scores.
            try await catalog.database.writes.perform {
                _ = try $0.execute("UPDATE product SET purchases_log2 = 0, popularity_log2 = 0")
                _ = try $0.execute(
                    """
                    INSERT INTO due_products (store_id, first_sku, mark, last_sku, size, is_counted, skus)
                    SELECT store_id, min(sku), 1, max(sku), count(*), false, array_agg(sku) FROM product GROUP BY store_id
                    """
                )
            }
            _ = try await Self.fold(catalog)
            _ = try await book.count(Self.shop, day: Self.today)
            let after = try await Self.scores(catalog)
            for sku in Self.skus { #expect(Self.isNear(after[sku]!, before[sku]!)) }
        }
    }

    @Test("A fold goes on while another transaction reads the folded cells")
    func foldsDespiteReaders() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            var random = SeededGenerator(seed: 13)
            let batches = (0..<3).map { Array(Self.events(&random, 1000)[($0 * 300)..<($0 * 300 + 300)]) }
            _ = try await catalog.purchases.add(batches[0], to: Self.shop)
            _ = try await Self.fold(catalog)
            // Like a backup, the reader prevents that the cells are truncated.
            let reader = try await PostgresConnection.connect(catalog.database.writes.configuration)
            try await reader.perform {
                try $0.begin()
                try $0.run(script: "SELECT count(*) FROM purchase_inbox")
            }
            for batch in batches[1...] {
                let added = try await catalog.purchases.add(batch, to: Self.shop)
                #expect(try await Self.fold(catalog) == added.accepted)
            }
            await reader.close()
            _ = try await PurchaseBook(catalog).count(Self.shop, day: Self.today)
            let scores = try await Self.scores(catalog)
            for sku in Self.skus {
                let days = Self.days(batches.flatMap { $0 }, sku)
                #expect(Self.isNear(scores[sku]!, max(0, Self.decayed(days, halfLife: 14, day: Self.today))))
            }
        }
    }

    @Test("Concurrent folds count each event once")
    func concurrentFoldsCountOnce() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.fill(catalog)
            var random = SeededGenerator(seed: 3)
            let batches = (0..<12).map { _ in Self.events(&random, 200) }
            let book = PurchaseBook(catalog)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for batch in batches {
                    group.addTask { _ = try await catalog.purchases.add(batch, to: Self.shop) }
                    group.addTask { _ = try await catalog.purchases.add(batch.shuffled(), to: Self.shop) }
                }
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<10 {
                            _ = try await Self.fold(catalog)
                            _ = try await book.count(Self.shop, day: Self.today)
                        }
                    }
                }
                try await group.waitForAll()
            }
            _ = try await Self.fold(catalog)
            _ = try await book.count(Self.shop, day: Self.today)
            let (counted, scores) = (batches.flatMap { $0 }, try await Self.scores(catalog))
            for sku in Self.skus {
                let expected = max(0, Self.decayed(Self.days(counted, sku), halfLife: 14, day: Self.today))
                #expect(Self.isNear(scores[sku]!, expected))
            }
        }
    }
}
