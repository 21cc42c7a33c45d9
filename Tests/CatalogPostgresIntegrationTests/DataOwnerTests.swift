import Catalog
import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The shards of owners.
@Suite(.timeLimit(.minutes(5)))
struct DataOwnerTests {
    @Test("The hashes are those of PostgreSQL")
    func hashesLikePostgreSQL() async throws {
        let numbers: [Int32] = [.min, -1, 0, 1, 2, 77, 102_036, .max]
        // All lengths around those that are hashed in one step, with bytes beyond ASCII.
        let names = (1...40).map { String(repeating: "xß", count: $0).prefix($0) } + ["ann", "guest:8f2c", "Ž", "👩‍🌾"]
        let users = names.map { UserID($0)! }
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            let (ofNumbers, ofNames) = try await catalog.database.writes.perform(within: .lookup) { connection in
                (
                    try connection.query(
                        "SELECT hashint4(n::integer) FROM unnest($1::bigint[]) AS n",
                        [.int8Array(numbers.map { Int64($0) })]
                    ) { try $0.map { try $0.int4(0) } },
                    try connection.query(
                        "SELECT hashtext(n COLLATE \"C\") FROM unnest($1::text[]) AS n",
                        [.textArray(users.map(\.text))]
                    ) { try $0.map { try $0.int4(0) } }
                )
            }
            #expect(numbers.map { DataOwner.store($0).hash } == ofNumbers)
            #expect(users.map { DataOwner.user($0).hash } == ofNames)
        }
    }

    @Test("A hash finds the shard whose range has it")
    func findsShards() {
        let worker = WorkerAddress(host: "worker", port: 5432)
        let placements = [(3, 10...Int32.max), (1, Int32.min...(-1)), (2, 0...5)].map { (shard: Int64, hashes) in
            ShardRanges.Placement(shard: shard, worker: worker, hashes: hashes)
        }
        let group = ShardRanges.Group(placements)
        let found = [Int32.min, -1, 0, 5, 6, 9, 10, .max].map { group.placement(of: $0)?.shard }
        #expect(found == [1, 1, 2, 2, nil, nil, 3, 3])
        #expect(ShardRanges.Group().placement(of: 0) == nil)
    }
}
