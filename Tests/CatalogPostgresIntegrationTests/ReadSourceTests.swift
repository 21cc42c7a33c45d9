import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// Reads that a replica or a worker may answer instead of the primary.
@Suite("Read sources", .timeLimit(.minutes(15))) struct ReadSourceTests {
    @Test("The primary repeats what a replica could not read, unless the read was cancelled")
    func repeatsReads() {
        for kind in [PostgresError.Kind.server, .connection, .deadline, .exhausted] {
            #expect(ReplicaProblem.isRepeatable(PostgresError(kind, "failed")))
        }
        #expect(ReplicaProblem.isRepeatable(ReplicaProblem.lagging))
        #expect(!ReplicaProblem.isRepeatable(PostgresError(.cancelled, "the task was cancelled")))
        #expect(!ReplicaProblem.isRepeatable(WorkerProblem.notFound))
    }

    @Test("Only a replica with an older state than an earlier read is passed over")
    func requiresCommits() throws {
        try ReadSource.Origin.primary.requireCommits(if: true)
        try ReadSource.Origin.worker.requireCommits(if: true)
        try ReadSource.Origin.replica(0).requireCommits(if: false)
        #expect(throws: ReplicaProblem.lagging) { try ReadSource.Origin.replica(0).requireCommits(if: true) }
    }

    @Test("A part of the queries folds its rows under the numbers of all queries, into the values so far")
    func partsKeepNumbers() async throws {
        let statement: PostgresStatement = """
            SELECT w.number, w.id FROM unnest($1::bigint[]) WITH ORDINALITY AS w (id, number)
            """
        let shared = [Int64(1), 2, 3].map { SharedQuery(statement, key: [.int8($0)]) }
        let own = [PostgresQuery("SELECT 4"), PostgresQuery("SELECT 5")]
        let queries = ReadQueries<[Int], [Int]>(
            sharing: shared,
            into: [],
            { numbers, number, _ in numbers.append(number) },
            then: own,
            into: [],
            { numbers, number, _ in numbers.append(number) }
        )
        let part = queries.part([nil, shared[1], shared[2]], [nil, own[1]], into: ([-1], [-2]))
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let shortReads = catalog.database.router.shortReads
            let found = try await shortReads.read(part)
            #expect(found.shared.sorted() == [-1, 1, 2])
            #expect(found.own == [-2, 1])
            let checked = try await shortReads.read(checking: shared[0], { try $0.int8(1) }, before: part)
            #expect(checked.state == 1)
            #expect(checked.values.shared.sorted() == [-1, 1, 2])
            #expect(checked.values.own == [-2, 1])
        }
    }
}
