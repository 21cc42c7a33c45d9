import Catalog
import JSON
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Reads from a worker of a cluster. The worker is the test server itself, with the two tables of Citus that reads from workers need.
@Suite(.disabled(if: CitusServers.prefix != nil, "the server has these tables already"), .timeLimit(.minutes(15)))
struct WorkerReadTests {
    private static let store = CatalogKey("corner")!
    private static let ann = UserID("ann")!
    private static let names = ["shelf": "shelf", "store": "store"]

    /// Collects observations of workers.
    private final class Observations: Sendable {
        private let list = Mutex<[DatabaseObservation]>([])
        var all: [DatabaseObservation] { list.withLock { $0 } }

        func add(_ observation: DatabaseObservation) {
            switch observation {
            case .workerChanged, .workerPassedOver: list.withLock { $0.append(observation) }
            default: break
            }
        }
    }

    /// A server with workers, and the connections to it.
    private struct Cluster {
        let catalog: PostgresCatalog
        let workers: StoreWorkers
        let observations: Observations
        let address: WorkerAddress
        /// The id of the store, which is on the shard `shard`.
        let storeID: Int32
        let owner: PostgresConnection

        init(_ catalog: PostgresCatalog) async throws {
            self.catalog = catalog
            let configuration = catalog.database.writes.configuration.inOwnerRole
            let parts = try PostgresConfiguration.parse(TestServer.configuration.dsn)
            address = WorkerAddress(host: parts["host"] ?? "localhost", port: parts["port"].flatMap { Int($0) } ?? 5432)
            let observations = Observations()
            self.observations = observations
            workers = StoreWorkers(configuration, ConnectionCounts(), Observer { observations.add($0) })
            owner = try await PostgresConnection.connect(configuration)
            storeID = try await owner.perform { connection in
                try connection.run(
                    script: """
                        CREATE TABLE pg_dist_local_group (groupid integer);
                        INSERT INTO pg_dist_local_group VALUES (3);
                        CREATE TABLE pg_dist_placement (shardid bigint, shardstate integer, groupid integer);
                        INSERT INTO pg_dist_placement VALUES (7, 1, 3), (8, 1, 3)
                        """
                )
                return try connection.query("SELECT store_id FROM store") { try $0.first { try $0.int4(0) }! }
            }
        }

        var coordinator: PrimaryRead { catalog.database.router.coordinator(for: nil) }
        var shard: Int64 { DataOwner.store(storeID).hash < 0 ? 7 : 8 }
        /// The id of a store on the other shard.
        var otherID: Int32 { (1...1000).first { (DataOwner.store($0).hash < 0) != (shard == 7) }! }

        /// Lets the server know where the shards are.
        ///
        /// - Parameter users: the worker of users; nil for the same one.
        func apply(
            readAt: ContinuousClock.Instant = .now,
            users: WorkerAddress? = nil,
            tables: [Int64: [String: String]] = [7: WorkerReadTests.names, 8: WorkerReadTests.names]
        ) {
            func placements(_ first: Int64, _ worker: WorkerAddress) -> [ShardRanges.Placement] {
                [
                    .init(shard: first, worker: worker, hashes: Int32.min...(-1)),
                    .init(shard: first + 1, worker: worker, hashes: 0...Int32.max),
                ]
            }
            let ranges = ShardRanges(stores: placements(7, address), users: placements(17, users ?? address))
            workers.apply(ShardMap(readAt: readAt, ranges: ranges, tables: tables))
        }

        /// Returns the read of the store as soon as the worker is used.
        func read() async throws -> (read: WorkerRead, shortReads: PageLane) {
            var used: (read: WorkerRead, shortReads: PageLane)?
            _ = await eventually {
                apply()
                if let found = workers.read(of: storeID, through: coordinator), let lane = found.shortReads {
                    used = (found.read, lane)
                }
                return used != nil
            }
            return try #require(used, "the worker is not used")
        }

        /// Returns whether the worker is used for a store.
        func isUsed(for id: Int32) -> Bool { workers.read(of: id, through: coordinator)?.shortReads != nil }

        func run(_ script: String) async throws { try await owner.perform { try $0.run(script: script) } }
    }

    private static func withCluster(_ body: (Cluster) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: store, title: "Corner", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: CatalogKey("dairy")!, title: "Dairy"), in: store)
            _ = try await catalog.settings.edit(SettingsEdit([.init(SettingKey("colour")!, .string("red"))]), of: ann)
            let cluster = try await Cluster(catalog)
            defer { cluster.workers.shutDown() }
            try await body(cluster)
            await cluster.owner.close()
        }
    }

    /// Returns queries of shelves and users, with the numbers of the queries.
    private static func queries(_ cluster: Cluster) -> ReadQueries<[String], [String]> {
        let shelves = PostgresQuery("SELECT h.key FROM shelf h WHERE h.store_id = $1", [.int4(cluster.storeID)])
        let users = PostgresQuery("SELECT a.user_id FROM user_account a")
        let stores: PostgresStatement = """
            SELECT w.number, s.key FROM unnest($1::text[]) WITH ORDINALITY AS w (key, number) JOIN store s ON s.key = w.key
            """
        return ReadQueries(
            sharing: [SharedQuery(stores, key: [.text(store.text)])],
            into: [String](),
            { texts, index, row in texts.append("shared \(index) \(try row.text(1))") },
            then: [shelves, users, shelves],
            into: [String]()
        ) { texts, index, rows in texts += try rows.map { "\(index) \(try $0.text(0))" } }
    }

    private static let answers = ["0 dairy", "1 ann", "2 dairy"]

    @Test("A store's shelves come from its worker, and users from the coordinator")
    func readsFromWorkers() async throws {
        try await Self.withCluster { cluster in
            #expect(cluster.workers.read(of: cluster.storeID, through: cluster.coordinator) == nil)
            let (read, shortReads) = try await cluster.read()
            #expect(read.shard.id == cluster.shard)
            #expect(read.owner == .store(cluster.storeID) && read.user == nil)
            let queries = Self.queries(cluster)
            let found = try await read.read(queries, from: shortReads)
            #expect(found.own.sorted() == Self.answers)
            #expect(found.shared == ["shared 0 corner"])
            #expect(cluster.workers.status.map(\.reads) == [1])
            #expect(cluster.workers.status.map(\.name) == [cluster.address.name])
            #expect(cluster.workers.status.allSatisfy { $0.kind == .worker && $0.isUsable })
            // Nothing is left for the worker.
            let users = queries.part([nil], [nil, queries.own[1], nil], into: (shared: [], own: []))
            #expect(try await read.read(users, from: shortReads).own == ["1 ann"])
            // The coordinator counts no reads.
            let through = try await read.readThroughCoordinator(queries)
            #expect(through.own.sorted() == Self.answers && through.shared == ["shared 0 corner"])
            #expect(try await read.readThroughCoordinator(users).own == ["1 ann"])
            #expect(cluster.workers.status.map(\.reads) == [1])
            #expect(cluster.observations.all.last == .workerChanged(name: cluster.address.name, reason: nil))
            // The monitor has recorded the identity of the worker before its first use.
            let recorded = try await cluster.owner.perform {
                try $0.query("SELECT 1 FROM database_life WHERE starts_with(identity, 'worker 3/')") { $0.count }
            }
            #expect(recorded == 1)
        }
    }

    @Test("A worker without the shard does not answer, and the coordinator answers for a while")
    func movedShards() async throws {
        try await Self.withCluster { cluster in
            let (read, shortReads) = try await cluster.read()
            try await cluster.run("UPDATE pg_dist_placement SET shardstate = 3 WHERE shardid = \(cluster.shard)")
            await #expect(throws: WorkerProblem.failed) {
                try await read.read(Self.queries(cluster), from: shortReads)
            }
            cluster.apply()
            #expect(!cluster.isUsed(for: cluster.storeID))
            #expect(cluster.isUsed(for: cluster.otherID))
            #expect(cluster.workers.status.map(\.reads) == [0])
            let reason = "the shard \(cluster.shard) is on another server"
            #expect(cluster.observations.all.contains(.workerPassedOver(name: cluster.address.name, reason: reason)))
            let through = try await read.readThroughCoordinator(Self.queries(cluster))
            #expect(through.own.sorted() == Self.answers)
            // Without a row, it is the same.
            try await cluster.run("DELETE FROM pg_dist_placement")
            await #expect(throws: WorkerProblem.failed) {
                try await read.read(Self.queries(cluster), from: shortReads)
            }
        }
    }

    @Test("A read of a store goes to its worker, and to the coordinator if the worker cannot answer")
    func routes() async throws {
        try await Self.withCluster { cluster in
            _ = try await cluster.read()
            let router = ReadRouter(
                cluster.coordinator,
                replicas: nil,
                workers: cluster.workers,
                storeIDs: StoreIDs()
            )
            /// Reads as a user, and returns the servers that were asked.
            func sources(
                of store: CatalogKey = Self.store,
                failing problem: WorkerProblem? = nil
            ) async throws -> [String] {
                var sources: [String] = []
                try await router.withSource(of: store, for: Self.ann) { source in
                    switch source {
                    case .primary: sources.append("primary")
                    case .replica: sources.append("replica")
                    case .worker: sources.append("worker")
                    case .coordinator: sources.append("coordinator")
                    }
                    let found = try await source.read(Self.queries(cluster))
                    #expect(found.own.sorted() == Self.answers)
                    let statement: PostgresStatement = "SELECT key FROM store"
                    let keys = try await source.snapshot(within: .shelf) {
                        try $0.query(statement) { try $0.map { try $0.text(0) } }
                    }
                    #expect(keys == ["corner"])
                    if let problem, case .worker = source { throw problem }
                }
                return sources
            }
            cluster.apply()
            #expect(try await sources() == ["worker"])
            cluster.apply()
            #expect(try await sources(failing: .notFound) == ["worker", "coordinator"])
            #expect(try await sources(of: CatalogKey("missing")!) == ["primary"])
            cluster.apply(readAt: .now - .seconds(60))
            #expect(try await sources() == ["coordinator"])
            cluster.workers.apply(ShardMap(readAt: .now))
            #expect(try await sources() == ["primary"])
        }
    }

    @Test("Only a worker cannot know what does not exist, and only its problems are left to the coordinator")
    func unknownStores() async throws {
        try await Self.withCluster { cluster in
            let (read, shortReads) = try await cluster.read()
            let worker = ReadSource.worker(read, shortReads)
            #expect(throws: WorkerProblem.notFound) { try worker.requireAllStores() }
            try ReadSource.coordinator(read).requireAllStores()
            try ReadSource.primary(cluster.coordinator).requireAllStores()
            #expect(worker.isReplaced(after: WorkerProblem.failed))
            #expect(!worker.isReplaced(after: PostgresError(.connection, "lost")))
            #expect(!ReadSource.coordinator(read).isReplaced(after: WorkerProblem.failed))
            #expect(!ReadSource.primary(cluster.coordinator).isReplaced(after: WorkerProblem.failed))
            #expect(worker.origin == .worker && ReadSource.coordinator(read).origin == .primary)
        }
    }

    @Test("The placements hold for seconds after the coordinator's last answer, with the tables that are known")
    func leases() async throws {
        try await Self.withCluster { cluster in
            _ = try await cluster.read()
            cluster.apply(readAt: .now - .seconds(6))
            #expect(!cluster.isUsed(for: cluster.storeID))
            #expect(cluster.workers.read(of: cluster.storeID, through: cluster.coordinator) != nil)
            cluster.apply(readAt: .now - .seconds(1), tables: [:])
            #expect(cluster.isUsed(for: cluster.storeID))
        }
    }

    @Test("An error of a worker pauses its shard, and a lost connection the whole worker")
    func failures() async throws {
        try await Self.withCluster { cluster in
            let (read, shortReads) = try await cluster.read()
            let failing = ReadQueries(
                sharing: [],
                into: (),
                { _, _, _ in },
                then: [PostgresQuery("SELECT 1 / (h.store_id - h.store_id) FROM shelf h")],
                into: 0
            ) { _, _, _ in }
            await #expect(throws: WorkerProblem.failed) { try await read.read(failing, from: shortReads) }
            cluster.apply()
            #expect(!cluster.isUsed(for: cluster.storeID) && cluster.isUsed(for: cluster.otherID))
            #expect(cluster.workers.status.allSatisfy { $0.isUsable })
            let error = PostgresError(.connection, "secret")
            cluster.workers.readFailed(error, read.shard, read.worker)
            #expect(!cluster.isUsed(for: cluster.otherID))
            let lost = DatabaseObservation.workerPassedOver(name: cluster.address.name, reason: error.description)
            let changed = DatabaseObservation.workerChanged(name: cluster.address.name, reason: error.description)
            #expect([lost, changed].allSatisfy { cluster.observations.all.contains($0) })
        }
    }

    @Test("A worker that is overloaded gets no help from the coordinator, unless it has no shards any more")
    func exhaustedWorkers() async throws {
        try await Self.withCluster { cluster in
            let (read, shortReads) = try await cluster.read()
            shortReads.shutDown()
            let error = await #expect(throws: PostgresError.self) {
                try await read.read(Self.queries(cluster), from: shortReads)
            }
            #expect(error?.kind == .exhausted)
            #expect(cluster.workers.uses(read.worker))
            cluster.workers.apply(ShardMap(readAt: .now))
            #expect(!cluster.workers.uses(read.worker))
            #expect(cluster.workers.status.isEmpty)
            #expect(cluster.workers.read(of: cluster.storeID, through: cluster.coordinator) == nil)
            await #expect(throws: WorkerProblem.failed) {
                try await read.read(Self.queries(cluster), from: shortReads)
            }
        }
    }

    @Test("Callers are grouped by the worker that has all their rows; the others are one group")
    func groups() async throws {
        try await Self.withCluster { cluster in
            let (workers, owner) = (cluster.workers, DataOwner.store(cluster.storeID))
            #expect(workers.group(of: owner) == nil)
            cluster.apply()
            let group = PoolGroup(cluster.address.name)
            #expect(workers.group(of: owner) == group)
            #expect(workers.group(of: owner, and: .user(Self.ann)) == group)
            #expect(workers.group(of: .user(Self.ann)) == group)
            #expect(workers.group(of: nil)?.divisor == 4)
            let other = WorkerAddress(host: "/nonexistent/worker", port: 1)
            cluster.apply(users: other)
            #expect(workers.worker(of: owner)?.address == cluster.address)
            #expect(workers.worker(of: .user(Self.ann))?.address == other)
            #expect(workers.group(of: .user(Self.ann)) == PoolGroup("/nonexistent/worker:1"))
            #expect(workers.group(of: owner) == group)
            #expect(workers.group(of: owner, and: .user(Self.ann))?.divisor == 4)
            #expect(workers.status.map(\.name) == [other.name, cluster.address.name].sorted())
            // It cannot be reached, which is observed once.
            func changes() -> [DatabaseObservation] {
                cluster.observations.all.filter {
                    if case .workerChanged(other.name, _?) = $0 { true } else { false }
                }
            }
            let isObserved = await eventually { !changes().isEmpty }
            try #require(isObserved)
            #expect(changes().count == 1)
            #expect(workers.status.count { $0.name == other.name && !$0.isUsable } == 1)
            workers.shutDown()
            #expect(workers.status.isEmpty && workers.worker(of: owner) == nil)
            cluster.apply()
            #expect(workers.status.isEmpty)
        }
    }

    @Test("A worker is used from its first answer on, and a reason to pass it over is new once")
    func statesOfWorkers() throws {
        let address = WorkerAddress(host: "/nonexistent/worker", port: 1)
        let worker = try Worker(address, TestServer.configuration, eventLoops: 1)
        defer { worker.shutDown() }
        #expect(worker.status.problem == "not connected yet" && worker.shortReads == nil)
        let first = worker.passOver("a")
        let second = worker.passOver("b")
        #expect(first && !second && worker.status.problem == "b")
        let isNew = try worker.use()
        let isRepeated = try worker.use()
        #expect(isNew && !isRepeated && worker.status.isUsable && worker.shortReads != nil)
        let third = worker.passOver("c")
        #expect(third && worker.shortReads == nil)
        #expect(worker.detour === worker.detour && worker.detour != nil)
        worker.shutDown()
        let isLate = try worker.use()
        #expect(!isLate)
        worker.countRead()
        #expect(worker.status.reads == 1)
        let configuration = try Worker.configuration(of: address, TestServer.configuration)
        let parts = try PostgresConfiguration.parse(configuration.dsn)
        #expect((parts["host"], parts["port"]) == ("/nonexistent/worker", "1"))
        #expect(configuration.connectTimeout == .seconds(2) && configuration.statements == .named)
    }
}
