import Catalog
import LibPQ
import Testing

@testable import CatalogPostgres

/// The doctor's findings at their limits, and the steps of migrations in words.
@Suite(.timeLimit(.minutes(15))) struct DoctorLimitTests {
    private static func verdicts(_ findings: [Doctor.Finding]) -> [Doctor.Finding.Verdict] { findings.map(\.verdict) }

    @Test("A finding without a problem has no remedy, and advice is not a failure")
    func findings() {
        let fine = Doctor.Finding(true, "text", "remedy")
        #expect(fine.verdict == .ok && fine.isOK && fine.remedy == nil)
        let problem = Doctor.Finding(false, "text", "remedy")
        #expect(problem.verdict == .problem && !problem.isOK && problem.remedy == "remedy")
        let advice = Doctor.Finding(advice: "text", "remedy")
        #expect(advice.verdict == .advice && advice.isOK && advice.remedy == "remedy")
    }

    @Test("Transaction ids are old from half of their number on")
    func transactionIDs() {
        for (age, expected) in [(999_999_999, []), (1_000_000_000, [.problem])] as [(Int64, [Doctor.Finding.Verdict])] {
            let state = DoctorOperations.ServerState(transactionAge: age)
            #expect(Self.verdicts(DoctorOperations.findings(state)) == expected)
        }
    }

    @Test("A re-sort is old after 26 hours")
    func oldResorts() {
        let now = Timestamp(microseconds: 1_750_000_000_000_000)
        let limit: Int64 = 26 * 3_600_000_000
        for (age, expected) in [(limit, .ok), (limit + 1, .advice)] as [(Int64, Doctor.Finding.Verdict)] {
            let end = Timestamp(microseconds: now.microseconds - age)
            let run = ResortRun(
                number: 1,
                state: .done,
                startedAt: end,
                endedAt: end,
                request: "{}",
                failure: nil,
                summary: ResortSummary()
            )
            #expect(Self.verdicts(DoctorOperations.findings([run], now: now)) == [expected])
        }
    }

    @Test(
        "Shelves in use may need all of the memory, at 400 bytes for each product, and changes are kept for two hours"
    )
    func shelves() {
        let state = DoctorShelves(shelves: 1, products: 10, oldestChange: 2)
        #expect(Self.verdicts(state.findings(limit: 4_000)) == [.ok])
        #expect(Self.verdicts(state.findings(limit: 3_999)) == [.advice])
        let old = DoctorShelves(shelves: 1, products: 10, oldestChange: 3)
        #expect(Self.verdicts(old.findings(limit: 4_000)) == [.ok, .advice])
    }

    @Test("A replica may delay its replay for at most 30 seconds, and must have the whole log of the primary")
    func replicas() {
        let primary = LogPosition(cluster: 1, timeline: 1, offset: 100)
        func problems(delay: String, replayed: Int64? = 100, needed: Int = 5) -> [Doctor.Finding] {
            let state = ReplicaDoctor.State(
                isStandby: true,
                cluster: 1,
                replayed: replayed,
                settings: ["hot_standby_feedback": "on", "max_standby_streaming_delay": delay],
                schema: .current,
                availableConnections: 5
            )
            return ReplicaDoctor.findings("db", state, primary: primary, needed: needed).filter { $0.verdict != .ok }
        }
        #expect(problems(delay: "0").isEmpty && problems(delay: "30000").isEmpty)
        #expect(problems(delay: "30001").map(\.verdict) == [.advice])
        #expect(problems(delay: "90000").first?.text.contains("is 90 s") == true)
        #expect(problems(delay: "-1").first?.text.contains("is unlimited") == true)
        #expect(problems(delay: "0", replayed: nil).map(\.verdict) == [.problem])
        #expect(problems(delay: "0", replayed: 101).isEmpty)
        #expect(problems(delay: "0", needed: 6).map(\.verdict) == [.problem])
    }

    @Test("A cluster has lost workers if one is disabled, cannot be reached, or has lost shards")
    func lostWorkers() {
        func cluster(isActive: Bool = true, lostShards: Int = 0, unreachable: [String] = []) -> ClusterState {
            let node = ClusterState.Node(
                name: "a:1",
                isCoordinator: false,
                isActive: isActive,
                shards: 3,
                lostShards: lostShards
            )
            var state = ClusterState(version: "1", isCoordinator: true, nodes: [node])
            state.unreachableNodes = unreachable
            return state
        }
        #expect(!cluster().hasLostWorkers)
        #expect(cluster(isActive: false).hasLostWorkers)
        #expect(cluster(lostShards: 1).hasLostWorkers)
        #expect(cluster(unreachable: ["a:1"]).hasLostWorkers)
    }

    @Test("The steps of migrations are described")
    func steps() {
        let steps: [(Migrator.Step, String)] = [
            (.collation, "collation catalog, which a later migration drops"), (.up(version: 3, name: "x"), "v3 x"),
            (.down(version: 4, name: "y"), "v4 y, reverted"), (.distribution(tables: 5), "distribution of 5 tables"),
            (.distribution(tables: nil), "distribution of the tables"),
        ]
        for (step, text) in steps { #expect(step.description == text) }
    }
}
