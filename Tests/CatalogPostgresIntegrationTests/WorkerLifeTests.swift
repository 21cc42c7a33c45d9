import LibPQ
import TestSupport
import Testing

@testable import CatalogPostgres

/// The records of a cluster's workers, which also show on one server when a new epoch begins.
@Suite(
    .disabled(if: CitusServers.prefix != nil, "the monitors record the workers of a cluster"),
    .timeLimit(.minutes(15))
) struct WorkerLifeTests {
    private static func identities(_ catalog: PostgresCatalog) async throws -> [String] {
        try await catalog.database.writes.perform { connection in
            try connection.query("SELECT identity FROM database_life ORDER BY identity COLLATE \"C\"") {
                try $0.map { try $0.text(0) }
            }
        }
    }

    private static func run(_ script: String, _ catalog: PostgresCatalog) async throws {
        try await catalog.database.writes.perform { try $0.run(script: script) }
    }

    private static func record(_ worker: Int, _ life: String, _ catalog: PostgresCatalog) async throws {
        let identity = WorkerIdentity(worker: "worker \(worker)", life: life)
        try await catalog.database.writes.perform { try DatabaseEpoch.record(identity, $0) }
    }

    private static let epoch = "INSERT INTO database_life (identity, started_at) VALUES ('epoch', 1)"

    @Test("Another life of a worker replaces its former ones and ends the epoch; a new worker or a known life does not")
    func lives() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            try await Self.run("DELETE FROM database_life; \(Self.epoch)", catalog)
            for worker in [1, 2, 10] { try await Self.record(worker, "7/00000001", catalog) }
            try await Self.record(1, "7/00000001", catalog)
            let others = ["worker 10/7/00000001", "worker 2/7/00000001"]
            #expect(try await Self.identities(catalog) == ["epoch", "worker 1/7/00000001"] + others)
            try await Self.record(1, "7/00000002", catalog)
            #expect(try await Self.identities(catalog) == ["worker 1/7/00000002"] + others)
            // Another server notices it later, in the new epoch.
            try await Self.run(Self.epoch, catalog)
            try await Self.record(1, "7/00000002", catalog)
            #expect(try await Self.identities(catalog) == ["epoch", "worker 1/7/00000002"] + others)
            // Servers recorded two lives at the same time.
            try await Self.run(
                "INSERT INTO database_life (identity, started_at) VALUES ('worker 1/8/00000001', 1), ('worker 1/9/00000001', 1)",
                catalog
            )
            try await Self.record(1, "7/00000003", catalog)
            #expect(try await Self.identities(catalog) == ["worker 1/7/00000003"] + others)
        }
    }
}
