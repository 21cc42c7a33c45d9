import Catalog
import LibPQ
import Testing

@testable import CatalogPostgres

/// The first states of monitors, and the doctor's findings about connections and replays at their limits.
@Suite(.timeLimit(.minutes(15))) struct DoctorConnectionTests {
    @Test("Servers may need all connections of the database, and not one more", arguments: [1, 2])
    func connections(_ servers: Int) {
        let needed = servers * ConnectionCounts().total
        let fits = Doctor.connections(servers, ConnectionCounts(), available: needed)
        #expect(fits.verdict == .ok && fits.remedy == nil)
        let words = servers == 1 ? "1 server needs" : "2 servers need"
        #expect(fits.text == "\(words) up to \(needed) of \(needed) connections")
        let exceeds = Doctor.connections(servers, ConnectionCounts(), available: needed - 1)
        #expect(exceeds.verdict == .problem)
        #expect(exceeds.text == "\(words) up to \(needed) of \(needed - 1) connections")
        #expect(exceeds.remedy?.contains("max_connections") == true)
        #expect(exceeds.remedy?.contains("AISLE_POOL_SIZE") == true)
    }

    @Test(
        "A replica follows from the position of the primary on, and one that replays nothing never does",
        arguments: [(nil, 0, false), (nil, 1, false), (0, 0, true), (0, 1, false), (1, 1, true), (2, 1, true)]
            as [(Int64?, Int64, Bool)]
    )
    func replays(_ replayed: Int64?, _ offset: Int64, _ isCurrent: Bool) {
        let primary = LogPosition(cluster: 1, timeline: 1, offset: offset)
        let state = ReplicaDoctor.State(
            isStandby: true,
            cluster: 1,
            replayed: replayed,
            settings: [:],
            schema: .current,
            availableConnections: 5
        )
        #expect(state.hasReplayed(primary) == isCurrent)
        let findings = ReplicaDoctor.findings("db", state, primary: primary, needed: 5)
        #expect(findings.first?.verdict == (isCurrent ? .ok : .problem))
        #expect(findings.allSatisfy { $0.verdict == .ok } == isCurrent)
    }

    @Test("A selection of replicas begins without a primary that answers, an epoch, a lag and a usable replica")
    func newSelection() {
        var selection = ReplicaSelection(count: 2, lagLimit: .seconds(10))
        #expect(!selection.primaryResponds && selection.epoch == nil && !selection.hasUsableReplica)
        for index in 0..<2 { #expect(selection.problem(index) == .unreachable && selection.lag(index) == nil) }
        #expect(selection.requirement(for: nil) == nil)
        #expect(selection.choose(for: nil) == nil)
        let epoch = EpochRecord(identity: "1/00000001/5/6", startedAt: 1)!
        selection.primaryReported(epoch, position: 1, at: .now)
        #expect(selection.primaryResponds && !selection.hasUsableReplica)
    }

    @Test("A server state with nothing found has no finding, and a database without shelves in use needs no memory")
    func emptyStates() {
        #expect(DoctorOperations.findings(DoctorOperations.ServerState()).isEmpty)
        let unarchived = DoctorOperations.ServerState(archives: false)
        #expect(DoctorOperations.findings(unarchived).map(\.verdict) == [.advice])
        let failing = DoctorOperations.ServerState(archivingFails: true)
        #expect(DoctorOperations.findings(failing).map(\.verdict) == [.problem])
        let shelves = DoctorShelves().findings(limit: 0)
        #expect(shelves.map(\.verdict) == [.ok])
        #expect(shelves.first?.text.hasPrefix("shelves used in the last day: 0, with 0 products") == true)
    }

    @Test("New totals of a re-sort are zero, and each count is a sum")
    func totals() {
        let none = ResortSummary()
        #expect(none.counts.map(\.count) == [0, 0, 0, 0, 0] && !none.isFoldPostponed && !none.isChange)
        var part = ResortSummary()
        (part.events, part.products, part.shelves, part.changed, part.moved) = (1, 2, 3, 4, 5)
        part.isFoldPostponed = true
        var total = none
        for _ in 0..<2 { total.add(part) }
        #expect(total.counts.map(\.count) == [2, 4, 6, 8, 10] && total.isFoldPostponed && total.isChange)
        total.add(none)
        #expect(total.isFoldPostponed)
        // Processed shelves and moves within them are not changes themselves.
        for (change, isChange) in [
            ({ $0.events = 1 }, true), ({ $0.products = 1 }, true), ({ $0.changed = 1 }, true),
            ({ $0.shelves = 1 }, false),
        ] as [((inout ResortSummary) -> Void, Bool)] {
            var summary = ResortSummary()
            change(&summary)
            #expect(summary.isChange == isChange)
        }
    }
}
