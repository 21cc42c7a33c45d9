import Catalog
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Reads from a replica. The replica is the test server itself: functions in a schema of their own hide those that distinguish a standby.
@Suite(.disabled(if: CitusServers.prefix != nil, "a cluster has no replicas"), .timeLimit(.minutes(15)))
struct ReplicaReadTests {
    private static let store = CatalogKey("corner")!

    /// Collects observations of replicas.
    private final class Observations: Sendable {
        private let list = Mutex<[DatabaseObservation]>([])
        var all: [DatabaseObservation] { list.withLock { $0 } }

        func add(_ observation: DatabaseObservation) {
            switch observation {
            case .replicaChanged, .replicaPassedOver: list.withLock { $0.append(observation) }
            default: break
            }
        }
    }

    /// A primary with a replica, which no monitor probes.
    private struct Cluster {
        let observations: Observations
        let primary: PostgresConfiguration
        let replica: PostgresConfiguration
        let replicas: Replicas
        let router: ReadRouter
        let owner: PostgresConnection

        init(_ catalog: PostgresCatalog) async throws {
            primary = catalog.database.imports.configuration.inOwnerRole
            var standby = primary
            standby.settings["search_path"] = "standby, pg_catalog, public"
            replica = standby
            let observations = Observations()
            self.observations = observations
            replicas = try Replicas(
                [standby],
                primary: primary,
                connections: ConnectionCounts(),
                lagLimit: .seconds(10),
                observer: Observer { observations.add($0) }
            )
            let coordinator = catalog.database.router.coordinator(for: nil)
            router = ReadRouter(coordinator, replicas: replicas, workers: nil, storeIDs: StoreIDs())
            owner = try await PostgresConnection.connect(primary)
            try await owner.perform { connection in
                try connection.run(script: "CREATE SCHEMA standby")
                try connection.run(script: ReplicaReadTests.isStandby("SELECT true"))
                try connection.run(script: ReplicaReadTests.replayed("SELECT pg_current_wal_insert_lsn()"))
            }
        }

        func run(_ script: String) async throws { try await owner.perform { try $0.run(script: script) } }

        /// Probes both servers until the replica has a problem, or none.
        func probe(until problem: ReplicaProblem?) async {
            for _ in 0..<30 {
                await replicas.probePrimary()
                await replicas.probeReplica(0)
                if replicas.status[0].problem == problem?.rawValue { break }
            }
            #expect(replicas.status[0].problem == problem?.rawValue)
        }

        /// Runs a read that a replica may answer, and returns the servers that were asked.
        func origins(
            _ body: @escaping @Sendable (ReadSource) async throws -> Void
        ) async throws -> [ReadSource.Origin] {
            var context = StorageContext.current
            context.states = .including(nil)
            var origins: [ReadSource.Origin] = []
            try await context.run {
                try await router.withSource(of: ReplicaReadTests.store, for: nil) { source in
                    origins.append(source.origin)
                    try await body(source)
                }
            }
            return origins
        }
    }

    private static func isStandby(_ query: String) -> String {
        "CREATE OR REPLACE FUNCTION standby.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS '\(query)'"
    }

    private static func replayed(_ query: String) -> String {
        "CREATE OR REPLACE FUNCTION standby.pg_last_wal_replay_lsn() RETURNS pg_lsn LANGUAGE sql AS '\(query)'"
    }

    private static func withCluster(_ body: (Cluster) async throws -> Void) async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            _ = try await catalog.shelves.put(Store(key: store, title: "Corner", currency: Currency("EUR")!))
            let cluster = try await Cluster(catalog)
            defer { cluster.replicas.shutDown() }
            try await body(cluster)
            await cluster.owner.close()
        }
    }

    /// Reads the keys of all stores in both ways.
    @Sendable private static func read(_ source: ReadSource) async throws {
        let query: PostgresStatement = "SELECT key FROM store"
        let short = try await source.read([PostgresQuery(query)], into: [String]()) { keys, _, rows in
            keys = try rows.map { try $0.text(0) }
        }
        let long = try await source.snapshot(within: .shelf) { try $0.query(query) { try $0.map { try $0.text(0) } } }
        #expect(short == ["corner"] && long == ["corner"])
    }

    @Test("A replica is used after the primary and the replica have answered, until one of them has a problem")
    func states() async throws {
        try await Self.withCluster { cluster in
            let replicas = cluster.replicas
            #expect(replicas.status.map(\.problem) == [ReplicaProblem.unreachable.rawValue])
            #expect(replicas.status[0].kind == .replica && replicas.status[0].lag == nil)
            #expect(replicas.choose(for: nil) == nil)
            #expect(!replicas.replacePrimary)
            for _ in 0..<30 where replicas.status[0].problem != ReplicaProblem.otherHistory.rawValue {
                await replicas.probePrimary()
            }
            #expect(replicas.status[0].problem == ReplicaProblem.otherHistory.rawValue)
            await cluster.probe(until: nil)
            #expect(replicas.status[0].lag == .zero)
            #expect(replicas.choose(for: nil)?.index == 0)
            #expect(replicas.choose(for: .unknown) == nil)
            #expect(replicas.status[0].reads == 1)
            #expect(!replicas.replacePrimary)
            #expect(cluster.router.status.map(\.name) == [Replica.name(of: cluster.replica)])
            // The primary does not answer any more.
            try await cluster.run("ALTER TABLE database_life RENAME TO hidden")
            await replicas.probePrimary()
            #expect(replicas.replacePrimary && cluster.router.replacesPrimary)
            try await cluster.run("ALTER TABLE hidden RENAME TO database_life")
            await cluster.probe(until: nil)
            #expect(!replicas.replacePrimary)
            try await cluster.run(Self.isStandby("SELECT false"))
            await cluster.probe(until: .promoted)
            try await cluster.run(Self.isStandby("SELECT true"))
            await cluster.probe(until: nil)
            try await cluster.run(Self.replayed("SELECT ''0/1''::pg_lsn"))
            await cluster.probe(until: .lagging)
            #expect(replicas.choose(for: nil) == nil)
            try await cluster.run(Self.isStandby("SELECT 1 / 0 = 0"))
            await cluster.probe(until: .unreachable)
            let name = Replica.name(of: cluster.replica)
            for problem in [ReplicaProblem.otherHistory, .promoted, .lagging, .unreachable] {
                let observation = DatabaseObservation.replicaChanged(name: name, reason: problem.rawValue)
                #expect(cluster.observations.all.contains(observation), "\(problem)")
            }
            #expect(cluster.observations.all.contains(.replicaChanged(name: name, reason: nil)))
        }
    }

    @Test("A read that allows replicas comes from one, and another read from the primary")
    func reads() async throws {
        try await Self.withCluster { cluster in
            let first = try await cluster.origins { try await Self.read($0) }
            #expect(first == [.primary], "no replica is used yet")
            await cluster.probe(until: nil)
            var origins: [ReadSource.Origin] = []
            // A replica has a second for an answer, so that a busy machine may need another attempt.
            for _ in 0..<20 where origins != [.replica(0)] {
                await cluster.probe(until: nil)
                origins = try await cluster.origins { try await Self.read($0) }
            }
            #expect(origins == [.replica(0)])
            #expect(cluster.replicas.status[0].reads > 0)
            let origin = try await cluster.router.withSource(of: Self.store, for: nil) { $0.origin }
            #expect(origin == .primary)
        }
    }

    @Test("If a replica has an older state than its probe found, the read fails there, and the primary repeats it")
    func laggingReads() async throws {
        try await Self.withCluster { cluster in
            let lag = Self.replayed("SELECT ''0/1''::pg_lsn")
            let name = Replica.name(of: cluster.replica)
            var reasons: [String] = []
            // A replica has a second for an answer, so that a busy machine may need another attempt.
            for _ in 0..<20 where reasons != [ReplicaProblem.lagging.rawValue] {
                try await cluster.run(Self.replayed("SELECT pg_current_wal_insert_lsn()"))
                await cluster.probe(until: nil)
                let earlier = cluster.observations.all.count
                let origins = try await cluster.origins { source in
                    if source.origin == .replica(0) {
                        try await cluster.run(lag)
                        #expect(source.isReplaced(after: ReplicaProblem.lagging))
                    }
                    try await Self.read(source)
                }
                #expect(origins == [.replica(0), .primary])
                reasons = cluster.observations.all.dropFirst(earlier).compactMap { observation -> String? in
                    if case .replicaPassedOver(name, let reason) = observation { reason } else { nil }
                }
                #expect(reasons.count == 1)
            }
            #expect(reasons == [ReplicaProblem.lagging.rawValue])
            // The next read does not ask it.
            #expect(cluster.replicas.status[0].problem == ReplicaProblem.lagging.rawValue)
            let next = try await cluster.origins { try await Self.read($0) }
            #expect(next == [.primary])
        }
    }

    @Test("A long read checks the state of the replica before its transaction")
    func longReads() async throws {
        try await Self.withCluster { cluster in
            await cluster.probe(until: nil)
            let read = try #require(cluster.replicas.choose(for: nil))
            let query: PostgresStatement = "SELECT current_setting('transaction_isolation')"
            let isolation = try await read.snapshot(within: .shelf) {
                try $0.query(query) { try $0.first { try $0.text(0) } }
            }
            #expect(isolation == "repeatable read")
            try await cluster.run(Self.isStandby("SELECT false"))
            await #expect(throws: ReplicaProblem.promoted) {
                try await read.snapshot(within: .shelf) { _ in Issue.record("the read ran") }
            }
            #expect(cluster.replicas.status[0].problem == ReplicaProblem.promoted.rawValue)
        }
    }

    @Test("A replica whose connections fail is passed over, and an error of a statement only repeats the read")
    func failedReads() async throws {
        try await Self.withCluster { cluster in
            await cluster.probe(until: nil)
            let replicas = cluster.replicas
            replicas.readFailed(PostgresError(.server, "secret", sqlState: SQLState("40001")), 0)
            replicas.readFailed(ReplicaProblem.lagging, 0)
            replicas.readFailed(CancellationError(), 0)
            #expect(replicas.status[0].isUsable)
            for kind: PostgresError.Kind in [.connection, .deadline] {
                replicas.readFailed(PostgresError(kind, "secret"), 0)
                #expect(replicas.status[0].problem == ReplicaProblem.unreachable.rawValue)
                await cluster.probe(until: nil)
            }
            let reasons = cluster.observations.all.compactMap { observation -> String? in
                if case .replicaPassedOver(_, let reason) = observation { reason } else { nil }
            }
            #expect(
                reasons == [
                    "PostgresError(server, SQLSTATE 40001)", ReplicaProblem.lagging.rawValue, "CancellationError",
                    "PostgresError(connection)", "PostgresError(deadline)",
                ]
            )
            // A report about an earlier epoch is not used.
            let other = EpochRecord(identity: "42/00000001/5/6", startedAt: 1)!
            let report = ReplicaReport(isStandby: false, replayed: nil, epochStart: nil)
            replicas.replicaReported(report, 0, of: other)
            #expect(replicas.status[0].isUsable)
        }
    }

    @Test("The doctor recognizes a standby that follows, one that lags, and other servers")
    func doctor() async throws {
        try await Self.withCluster { cluster in
            let pool = PostgresPool(cluster.primary, options: .init(size: 1))
            defer { pool.shutDown() }
            func problems(
                of replica: PostgresConfiguration,
                lagLimit: Duration = .zero,
                servers: Int = 1
            ) async throws -> [String] {
                let doctor = ReplicaDoctor(primary: pool, lagLimit: lagLimit)
                let findings = try await doctor.examine([replica], servers: servers, with: ConnectionCounts())
                return findings.filter { !$0.isOK }.map(\.text)
            }
            #expect(try await problems(of: cluster.replica, lagLimit: .seconds(60)) == [])
            let many = try await problems(of: cluster.replica, lagLimit: .seconds(60), servers: 100_000)
            #expect(many.count == 1 && many.first?.contains("needs up to 700000 of ") == true)
            try await cluster.run(Self.replayed("SELECT ''0/1''::pg_lsn"))
            #expect(try await problems(of: cluster.replica).first?.contains("lags behind") == true)
            try await cluster.run(Self.isStandby("SELECT false"))
            #expect(try await problems(of: cluster.replica).first?.contains("is not a standby") == true)
            var missing = cluster.replica
            missing.dsn = "host=/nonexistent/replica port=1 dbname=postgres"
            #expect(try await problems(of: missing).first?.contains("cannot be reached") == true)
        }
    }
}
