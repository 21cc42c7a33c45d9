import LibPQ
import Synchronization
import Testing

@testable import CatalogPostgres

/// Combined writes that fail, and those that wait for them.
@Suite("Failures of combined writes", .timeLimit(.minutes(2))) struct CombinedWriteFailureTests {
    private typealias Write = WriteCombinerTests.Write
    private typealias Combiner = WriteCombiner<Write, Int>

    private func kind(_ combiner: Combiner, _ write: Write) async -> PostgresError.Kind? {
        do {
            _ = try await combiner.perform(write)
            return nil
        } catch { return (error as? PostgresError)?.kind }
    }

    @Test(
        "A key can be written again after a write failed, whatever the reason was",
        arguments: [PostgresError(.connection, "lost"), PostgresError(.server, "refused", sqlState: SQLState("23514"))]
    )
    func keysAreReleased(_ failure: PostgresError) async throws {
        let combiner = Combiner(limit: 16, parallel: 2, waitLimit: .seconds(60), key: \.key) { batch in
            if batch.contains(where: { $0.number < 0 }) { throw failure }
            return batch.map(\.number)
        }
        for number in 1...3 {
            #expect(await kind(combiner, Write(key: "a", number: -number)) == failure.kind)
            #expect(try await combiner.perform(Write(key: "a", number: number)) == number)
        }
    }

    @Test("A failed write of a batch is written again alone, once, and then its key is free")
    func failedBatchesAreDivided() async throws {
        let recorder = WriteCombinerTests.Recorder()
        let combiner = Combiner(limit: 16, parallel: 1, waitLimit: .seconds(60), key: \.key) { batch in
            await recorder.run(batch)
            if batch.contains(where: { $0.number < 0 }) {
                throw PostgresError(.server, "refused", sqlState: SQLState("23514"))
            }
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Write(key: "first", number: 0)) }
        let deadline = ContinuousClock.now + .seconds(60)
        while recorder.batches.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        // These go together, because the first write is held back.
        let good = Task { try await combiner.perform(Write(key: "good", number: 1)) }
        let bad = Task { await kind(combiner, Write(key: "bad", number: -1)) }
        while combiner.waitingCount < 2, ContinuousClock.now < deadline { await Task.yield() }
        recorder.open()
        #expect(try await first.value == 0)
        #expect(try await good.value == 1)
        #expect(await bad.value == .server)
        let batches = recorder.batches.map { Set($0.map(\.number)) }
        #expect(batches.count == 4 && batches[0] == [0] && batches[1] == [1, -1])
        #expect(batches.suffix(2).contains([1]) && batches.suffix(2).contains([-1]))
        #expect(try await combiner.perform(Write(key: "bad", number: 2)) == 2)
        #expect(try await combiner.perform(Write(key: "good", number: 3)) == 3)
    }

    @Test("A write that waits for longer than the limit fails, and the one before it does not")
    func waitingIsLimited() async throws {
        let recorder = WriteCombinerTests.Recorder()
        let combiner = Combiner(limit: 1, parallel: 1, waitLimit: .milliseconds(20), key: \.key) { batch in
            await recorder.run(batch)
            return batch.map(\.number)
        }
        let first = Task { try await combiner.perform(Write(key: "a", number: 1)) }
        let deadline = ContinuousClock.now + .seconds(60)
        while recorder.batches.isEmpty, ContinuousClock.now < deadline { await Task.yield() }
        #expect(await kind(combiner, Write(key: "a", number: 2)) == .exhausted)
        #expect(await kind(combiner, Write(key: "b", number: 3)) == .exhausted)
        recorder.open()
        #expect(try await first.value == 1)
        #expect(recorder.batches == [[Write(key: "a", number: 1)]])
    }
}
