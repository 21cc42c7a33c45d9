import Catalog
import LibPQ
import Testing
import TestSupport

@testable import CatalogPostgres

/// The doctor's checks of archiving, replication slots, transaction ids and re-sorts.
@Suite(.timeLimit(.minutes(15))) struct DoctorOperationsTests {
    private typealias State = DoctorOperations.ServerState

    @Test("A server that archives and has no old slots or transactions has no findings")
    func healthyServer() { #expect(DoctorOperations.findings(State()).isEmpty) }

    @Test("Each problem of a server is reported with a remedy")
    func serverProblems() {
        let states: [(State, Doctor.Finding.Verdict, String)] = [
            (State(archives: false), .advice, "archive_mode"),
            (State(archivingFails: true), .problem, "archive_command"),
            (State(idleSlots: ["old"]), .problem, "pg_drop_replication_slot('old')"),
            (State(transactionAge: 1_500_000_000), .problem, "VACUUM"),
        ]
        for (state, verdict, remedy) in states {
            let findings = DoctorOperations.findings(state)
            #expect(findings.map(\.verdict) == [verdict])
            #expect(findings.first?.remedy?.contains(remedy) == true)
        }
    }

    @Test("Shelves in use that exceed the memory, and changes that no server deletes, are reported with a remedy")
    func shelves() {
        let small = DoctorShelves(shelves: 3, products: 1000, oldestChange: 1)
        #expect(small.findings(limit: 1 << 20).map(\.verdict) == [.ok])
        #expect(small.findings(limit: 1 << 20).first?.text.contains("3, with 1000 products") == true)
        let large = DoctorShelves(shelves: 9000, products: 1_000_000, oldestChange: 30).findings(limit: 100 << 20)
        #expect(large.map(\.verdict) == [.advice, .advice])
        #expect(large.first?.text.contains("381 MB") == true)
        #expect(large.first?.remedy?.contains("AISLE_SHELF_MEMORY to 382") == true)
        #expect(large.last?.text.contains("30 hours") == true)
    }

    @Test("The shelves in use are those with an image that was used in the last day")
    func shelvesInUse() async throws {
        try await withCatalog { (catalog: PostgresCatalog) in
            let state = try await catalog.database.writes.perform { connection in
                try connection.run(
                    script: """
                        INSERT INTO store (store_id, key, title, currency, locale, unit_pricing, sold_out, popularity_metric,
                            popularity_half_life_days, newcomer_boost)
                        OVERRIDING SYSTEM VALUE VALUES (1, 's', 'S', 'EUR', 'en', 'eu', 'last', 'decay', 14, 0);
                        INSERT INTO store_state (store_id) VALUES (1);
                        INSERT INTO shelf (store_id, shelf_id, key, title, title_key, position, modified_at, product_count)
                        SELECT 1, n, n, n, '', int4send(n), now(), 10 * n FROM generate_series(1, 3) n;
                        INSERT INTO shelf_image (store_id, shelf_id, version, format, used_at, image)
                        SELECT 1, n, 1, 1, now() - n * interval '10 hours', '' FROM generate_series(1, 3) n;
                        INSERT INTO shelf_change (store_id, shelf_id, version, previous_version, skus)
                        SELECT 1, 1, (extract(epoch FROM now() - n * interval '1 hour') * 1000000)::bigint, 1, '{}'
                        FROM generate_series(1, 5) n
                        """
                )
                return try DoctorShelves.read(connection)
            }
            #expect(state.shelves == 2)
            #expect(state.products == 30)
            #expect(state.oldestChange == 5)
        }
    }

    private func run(_ state: ResortRun.State, endedHoursAgo hours: Int64?) -> ResortRun {
        let end = hours.map { Timestamp(microseconds: Timestamp.now().microseconds - $0 * 3_600_000_000) }
        return ResortRun(
            number: 1,
            state: state,
            startedAt: end ?? .now(),
            endedAt: end,
            request: "{}",
            failure: nil,
            summary: ResortSummary()
        )
    }

    @Test("A failed, an interrupted and a missed re-sort are reported; a running one is ignored")
    func resorts() {
        func verdicts(_ runs: [ResortRun]) -> [Doctor.Finding.Verdict] {
            DoctorOperations.findings(runs, now: .now()).map(\.verdict)
        }
        #expect(verdicts([]).isEmpty)
        #expect(verdicts([run(.running, endedHoursAgo: nil)]).isEmpty)
        #expect(verdicts([run(.running, endedHoursAgo: nil), run(.done, endedHoursAgo: 1)]) == [.ok])
        #expect(verdicts([run(.done, endedHoursAgo: 25)]) == [.ok])
        #expect(verdicts([run(.done, endedHoursAgo: 27)]) == [.advice])
        #expect(verdicts([run(.failed, endedHoursAgo: 1), run(.done, endedHoursAgo: 25)]) == [.problem])
        #expect(verdicts([run(.interrupted, endedHoursAgo: nil)]) == [.problem])
    }
}
