import Catalog
import LibPQ
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// The meaning of database errors for requests, and the sizes and settings of the lanes.
@Suite(.timeLimit(.minutes(15))) struct DatabaseDecisionTests {
    private static func server(_ state: String, constraint: String? = nil) -> PostgresError {
        PostgresError(.server, "secret", sqlState: SQLState(state), constraint: constraint)
    }

    // MARK: - Errors

    @Test(
        "An error that may not recur means that the database is unavailable",
        arguments: ["08006", "53300", "57P01", "57P03", "55P03", "40001", "40P01", "57014"]
    )
    func unavailable(_ state: String) { #expect(CatalogError(Self.server(state)) == .unavailable) }

    @Test("The kind of an error without a code decides")
    func kinds() {
        for kind: PostgresError.Kind in [.connection, .exhausted, .deadline, .conflict] {
            #expect(CatalogError(PostgresError(kind, "secret")) == .unavailable, "\(kind)")
        }
        #expect(CatalogError(PostgresError(.cancelled, "secret")) == .cancelled)
        for kind: PostgresError.Kind in [.decoding, .misuse, .server] {
            guard case .fault(let text) = CatalogError(PostgresError(kind, "secret")) else {
                Issue.record("\(kind) is not a fault")
                continue
            }
            #expect(text.contains("secret"))
        }
    }

    @Test("A read-only database and a cancelled task have errors of their own, and a domain error stays as it is")
    func otherErrors() {
        #expect(CatalogError(Self.server("25006")) == .readOnly)
        #expect(CatalogError(CancellationError()) == .cancelled)
        #expect(CatalogError(CatalogError.keyReused) == .keyReused)
        struct Other: Error {}
        guard case .fault = CatalogError(Other()) else {
            Issue.record("an unknown error is not a fault")
            return
        }
    }

    @Test("A value that the database rejects is unprocessable, with the constraint as its field")
    func rejectedValues() {
        for state in ["23514", "23502", "54000", "54001", "22001", "22P02"] {
            guard case .unprocessable(let field, let detail) = CatalogError(Self.server(state, constraint: "c")) else {
                Issue.record("\(state) is not unprocessable")
                continue
            }
            #expect(field == "c")
            #expect(!detail.contains("secret"))
        }
        guard case .unprocessable("", _) = CatalogError(Self.server("22003")) else {
            Issue.record("a value out of range is not unprocessable")
            return
        }
        for state in ["42P01", "23503", "XX000", "42501"] {
            guard case .fault = CatalogError(Self.server(state)) else {
                Issue.record("\(state) is not a fault")
                continue
            }
        }
    }

    @Test(
        "A violation of a key is a conflict about the shelf, the product, or something else",
        arguments: [
            ("shelf_parent_fkey", "shelf was changed"), ("placement_shelf_fkey", "shelf was changed"),
            ("placement_shelf_fkey_102008", "shelf was changed"), ("placement_product_fkey", "product was deleted"),
            ("placement_product_fkey_1", "product was deleted"), ("placement_product_fkey_a", nil),
            ("placement_product_fkeys", nil), ("other_fkey", nil),
        ] as [(String, String?)]
    )
    func conflicts(_ constraint: String, _ text: String?) {
        let error = CatalogError(Self.server("23503", constraint: constraint))
        if let text {
            guard case .conflict(let found) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(found.contains(text))
        } else {
            guard case .fault = error else {
                Issue.record("\(error)")
                return
            }
        }
        guard case .conflict(let repeated) = CatalogError(Self.server("23505", constraint: constraint)) else {
            Issue.record("a unique violation is not a conflict")
            return
        }
        #expect(repeated.contains("same resource"))
    }

    /// Returns the observation of an error, and the mapped error.
    private static func observed(_ error: any Error) async -> ([DatabaseObservation], CatalogError?) {
        let observations = Observations()
        let observer = Observer<DatabaseObservation> { observations.add($0) }
        do throws(CatalogError) {
            try await observer.mappingErrors { () async throws -> Void in throw error }
            return (observations.all, nil)
        } catch { return (observations.all, error) }
    }

    /// Collects observations.
    private final class Observations: Sendable {
        private let list = Mutex<[DatabaseObservation]>([])
        var all: [DatabaseObservation] { list.withLock { $0 } }
        func add(_ observation: DatabaseObservation) { list.withLock { $0.append(observation) } }
    }

    @Test("Errors of the database are counted by their class, and notable ones are logged")
    func observations() async {
        let lost = PostgresError(.connection, "secret")
        #expect(
            await Self.observed(lost).0 == [
                .databaseError(kind: "connection"), .databaseUnavailable(reason: "PostgresError(connection)"),
            ]
        )
        #expect(
            await Self.observed(Self.server("25006")).0 == [
                .databaseError(kind: "25"), .databaseUnavailable(reason: "PostgresError(server, SQLSTATE 25006)"),
            ]
        )
        #expect(
            await Self.observed(Self.server("23514", constraint: "c")).0 == [
                .databaseError(kind: "23"), .validationGap(constraint: "c", sqlState: "23514"),
            ]
        )
        #expect(await Self.observed(Self.server("23505")).0 == [.databaseError(kind: "23")])
        #expect(await Self.observed(CatalogError.unavailable).0 == [])
        #expect(await Self.observed(CatalogError.unavailable).1 == .unavailable)
        #expect(await Self.observed(Self.server("25006")).1 == .readOnly)
    }

    // MARK: - Attempts

    @Test("A body runs until it returns a value, at most as often as it may")
    func attempts() async {
        for (success, limit) in [(1, 3), (3, 3), (4, 3)] {
            var count = 0
            func attempt() -> Int? {
                count += 1
                return count == success ? count : nil
            }
            func attemptNow() -> Int? { try? attempting(limit) { attempt() } }
            let found = attemptNow()
            #expect(found == (success <= limit ? success : nil))
            #expect(count == min(success, limit))
            count = 0
            let later = try? await attempting(limit) { () async throws -> Int? in attempt() }
            #expect(later == found)
            #expect(count == min(success, limit))
        }
        func failing() throws -> Int { try attempting(2) { nil as Int? } }
        #expect(throws: CatalogError.unavailable) { try failing() }
    }

    @Test("All tasks of a group end, and the first failure is thrown")
    func groups() async throws {
        struct Failure: Error, Equatable { let number: Int }
        final class Counter: Sendable { let value = Mutex(0) }
        let ended = Counter()
        let error = await #expect(throws: Failure.self) {
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { throw Failure(number: 1) }
                for number in 2...4 {
                    group.addTask {
                        await Task.yield()
                        ended.value.withLock { $0 += 1 }
                        return number
                    }
                }
                return try await group.allResults()
            }
        }
        #expect(error == Failure(number: 1))
        #expect(ended.value.withLock { $0 } == 3)
        let results = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...3 { group.addTask { number } }
            return try await group.allResults()
        }
        #expect(results.sorted() == [1, 2, 3])
    }

    // MARK: - Connections

    @Test("A server's connections are those of its lanes, three for each import, and three others")
    func connectionTotals() {
        let counts = ConnectionCounts(
            eventLoops: 3,
            pagesPerEventLoop: 5,
            writes: 100,
            longReads: 1_000,
            imports: 10_000,
            batch: 200_000
        )
        #expect(counts.total == 15 + 100 + 1_000 + 30_000 + 200_000 + 3)
        #expect(counts.replicaTotal == 15 + 1_000 + 1)
        #expect(ConnectionCounts().total == 2 + 8 + 4 + 12 + 2 + 3)
    }

    @Test("Half of the processors are for long reads and event loops, within limits")
    func processors() {
        #expect([1, 4, 5, 6, 8, 16, 64].map { ConnectionCounts.longReads(processors: $0) } == [2, 2, 2, 3, 4, 8, 8])
        #expect([1, 2, 3, 4, 8, 16, 64].map { ConnectionCounts.eventLoops(processors: $0) } == [1, 1, 1, 2, 4, 8, 8])
    }

    @Test("Each lane has its connections and its settings")
    func lanes() async throws {
        let database = try Database(
            TestServer.configuration,
            connections: ConnectionCounts(
                eventLoops: 3,
                pagesPerEventLoop: 2,
                writes: 7,
                longReads: 5,
                imports: 4,
                batch: 8
            ),
            waitLimit: .milliseconds(1_234)
        )
        defer { database.shutDown() }
        let uses = database.laneUses
        #expect(uses.map(\.lane) == ["pages", "long_reads", "writes", "imports", "batch"])
        #expect(uses.map(\.limit) == [6, 5, 7, 4, 8])
        #expect(uses.map(\.open) == [6, 0, 0, 0, 0])
        #expect(uses.map(\.inUse) == [nil, 0, 0, 0, 0])
        #expect(uses.map(\.waiting) == [0, 0, 0, 0, 0])
        let settings = [database.longReads, database.writes, database.imports, database.batch].map {
            $0.configuration.settings
        }
        #expect(settings.map { $0["lock_timeout"] } == [nil, "1234", "10min", "3s"])
        #expect(settings.map { $0["statement_timeout"] } == ["30s", "300s", "2h", "300s"])
        #expect(settings.map { $0["enable_seqscan"] } == ["off", "off", nil, nil])
        let generic = "force_generic_plan"
        #expect(settings.map { $0["plan_cache_mode"] } == [generic, generic, "auto", generic])
        for lane in settings {
            #expect(lane["jit"] == "off" && lane["max_parallel_workers_per_gather"] == "0")
            #expect(lane["idle_in_transaction_session_timeout"] == "15s")
            #expect(lane["client_connection_check_interval"] == "2s")
            #expect(lane["tcp_keepalives_idle"] == "10" && lane["tcp_keepalives_interval"] == "5")
            #expect(lane["tcp_keepalives_count"] == "3")
        }
        #expect(DatabaseSettings.pages["statement_timeout"] == "5s")
        #expect(DatabaseSettings.pages["enable_seqscan"] == "off")
        #expect(DatabaseSettings.pages["lock_timeout"] == nil)
        let citus = try #require(database.writes.configuration.extensionSettings)
        #expect(citus.marker == "citus.shard_count")
        #expect(citus.settings["plan_cache_mode"] == "force_custom_plan")
    }
}
