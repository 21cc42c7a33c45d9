import Platform
import Testing

@testable import Telemetry

@Suite(.timeLimit(.minutes(15))) struct SpanQueueTests {
    @Test("A full queue drops new spans, counts them, and has room again after a batch")
    func dropsBeyondTheLimit() {
        var queue = SpanQueue(limit: 5, batchSize: 2)
        let complete = (1...7).map { queue.add(.test($0)) }
        #expect(complete == [false, true, false, false, false, false, false])
        #expect(queue.dropped == 2)
        #expect(queue.count == 5)
        func batch() -> [UInt64] { queue.takeBatch().map(\.position.span.value) }
        #expect(batch() == [1, 2])
        let completesBatch = queue.add(.test(8))
        #expect(!completesBatch)
        #expect(queue.dropped == 2)
        #expect(batch() == [3, 4])
        #expect(batch() == [5, 8])
        #expect(batch() == [])
        #expect(queue.count == 0)
    }

    @Test("The steps of a span count as spans, and stay with it")
    func countsSteps() {
        var span = FinishedSpan.test(1)
        let now = ContinuousClock.now
        span.steps = Array(repeating: .init(.wait, "writes", start: now, end: now), count: 3)
        var queue = SpanQueue(limit: 10, batchSize: 6)
        let complete = (1...3).map { _ in queue.add(span) }
        #expect(complete == [false, true, false])
        #expect(queue.count == 8)
        #expect(queue.dropped == 4)
        let batch = queue.takeBatch()
        #expect(batch.count == 2)
        #expect(queue.count == 0)
    }
}
