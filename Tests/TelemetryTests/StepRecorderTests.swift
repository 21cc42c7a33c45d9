import Platform
import Testing

@Suite(.timeLimit(.minutes(15))) struct StepRecorderTests {
    private struct TestError: Error {}

    private static func step(_ name: String) -> StepRecorder.Step {
        let now = ContinuousClock.now
        return .init(.statement, name, start: now, end: now + .seconds(1))
    }

    @Test("Steps beyond the limit are only counted")
    func isBounded() {
        let recorder = StepRecorder()
        for number in 0..<(StepRecorder.limit + 7) { recorder.record(Self.step("\(number)")) }
        let (steps, dropped) = recorder.recorded
        #expect(steps.map(\.name) == (0..<StepRecorder.limit).map { "\($0)" })
        #expect(dropped == 7)
        #expect(steps.first?.duration == .seconds(1))
    }

    @Test("A shared recorder records for all requests that have one")
    func isShared() throws {
        let (first, second) = (StepRecorder(), StepRecorder())
        #expect(StepRecorder.shared(by: [nil, nil]) == nil)
        #expect(StepRecorder.shared(by: [nil, first]) === first)
        try #require(StepRecorder.shared(by: [first, nil, second])).record(Self.step("a"))
        #expect(first.recorded.steps.map(\.name) == ["a"])
        #expect(second.recorded.steps.map(\.name) == ["a"])
    }

    @Test("A measured block is recorded with the kind of its error, and only if there is a recorder")
    func measures() {
        func fail() throws { throw TestError() }
        let recorder = StepRecorder()
        #expect(StepRecorder.measure(.rendering, "before") { 1 } == 1)
        TaskContext(steps: recorder).run {
            #expect(StepRecorder.measure(.rendering, "page") { 2 } == 2)
            #expect(throws: TestError.self) { try StepRecorder.measure(.statement, "s") { try fail() } }
        }
        let steps = recorder.recorded.steps
        #expect(steps.map(\.name) == ["page", "s"])
        #expect(steps.map(\.failure) == [nil, "TestError"])
        #expect(steps.allSatisfy { $0.start <= $0.end })
    }
}
