import Catalog
import Testing

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
