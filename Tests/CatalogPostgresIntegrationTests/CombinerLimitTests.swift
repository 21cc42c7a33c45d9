import LibPQ
import Platform
import Synchronization
import TestSupport
import Testing

@testable import CatalogPostgres

/// Combined writes at their limits: the size of batches, their number, and the waits of writes.
@Suite(.timeLimit(.minutes(15))) struct CombinerLimitTests {
    private typealias Recorder = WriteCombinerTests.Recorder

    private static func write(_ number: Int) -> WriteCombinerTests.Write {
        WriteCombinerTests.Write(key: "k\(number)", number: number)
    }

    /// Waits for a condition.
    private static func wait(until condition: () -> Bool) async {
        let isMet = await eventually { condition() }
        #expect(isMet)
    }

    /// The numbers of batches that are written at the same time.
    private final class Meter: Sendable {
        private let state = Mutex((running: 0, most: 0))
        var most: Int { state.withLock { $0.most } }

        func begin() {
            state.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
        }

        func end() { state.withLock { $0.running -= 1 } }
    }

    @Test("Of two writes in a batch, the one that is right succeeds if the other one fails")
    func failuresInSmallBatches() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 2,
            parallel: 1,
            waitLimit: .seconds(60),
            key: \.key
        ) { batch in
            await recorder.run(batch)
            if batch.contains(where: { $0.number == 3 }) {
                throw PostgresError(.server, "refused", sqlState: SQLState("23514"))
            }
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Self.write(1)) }
        await Self.wait { recorder.batches.count == 1 }
        let second = Task { try await combiner.perform(Self.write(2)) }
        let third = Task { try await combiner.perform(Self.write(3)) }
        // They are in one batch, because the first one is still being written.
        await Self.wait { combiner.waitingCount == 2 }
        recorder.open()
        #expect(try await first.value == 1)
        #expect(try await second.value == 2)
        let error = await #expect(throws: PostgresError.self) { try await third.value }
        #expect(error?.sqlState?.rawValue == "23514")
        #expect(recorder.batches.map { Set($0.map(\.number)) }.filter { $0.count == 2 } == [[2, 3]])
        // Its key is free again.
        await #expect(throws: PostgresError.self) { try await combiner.perform(Self.write(3)) }
        #expect(try await combiner.perform(Self.write(2)) == 2)
    }

    @Test("A single write that fails is written once")
    func singleFailures() async throws {
        let recorder = Recorder()
        recorder.open()
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 2,
            parallel: 1,
            waitLimit: .seconds(60),
            key: \.key
        ) { batch in
            await recorder.run(batch)
            throw PostgresError(.server, "refused", sqlState: SQLState("23514"))
        }
        for number in 1...3 {
            await #expect(throws: PostgresError.self) { try await combiner.perform(Self.write(number)) }
        }
        #expect(recorder.batches.map(\.count) == [1, 1, 1])
    }

    @Test(
        "A key can be written again after a write failed, whatever the reason was",
        arguments: [PostgresError(.connection, "lost"), PostgresError(.server, "refused", sqlState: SQLState("23514"))]
    )
    func keysAreReleased(_ failure: PostgresError) async throws {
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 16,
            parallel: 2,
            waitLimit: .seconds(60),
            key: \.key
        ) { batch in
            if batch.contains(where: { $0.number < 0 }) { throw failure }
            return batch.map(\.number)
        }
        for number in 1...3 {
            let error = await #expect(throws: PostgresError.self) {
                try await combiner.perform(.init(key: "a", number: -number))
            }
            #expect(error?.kind == failure.kind)
            #expect(try await combiner.perform(.init(key: "a", number: number)) == number)
        }
    }

    @Test("At most as many batches are written at the same time as allowed", arguments: [1, 2, 3])
    func parallelBatches(parallel: Int) async throws {
        let (recorder, meter) = (Recorder(), Meter())
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 1,
            parallel: parallel,
            waitLimit: .seconds(60),
            key: \.key
        ) { batch in
            meter.begin()
            await recorder.run(batch)
            meter.end()
            return batch.map(\.number)
        }
        let writers = (0..<12).map { number in Task { try await combiner.perform(Self.write(number)) } }
        await Self.wait { meter.most == parallel && combiner.waitingCount == 12 - parallel }
        recorder.open()
        for (number, writer) in writers.enumerated() { #expect(try await writer.value == number) }
        #expect(meter.most == parallel)
        #expect(combiner.waitingCount == 0)
    }

    @Test("A write that waits too long fails, and the one that is being written does not")
    func waitLimits() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 1,
            parallel: 1,
            waitLimit: .seconds(1),
            key: \.key
        ) { batch in
            await recorder.run(batch)
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Self.write(1)) }
        await Self.wait { recorder.batches.count == 1 }
        let start = ContinuousClock.now
        let error = await #expect(throws: PostgresError.self) { try await combiner.perform(Self.write(2)) }
        #expect(ContinuousClock.now - start >= .seconds(1))
        #expect(error?.kind == .exhausted)
        // One with the same key, too.
        let same = await #expect(throws: PostgresError.self) { try await combiner.perform(.init(key: "k1", number: 4)) }
        #expect(same?.kind == .exhausted)
        #expect(combiner.waitingCount == 0)
        recorder.open()
        #expect(try await first.value == 1)
        #expect(try await combiner.perform(Self.write(3)) == 3)
        #expect(recorder.batches.map { $0.map(\.number) } == [[1], [3]])
    }

    @Test("A write beyond the limit of the queue fails at once")
    func queueLimits() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 1,
            parallel: 1,
            waitLimit: .seconds(60),
            queueLimit: 2,
            key: \.key
        ) { batch in
            await recorder.run(batch)
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Self.write(1)) }
        await Self.wait { recorder.batches.count == 1 }
        let others = (2...3).map { number in Task { try await combiner.perform(Self.write(number)) } }
        await Self.wait { combiner.waitingCount == 2 }
        let error = await #expect(throws: PostgresError.self) { try await combiner.perform(Self.write(4)) }
        #expect(error?.kind == .exhausted)
        #expect(error?.message == "too many writes are waiting")
        recorder.open()
        #expect(try await first.value == 1)
        for (index, task) in others.enumerated() { #expect(try await task.value == index + 2) }
    }

    @Test("Each caller learns the log position of its batch, or that it is unknown")
    func logPositions() async throws {
        let position = LogPosition(cluster: 7, timeline: 1, offset: 9)
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 2,
            parallel: 1,
            waitLimit: .seconds(60),
            key: \.key
        ) { batch in
            if batch[0].number == 1 { LogPositionRecorder.current?.record(position) }
            return batch.map(\.number)
        }
        let recorder = LogPositionRecorder()
        try await recorder.run { _ = try await combiner.perform(Self.write(1)) }
        #expect(recorder.logPosition == position)
        try await recorder.run { _ = try await combiner.perform(Self.write(2)) }
        #expect(recorder.logPosition == nil)
    }

    @Test("The request of each write has the wait and the steps of its batch")
    func steps() async throws {
        let combiner = WriteCombiner<WriteCombinerTests.Write, Int>(
            limit: 2,
            parallel: 1,
            waitLimit: .seconds(60),
            key: \.key
        ) { batch in
            let now = ContinuousClock.now
            StepRecorder.current?.record(.init(.statement, "batch", start: now, end: now))
            return batch.map(\.number)
        }
        let recorder = StepRecorder()
        try await TaskContext(steps: recorder).run { _ = try await combiner.perform(Self.write(1)) }
        let steps = recorder.recorded.steps
        #expect(steps.map(\.name) == ["combined writes", "batch"])
        #expect(steps.map(\.kind) == [.wait, .statement])
        #expect(steps.allSatisfy { $0.start <= $0.end })
        _ = try await combiner.perform(Self.write(2))
        #expect(recorder.recorded.steps.count == 2)
    }
}
