import Testing

@testable import CatalogPostgres

@Suite("Log positions", .timeLimit(.minutes(15))) struct LogPositionTests {
    private static func position(_ timeline: UInt32, _ offset: Int64, cluster: Int64 = 7) -> LogPosition {
        LogPosition(cluster: cluster, timeline: timeline, offset: offset)
    }

    @Test("A later timeline is after every position of an earlier one")
    func timelinesComeFirst() {
        #expect(Self.position(1, 9).isBefore(Self.position(2, 1)))
        #expect(!Self.position(2, 1).isBefore(Self.position(1, 9)))
        #expect(Self.position(2, 1).isBefore(Self.position(2, 2)))
        #expect(!Self.position(2, 2).isBefore(Self.position(2, 2)))
    }

    @Test("The combination of two positions is the later one, and unknown for different clusters")
    func positionsCombine() {
        #expect(Self.position(1, 9).including(Self.position(2, 1)) == Self.position(2, 1))
        #expect(Self.position(2, 1).including(Self.position(1, 9)) == Self.position(2, 1))
        #expect(Self.position(1, 9).including(Self.position(1, 9, cluster: 8)) == .unknown)
        #expect(Self.position(1, 9).including(.unknown) == .unknown)
        #expect(LogPosition.unknown.including(.unknown) == .unknown)
    }

    @Test("A recorder keeps the latest position, until a write has an unknown one")
    func recorderKeepsTheLatest() {
        let recorder = LogPositionRecorder()
        #expect(recorder.logPosition == nil)
        recorder.record(Self.position(1, 9))
        recorder.record(Self.position(1, 3))
        #expect(recorder.logPosition == Self.position(1, 9))
        recorder.record(Self.position(2, 3))
        #expect(recorder.logPosition == Self.position(2, 3))
        recorder.record(Self.position(1, 3, cluster: 8))
        #expect(recorder.logPosition == Self.position(1, 3, cluster: 8))
        recorder.forget()
        #expect(recorder.logPosition == nil)
        recorder.record(Self.position(1, 3))
        #expect(recorder.logPosition == Self.position(1, 3))
    }
}
