import Catalog
import Glibc
import JSON
import LibPQ
import Platform
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// The state that requests, runs and servers share: locks, hashes, positions, connections and uses of shelves.
@Suite(.timeLimit(.minutes(15))) struct SharedStateTests {
    private struct Refused: Error {}

    // MARK: - Locks of runs

    private static let key: SQL = "$1::integer"

    /// Runs work with the lock of a re-sort.
    private static func locked<T>(
        _ number: Int32,
        of kind: RunLock.Kind = .resortRun,
        waiting timeout: Duration? = nil,
        in pool: PostgresPool,
        _ body: () async throws -> T
    ) async throws -> T? {
        try await RunLock.withLock(kind, key, [.int4(number)], waiting: timeout, in: pool, body)
    }

    @Test("A run excludes others with its key and kind until it ends, however it ends")
    func runLocks() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1))
        let number = getpid()
        let inner = try await Self.locked(number, in: pool) { () async throws -> [Int?] in
            [
                try await Self.locked(number, in: pool) { 1 }, try await Self.locked(number + 1, in: pool) { 2 },
                try await Self.locked(number, of: .importRun, in: pool) { 3 },
                try await Self.locked(number, waiting: .milliseconds(300), in: pool) { 4 },
            ]
        }
        #expect(inner == [nil, 2, 3, nil])
        await #expect(throws: Refused.self) {
            try await Self.locked(number, in: pool) { () async throws -> Int in throw Refused() }
        }
        let last = try await Self.locked(number, in: pool) { 5 }
        #expect(last == 5)
        pool.shutDown()
    }

    @Test("A run that waits begins when the other one ends")
    func waitingRuns() async throws {
        let pool = PostgresPool(TestServer.configuration, options: .init(size: 1))
        let number = getpid() + 10
        var configuration = TestServer.configuration
        configuration.applicationName = "run \(number)"
        let name = PostgresValue.text(configuration.applicationName)
        let waiting = PostgresPool(configuration, options: .init(size: 1))
        let observer = try await PostgresConnection.connect(TestServer.configuration)
        final class Order: Sendable { let names = Mutex<[String]>([]) }
        let order = Order()
        let (began, end) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
        let first = Task {
            try await Self.locked(number, in: pool) { () async throws -> Int in
                began.continuation.finish()
                for await _ in end.stream {}
                order.names.withLock { $0.append("first") }
                return 1
            }
        }
        for await _ in began.stream {}
        let refused = try await Self.locked(number, in: pool) { 0 }
        #expect(refused == nil)
        let second = Task {
            try await Self.locked(number, waiting: .seconds(60), in: waiting) { () async throws -> Int in
                order.names.withLock { $0.append("second") }
                return 2
            }
        }
        // A run that waits rolls its attempt back, and sleeps.
        let refusals: PostgresStatement = """
            SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle' AND query LIKE '%ROLLBACK%'
            """
        let hasTried = try await eventually {
            try await observer.perform { try $0.query(refusals, [name]) { $0.count } } > 0
        }
        #expect(hasTried)
        end.continuation.finish()
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        #expect(order.names.withLock { $0 } == ["first", "second"])
        await observer.close()
        waiting.shutDown()
        pool.shutDown()
    }

    // MARK: - Hashes

    /// The hashes are HMAC-SHA256 by the key of the bytes 0 to 31, of which 16 bytes are kept, computed by another program.
    @Test("Customers, events and erased users have the same hashes in every version of the program")
    func hashes() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let owner = try await PostgresConnection.connect(catalog.database.imports.configuration.inOwnerRole)
            func texts(_ statement: PostgresStatement) async throws -> [String] {
                try await owner.perform { try $0.query(statement) { try $0.map { try $0.text(0) } } }
            }
            let key = PostgresValue.bytea(Array(0...31))
            try await owner.perform { try $0.execute("UPDATE deployment SET customer_key = $1", [key]) }
            let (store, sku, ann) = (CatalogKey("corner")!, SKU("milk")!, UserID("ann")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "Corner", currency: Currency("EUR")!))
            _ = try await catalog.products.put(Product(sku: sku, name: "Milk"), in: store)
            let outcome = try await catalog.purchases.add(
                [
                    Purchase(eventID: "order-1", sku: sku, quantity: 1, at: .now(), customer: " ann "),
                    Purchase(
                        eventID: "0123ABCD-4567-4890-ABCD-EF0123456789",
                        sku: sku,
                        quantity: 2,
                        at: .now(),
                        customer: "ann"
                    ),
                ],
                to: store
            )
            #expect(outcome.accepted == 2)
            #expect(
                try await texts("SELECT event_id::text FROM purchase_event ORDER BY 1") == [
                    "0123abcd-4567-4890-abcd-ef0123456789", "0bafe221-56d2-898c-943b-86040446d366",
                ]
            )
            #expect(
                try await texts("SELECT DISTINCT encode(customer, 'hex') FROM purchase_inbox") == [
                    "0d1f12b8196c52b0db44a5429c832302"
                ]
            )
            _ = try await catalog.settings.edit(SettingsEdit([.init(SettingKey("k")!, .bool(true))]), of: ann)
            try await catalog.users.erase(ann)
            #expect(
                try await texts("SELECT DISTINCT user_id FROM user_audit WHERE user_id LIKE 'erased:%'") == [
                    "erased:c5339e04520cd64ef2019e1014ca10c3"
                ]
            )
            await owner.close()
        }
    }

    // MARK: - States

    @Test("The token of several states is the latest one, and a state of writes includes them")
    func tokens() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let database = catalog.database
            let positions = [3, 9, 5].map { LogPosition(cluster: 1, timeline: 1, offset: $0) }
            #expect(database.token(including: positions.map(\.token)) == positions[1].token)
            #expect(database.token(including: [positions[0].token]) == positions[0].token)
            #expect(database.token(including: []) == nil)
            #expect(database.token(including: [positions[0].token, StateToken([1, 2])]) == nil)
            #expect(database.token(including: [StateToken([1, 2])]) == nil)
            let before = try await database.logPosition()
            let (idle, written) = try await database.performWrites { token in
                let idle = await token()
                let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)
                _ = try await catalog.shelves.put(store)
                return (idle, await token())
            }
            let (first, second) = (try #require(LogPosition(idle)), try #require(LogPosition(written)))
            #expect(!first.isBefore(before) && first.isBefore(second))
            let after = try await database.logPosition()
            #expect(!after.isBefore(second))
            // Without replicas, reads return the current state.
            let isLatest = try await database.performReads(after: nil) { () async throws -> Bool in
                if case .latest = StorageContext.current.states { true } else { false }
            }
            #expect(isLatest)
        }
    }

    // MARK: - Connections

    @Test("Each event loop has its own connections for pages; other tasks use them in turn")
    func pageLanes() throws {
        let lane = try PageLane(TestServer.configuration, eventLoops: 3, connections: 2)
        defer { lane.shutDown() }
        #expect(lane.size == 6)
        #expect(lane.readsInFlight == 0)
        let inTurn = (0..<4).map { _ in ObjectIdentifier(lane.current) }
        #expect(Set(inTurn.prefix(3)).count == 3)
        #expect(inTurn[3] == inTurn[0])
        func pipeline(_ number: Int) -> ObjectIdentifier {
            let loop = CurrentEventLoop(number: number, executor: globalConcurrentExecutor)
            return TaskContext(eventLoop: loop).run { ObjectIdentifier(lane.current) }
        }
        #expect([0, 1, 2, 3, 4].map(pipeline) == [inTurn[0], inTurn[1], inTurn[2], inTurn[0], inTurn[1]])
        #expect(ObjectIdentifier(lane.current) == inTurn[1], "event loops take no turns")
    }

    @Test("Reads of several workers combine the answers, and wait a moment for a worker that does not respond")
    func readsOfSeveralWorkers() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let workers = StoreWorkers(TestServer.configuration, ConnectionCounts(), .none)
            defer { workers.shutDown() }
            func placement(_ host: String) -> [ShardRanges.Placement] {
                let address = WorkerAddress(host: "/nonexistent/\(host)", port: 1)
                return [.init(shard: 1, worker: address, hashes: Int32.min...Int32.max)]
            }
            let ranges = ShardRanges(stores: placement("stores"), users: placement("users"))
            workers.apply(ShardMap(readAt: .now, ranges: ranges, tables: [1: ["shelf": "shelf"]]))
            let coordinator = catalog.database.router.coordinator(for: nil)
            let router = ReadRouter(coordinator, replicas: nil, workers: workers, storeIDs: StoreIDs())
            let ann = DataOwner.user(UserID("ann")!)
            /// Returns how many owners were read together with each one.
            func read(
                _ behave: @escaping @Sendable (_ isUsers: Bool) async throws -> Void
            ) async throws -> [DataOwner: Int] {
                try await router.readByOwner([.store(1), .store(2), ann], { $0 }) { owners, _ in
                    try await behave(owners.contains(ann))
                    return Dictionary(uniqueKeysWithValues: owners.map { ($0, owners.count) })
                }
            }
            let stores: [DataOwner: Int] = [.store(1): 2, .store(2): 2]
            let all = try await read { _ in }
            #expect(all == stores.merging([ann: 1]) { $1 })
            let partial = try await read { if $0 { throw Refused() } }
            #expect(partial == stores)
            await #expect(throws: Refused.self) { try await read { _ in throw Refused() } }
            // The sleep ends with its cancellation.
            let impatient = try await read { if $0 { try await Task.sleep(for: .seconds(600)) } }
            #expect(impatient == stores)
            let none = try await router.readByOwner([DataOwner](), { $0 }) { owners, _ in [owners[0]: 1] }
            #expect(none.isEmpty)
        }
    }

    // MARK: - Shelves in use

    @Test("A page of a shelf with its descendants uses each of them, and a page of all shelves uses none")
    func usedShelves() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (store, food, dairy) = (CatalogKey("s")!, CatalogKey("food")!, CatalogKey("dairy")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: food, title: "Food"), in: store)
            _ = try await catalog.shelves.put(Shelf(key: dairy, title: "Dairy", parent: food), in: store)
            _ = try await catalog.products.put(Product(sku: SKU("milk")!, name: "Milk"), in: store)
            _ = try await catalog.products.place(SKU("milk")!, on: dairy, in: store)
            let caches = catalog.pageStore.memory.caches
            var request = PageRequest(store: store, shelf: food, sort: Sort(.name, .ascending)!)
            request.includesDescendants = true
            for _ in 0..<2 {
                #expect(try await catalog.pages.page(request).products.count == 1)
                #expect(caches.takeUsed().count == 2)
            }
            #expect(caches.takeUsed().isEmpty)
            let all = PageRequest(store: store, shelf: nil, sort: Sort(.name, .ascending)!)
            _ = try await catalog.pages.page(all)
            _ = caches.takeUsed()
            // From here on, the union is in memory.
            #expect(try await catalog.pages.page(all).products.count == 1)
            #expect(caches.takeUsed().isEmpty)
            let use = catalog.shelfMemoryUse
            #expect(use.shelves.count == 2 && use.unions.count == 2)
            // A page of one shelf finds it at its version.
            let hits = catalog.shelfMemoryUse.hits
            let one = PageRequest(store: store, shelf: dairy, sort: Sort(.name, .ascending)!)
            for _ in 0..<3 { _ = try await catalog.pages.page(one) }
            #expect(catalog.shelfMemoryUse.hits >= hits + 3)
            #expect(caches.takeUsed().count == 1)
        }
    }
}
