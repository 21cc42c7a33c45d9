import Catalog
import Testing

@testable import CatalogPostgres

/// Which replica answers a read, from reports and times, without a database.
@Suite("Replica selection", .timeLimit(.minutes(15))) struct ReplicaSelectionTests {
    private static let first = EpochRecord(identity: "42/00000001/5/6", startedAt: 100)!
    private static let second = EpochRecord(identity: "42/00000002/5/6", startedAt: 200)!
    private let start = ContinuousClock.now

    private func selection(_ count: Int = 1) -> ReplicaSelection {
        ReplicaSelection(count: count, lagLimit: .seconds(10))
    }

    private func report(_ replayed: Int64, _ epoch: EpochRecord = first) -> ReplicaReport {
        ReplicaReport(isStandby: true, replayed: replayed, epochStart: epoch.startedAt)
    }

    private func position(_ offset: Int64, timeline: UInt32 = 1, cluster: Int64 = 42) -> LogPosition {
        LogPosition(cluster: cluster, timeline: timeline, offset: offset)
    }

    @Test("An identity names the cluster and the timeline; that of a standby is missing")
    func parsesIdentities() {
        #expect(EpochRecord(identity: "42/0000000A/5/6", startedAt: 1)?.timeline == 10)
        #expect(Self.first.cluster == 42)
        #expect(EpochRecord(identity: nil, startedAt: 1) == nil)
        #expect(EpochRecord(identity: "42/00000001/5/6", startedAt: nil) == nil)
        #expect(EpochRecord(identity: "42/1/5", startedAt: 1) == nil)
    }

    @Test("No replica is used before it and the primary have answered")
    func startsWithThePrimary() {
        var selection = selection()
        #expect(selection.choose(for: nil) == nil)
        selection.replicaReported(report(5), 0)
        #expect(selection.choose(for: nil) == nil)
        #expect(selection.problem(0) == .otherHistory)
        selection.primaryReported(Self.first, position: 5, at: start)
        #expect(selection.choose(for: nil) == nil)
        selection.replicaReported(report(5), 0)
        #expect(selection.choose(for: nil)?.index == 0)
    }

    @Test("A server that has just started does not read from a replica that may have been far behind")
    func knowsNoEarlierPositions() {
        var selection = selection()
        selection.primaryReported(Self.first, position: 5, at: start)
        selection.replicaReported(report(4), 0)
        #expect(selection.choose(for: nil) == nil)
        selection.primaryReported(Self.first, position: 9, at: start + .seconds(1))
        selection.replicaReported(report(5), 0)
        #expect(selection.choose(for: nil)?.index == 0)
    }

    @Test("Usable replicas answer in turn")
    func replicasTakeTurns() {
        var selection = selection(3)
        selection.primaryReported(Self.first, position: 5, at: start)
        for index in 0..<3 { selection.replicaReported(report(5), index) }
        #expect((0..<6).map { _ in selection.choose(for: nil)?.index } == [0, 1, 2, 0, 1, 2])
        selection.replicaFailed(.unreachable, 1)
        #expect((0..<4).map { _ in selection.choose(for: nil)?.index } == [0, 2, 0, 2])
    }

    @Test("A position is answered by a replica that has replayed it, and otherwise by the primary")
    func positionsSelectReplicas() throws {
        var selection = selection(2)
        selection.primaryReported(Self.first, position: 5, at: start)
        selection.primaryReported(Self.first, position: 30, at: start + .seconds(1))
        selection.replicaReported(report(10), 0)
        selection.replicaReported(report(20), 1)
        #expect((0..<2).map { _ in selection.choose(for: position(15))?.index } == [1, 1])
        #expect(selection.choose(for: position(20))?.requirement.minimum == 20)
        #expect(selection.choose(for: position(21)) == nil)
        #expect(selection.choose(for: position(1, cluster: 43)) == nil)
        #expect(selection.choose(for: .unknown) == nil)
        // A failover that the server has not noticed.
        #expect(selection.choose(for: position(1, timeline: 2)) == nil)
    }

    @Test("A failover stops the use of replicas until they show the record of the new epoch")
    func failoverStartsAgain() {
        var selection = selection(2)
        selection.primaryReported(Self.first, position: 30, at: start)
        for index in 0..<2 { selection.replicaReported(report(30), index) }
        selection.primaryReported(Self.second, position: 25, at: start + .seconds(1))
        #expect(selection.choose(for: nil) == nil)
        // One still follows the old primary, and has replayed more of its log.
        selection.replicaReported(report(40), 0)
        #expect(selection.problem(0) == .otherHistory)
        selection.replicaReported(report(26, Self.second), 1)
        #expect(selection.choose(for: nil)?.index == 1)
        // Commits of the old epoch that the new one lacks are lost everywhere.
        #expect(selection.choose(for: position(99))?.index == 1)
        #expect(selection.choose(for: position(27, timeline: 2)) == nil)
    }

    @Test("Another standby that was promoted to the same timeline has another record")
    func detectsTwoPrimaries() {
        let requirement = ReplicaRequirement(epoch: Self.second, minimum: 0)
        var other = report(50, Self.second)
        other.epochStart = Self.second.startedAt + 1
        #expect(requirement.problem(of: other) == .otherHistory)
        other.epochStart = nil
        #expect(requirement.problem(of: other) == .otherHistory)
    }

    @Test("A promoted standby is not used, whatever it has replayed")
    func promotedStandbyIsPassedOver() {
        var selection = selection()
        selection.primaryReported(Self.first, position: 5, at: start)
        selection.replicaReported(ReplicaReport(isStandby: false, replayed: 50, epochStart: Self.first.startedAt), 0)
        #expect(selection.problem(0) == .promoted)
        #expect(selection.choose(for: nil) == nil)
        selection.replicaReported(ReplicaReport(isStandby: true, replayed: nil, epochStart: Self.first.startedAt), 0)
        #expect(selection.problem(0) == .promoted)
    }

    @Test("A replica is passed over while it lacks a position that is older than the limit")
    func laggingReplicaIsPassedOver() {
        var selection = selection()
        for second in 0...10 {
            selection.primaryReported(Self.first, position: Int64(second), at: start + .seconds(second))
            if second == 0 { selection.replicaReported(report(0), 0) }
            #expect(selection.problem(0) == nil)
            #expect(selection.lag(0) == .seconds(max(0, second - 1)))
        }
        selection.primaryReported(Self.first, position: 11, at: start + .seconds(11))
        #expect(selection.problem(0) == .lagging)
        #expect(selection.choose(for: nil) == nil)
        #expect(selection.lag(0) == .seconds(10))
        selection.replicaReported(report(1), 0)
        #expect(selection.problem(0) == nil)
        #expect(selection.lag(0) == .seconds(9))
    }

    @Test("An idle primary makes no replica lag")
    func idlePrimary() {
        var selection = selection()
        for second in 0..<100 {
            selection.primaryReported(Self.first, position: 5, at: start + .seconds(second))
            if second == 0 { selection.replicaReported(report(5), 0) }
        }
        #expect(selection.problem(0) == nil)
        #expect(selection.lag(0) == .zero)
    }

    @Test("Replicas stay usable while the primary is lost")
    func primaryIsLost() {
        var selection = selection()
        selection.primaryReported(Self.first, position: 5, at: start)
        selection.primaryReported(Self.first, position: 9, at: start + .seconds(60))
        selection.replicaReported(report(7), 0)
        #expect(!selection.primaryResponds || selection.hasUsableReplica)
        selection.primaryFailed()
        #expect(!selection.primaryResponds)
        #expect(selection.hasUsableReplica)
        #expect(selection.choose(for: nil)?.index == 0)
        #expect(selection.choose(for: position(7))?.index == 0)
        #expect(selection.choose(for: position(8)) == nil)
    }

    @Test("A read checks the report that came with it")
    func requirementIsChecked() throws {
        let requirement = ReplicaRequirement(epoch: Self.first, minimum: 10)
        try requirement.check(report(10))
        #expect(throws: ReplicaProblem.lagging) { try requirement.check(report(9)) }
        #expect(throws: ReplicaProblem.unreachable) { try requirement.check(nil) }
    }
}
