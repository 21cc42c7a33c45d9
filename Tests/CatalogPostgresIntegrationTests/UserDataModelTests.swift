import Catalog
import CatalogPostgres
import InMemoryCatalog
import Synchronization
import Testing
import TestSupport

/// Random operations of several users and devices, compared with a specification after each step.
@Suite(.timeLimit(.minutes(15))) struct UserDataModelTests {
    /// A clock that advances by a millisecond with each step.
    private final class StepClock: Sendable {
        private let time = Mutex(Timestamp.now().microseconds)

        var now: Timestamp { Timestamp(microseconds: time.withLock { $0 }) }

        func tick() -> Timestamp {
            Timestamp(
                microseconds: time.withLock { time in
                    time += 1000
                    return time
                }
            )
        }
    }

    private typealias Failure = (text: String, count: Int)

    /// Runs operations in a new catalog in memory.
    private static func runInMemory(_ operations: [UserDataOperation]) async -> Failure? {
        let clock = StepClock()
        let catalog = InMemoryCatalog(collate: collator, clock: { clock.now })
        var run = UserDataRun(catalog.storage, suffix: "", tick: { clock.tick() })
        return await run.firstDifference(operations)
    }

    /// Returns the text of a failure, with the operations that are needed for it.
    ///
    /// - Parameter limit: the maximum number of runs.
    private static func report(
        _ failure: Failure,
        _ operations: [UserDataOperation],
        limit: Int,
        _ run: ([UserDataOperation]) async -> Failure?
    ) async -> String {
        var (failure, needed, runs) = (failure, Array(operations.prefix(failure.count)), 0)
        var size = needed.count / 2
        while size > 0 {
            var start = 0
            while start < needed.count, runs < limit {
                var fewer = needed
                fewer.removeSubrange(start..<min(start + size, needed.count))
                runs += 1
                if let found = await run(fewer) {
                    (failure, needed) = (found, Array(fewer.prefix(found.count)))
                } else {
                    start += size
                }
            }
            size /= 2
        }
        let lines = needed.map { "  \($0)" }.joined(separator: "\n")
        return "\(failure.text)\nafter \(needed.count) of \(operations.count) operations:\n\(lines)"
    }

    @Test(
        "Devices show what the specification says after random operations in memory",
        arguments: 1...30 as ClosedRange<UInt64>
    )
    func memoryMatchesSpecification(_ seed: UInt64) async {
        let operations = UserDataGenerator.operations(seed: seed, count: 60)
        guard let failure = await Self.runInMemory(operations) else { return }
        let report = await Self.report(failure, operations, limit: 200) { await Self.runInMemory($0) }
        Issue.record("seed \(seed): \(report)")
    }

    @Test("Devices show what the specification says after random operations in PostgreSQL")
    func postgreSQLMatchesSpecification() async throws {
        try await withCatalog { (catalog: PostgresCatalog) async throws in
            var runs = 0
            func run(_ operations: [UserDataOperation]) async -> Failure? {
                // Each run has users of its own.
                runs += 1
                var run = UserDataRun(catalog.storage, suffix: "-\(runs)", tick: { Timestamp.now() })
                return await run.firstDifference(operations)
            }
            for seed in 101...106 as ClosedRange<UInt64> {
                let operations = UserDataGenerator.operations(seed: seed, count: 60)
                guard let failure = await run(operations) else { continue }
                let report = await Self.report(failure, operations, limit: 60, run)
                Issue.record("seed \(seed): \(report)")
                return
            }
        }
    }

    @Test("Random operations have effects and refusals of all kinds")
    func operationsAreVaried() {
        var counts: [String: Int] = [:]
        for seed in 1...100 as ClosedRange<UInt64> {
            var specification = UserDataSpecification()
            for operation in UserDataGenerator.operations(seed: seed, count: 60) {
                let events = specification.eventCount
                let answer = specification.perform(operation)
                let kind = operation.body.prefix { $0 != "(" }
                counts[
                    answer == .done && specification.eventCount > events ? "\(kind) changes" : "\(answer)",
                    default: 0
                ] += 1
            }
        }
        for kind in [
            "create", "set", "remove", "add", "change", "moveItems", "moveLists", "revoke", "join", "write", "merge",
        ] {
            #expect(counts["\(kind) changes", default: 0] >= 5, "\(kind): \(counts)")
        }
        let refusals: [UserDataSpecification.Refusal] = [
            .notFound, .forbidden, .stale, .conflict, .invalid, .keyReused,
        ]
        for refusal in refusals {
            let answer = UserDataSpecification.Answer.refused(refusal)
            #expect(counts["\(answer)", default: 0] >= 1, "\(counts)")
        }
        #expect(counts["repeated", default: 0] >= 10, "\(counts)")
    }
}
