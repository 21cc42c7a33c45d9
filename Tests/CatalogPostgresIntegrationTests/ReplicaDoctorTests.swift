import Catalog
import LibPQ
import Testing

@testable import CatalogPostgres

/// The findings of the doctor about a replica.
@Suite("Replica doctor", .timeLimit(.minutes(15))) struct ReplicaDoctorTests {
    private static let primary = LogPosition(cluster: 42, timeline: 1, offset: 100)
    private static let good = ReplicaDoctor.State(
        isStandby: true,
        cluster: 42,
        replayed: 100,
        settings: ["hot_standby_feedback": "on", "max_standby_streaming_delay": "10000"],
        schema: .current,
        availableConnections: 97
    )

    private func findings(_ change: (inout ReplicaDoctor.State) -> Void = { _ in }, needed: Int = 9) -> [Doctor.Finding]
    {
        var state = Self.good
        change(&state)
        return ReplicaDoctor.findings("db2:5432", state, primary: Self.primary, needed: needed)
    }

    @Test("A standby that follows the primary has no problem and needs no advice")
    func acceptsGoodReplica() {
        #expect(findings().allSatisfy { $0.verdict == .ok })
        #expect(findings().count == 3)
    }

    @Test("A server that cannot answer reads is a problem")
    func reportsProblems() {
        func problems(_ change: (inout ReplicaDoctor.State) -> Void) -> [String] {
            findings(change).filter { !$0.isOK }.map(\.text)
        }
        #expect(problems { $0.cluster = 43 } == ["replica db2:5432: is not a copy of the primary"])
        #expect(problems { $0.isStandby = false } == ["replica db2:5432: is not a standby"])
        #expect(problems { $0.replayed = 99 } == ["replica db2:5432: lags behind the primary"])
        #expect(problems { $0.schema = .empty }.count == 1)
        #expect(problems { $0.availableConnections = 8 } == ["replica db2:5432: needs up to 9 of 8 connections"])
    }

    @Test("Settings that cancel reads or delay the replay get advice")
    func advises() {
        let feedback = findings { $0.settings["hot_standby_feedback"] = "off" }.filter { $0.verdict == .advice }
        #expect(feedback.first?.remedy?.contains("hot_standby_feedback = on") == true)
        for delay in ["-1", "60000"] {
            let found = findings { $0.settings["max_standby_streaming_delay"] = delay }.filter { $0.verdict == .advice }
            #expect(found.first?.remedy?.contains("max_standby_streaming_delay") == true)
        }
    }

    @Test(
        "A replica's name has the host and the port, and never a password",
        arguments: [
            ("postgresql://aisle:secret@db2.example:6543/aisle", "db2.example:6543"),
            ("host=db2 user=aisle password=secret", "db2:5432"), ("host=a,b port=1,2", "a,b:1,2"),
            ("", "localhost:5432"),
        ]
    )
    func namesReplicas(dsn: String, name: String) {
        #expect(Replica.name(of: PostgresConfiguration(dsn: dsn)) == name)
    }
}
