import LibPQ
import Synchronization
import Testing

@testable import CatalogPostgres

@Suite("Write combiner", .timeLimit(.minutes(2))) struct WriteCombinerTests {
    struct Write: Sendable, Equatable {
        let key: String
        let number: Int
    }

    /// Records batches, and holds them back until it is opened.
    final class Recorder: Sendable {
        private struct State {
            var batches: [[Write]] = []
            var isOpen = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        var batches: [[Write]] { state.withLock { $0.batches } }

        func run(_ batch: [Write]) async {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    state.batches.append(batch)
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    @Test("Each write gets its own outcome, and a batch has each key once")
    func writesGetTheirOutcomes() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<Write, Int>(limit: 16, parallel: 2, waitLimit: .seconds(600), key: \.key) {
            batch in
            await recorder.run(batch)
            return batch.map(\.number)
        }
        let outcomes = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
            for number in 0..<300 {
                group.addTask { (number, try await combiner.perform(Write(key: "k\(number % 40)", number: number))) }
            }
            recorder.open()
            return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.count == 300)
        #expect(outcomes.allSatisfy { $0.key == $0.value })
        let batches = recorder.batches
        #expect(batches.reduce(0) { $0 + $1.count } == 300)
        for batch in batches {
            #expect(batch.count <= 16)
            #expect(Set(batch.map(\.key)).count == batch.count)
        }
    }

    @Test("Writes that arrive while a batch is written go together, and do not wait forever for it")
    func arrivalsGoTogether() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<Write, Int>(limit: 100, parallel: 2, waitLimit: .seconds(600), key: \.key) {
            batch in
            await recorder.run(batch)
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Write(key: "first", number: -1)) }
        let deadline = ContinuousClock.now + .seconds(600)
        while recorder.batches.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        let writers = (0..<50).map { number in
            Task { try await combiner.perform(Write(key: "k\(number)", number: number)) }
        }
        // The first batch is held back; the others go on in a second one.
        while recorder.batches.count < 2, ContinuousClock.now < deadline { await Task.yield() }
        #expect(recorder.batches.count == 2)
        recorder.open()
        #expect(try await first.value == -1)
        for (number, writer) in writers.enumerated() { #expect(try await writer.value == number) }
        #expect(recorder.batches.count < 50)
    }

    @Test("A write that fails does not affect the others of its batch")
    func failuresAreIsolated() async throws {
        let combiner = WriteCombiner<Write, Int>(limit: 100, parallel: 1, waitLimit: .seconds(600), key: \.key) {
            batch in
            await Task.yield()
            if batch.contains(where: { $0.number % 10 == 0 }) {
                throw PostgresError(.server, "refused", sqlState: SQLState("23514"))
            }
            return batch.map(\.number)
        }
        await withTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    let outcome = try? await combiner.perform(Write(key: "k\(number)", number: number))
                    #expect(outcome == (number % 10 == 0 ? nil : number))
                }
            }
        }
    }

    @Test("While a write waits, others with its key wait, and those with other keys do not")
    func keysWaitForThemselves() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<Write, Int>(limit: 1, parallel: 2, waitLimit: .seconds(600), key: \.key) { batch in
            if batch.contains(where: { $0.key == "slow" }) { await recorder.run(batch) }
            return batch.map(\.number)
        }
        let slow = (0..<20).map { number in
            Task { try await combiner.perform(Write(key: "slow", number: number)) }
        }
        for number in 0..<50 {
            #expect(try await combiner.perform(Write(key: "k\(number)", number: number)) == number)
        }
        #expect(recorder.batches.count <= 1)
        recorder.open()
        for (number, task) in slow.enumerated() { #expect(try await task.value == number) }
    }

    @Test("If the connection is lost, the batch fails and is not written again")
    func lostConnectionsFailTheBatch() async throws {
        let recorder = Recorder()
        recorder.open()
        let combiner = WriteCombiner<Write, Int>(limit: 100, parallel: 1, waitLimit: .seconds(600), key: \.key) {
            batch in
            await recorder.run(batch)
            throw PostgresError(.connection, "lost")
        }
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    await #expect(throws: PostgresError.self) {
                        try await combiner.perform(Write(key: "k\(number)", number: number))
                    }
                }
            }
        }
        #expect(recorder.batches.reduce(0) { $0 + $1.count } == 100)
    }

    @Test("A write that waits can be cancelled; one that is being written cannot")
    func waitingWritesAreCancelled() async throws {
        let recorder = Recorder()
        let combiner = WriteCombiner<Write, Int>(limit: 1, parallel: 1, waitLimit: .seconds(600), key: \.key) { batch in
            await recorder.run(batch)
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Write(key: "a", number: 1)) }
        let deadline = ContinuousClock.now + .seconds(600)
        while recorder.batches.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        let second = Task { try await combiner.perform(Write(key: "a", number: 2)) }
        second.cancel()
        first.cancel()
        await #expect(throws: PostgresError.self) { try await second.value }
        recorder.open()
        #expect(try await first.value == 1)
        #expect(recorder.batches == [[Write(key: "a", number: 1)]])
    }
}
