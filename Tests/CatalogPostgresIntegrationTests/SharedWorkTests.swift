import Dispatch
import Platform
import Synchronization
import Testing

@testable import CatalogPostgres

/// Callers who need the same result wait together.
@Suite(.timeLimit(.minutes(1))) struct SharedWorkTests {
    /// Work that waits for `end`, or until it is cancelled.
    private final class Gate: Sendable {
        private let runs = Atomic<Int>(0)
        private let cancelled = Atomic<Bool>(false)
        private let open = AsyncStream<Void>.makeStream()

        var number: Int { runs.load(ordering: .relaxed) }
        var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

        func end() { open.continuation.finish() }

        func run(_ result: Int) async throws -> Int {
            runs.add(1, ordering: .relaxed)
            for await _ in open.stream {}
            if Task.isCancelled {
                cancelled.store(true, ordering: .relaxed)
                throw CancellationError()
            }
            return result
        }
    }

    /// Waits until a condition holds.
    private static func until(_ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while !condition() {
            try #require(ContinuousClock.now < deadline)
            await Task.yield()
        }
    }

    @Test("Callers of one key share one run, and those of another key do not")
    func runsOnce() async throws {
        let (work, gate) = (SharedWork<String, Int>(), Gate())
        let callers = (0..<50).map { _ in Task { try await work.value("a") { try await gate.run(7) } } }
        try await Self.until { gate.number == 1 && work.waiting(for: "a") == 50 }
        #expect(try await work.value("b") { 8 } == 8)
        gate.end()
        for caller in callers { #expect(try await caller.value == 7) }
        #expect(gate.number == 1)
        // Nothing is kept.
        #expect(try await work.value("a") { 9 } == 9)
    }

    @Test("A caller who gives up does not end the work of the others; the last one does")
    func cancelsAbandonedWork() async throws {
        let (work, gate) = (SharedWork<String, Int>(), Gate())
        let first = Task { try await work.value("a") { try await gate.run(7) } }
        try await Self.until { gate.number == 1 }
        let second = Task { try await work.value("a") { try await gate.run(9) } }
        try await Self.until { work.waiting(for: "a") == 2 }
        first.cancel()
        // It does not wait for the work.
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(work.waiting(for: "a") == 1)
        #expect(!gate.isCancelled)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await Self.until { gate.isCancelled }
        #expect(try await work.value("a") { 3 } == 3)
    }

    @Test("All callers get the error of failed work, and the next one tries again")
    func failures() async throws {
        struct Failure: Error {}
        let work = SharedWork<String, Int>()
        let isOpen = AsyncStream<Void>.makeStream()
        let callers = (0..<3).map { _ in
            Task {
                try await work.value("a") {
                    for await _ in isOpen.stream {}
                    throw Failure()
                }
            }
        }
        try await Self.until { work.waiting(for: "a") == 3 }
        isOpen.continuation.finish()
        for caller in callers { await #expect(throws: Failure.self) { try await caller.value } }
        #expect(try await work.value("a") { 1 } == 1)
    }

    /// Counts the jobs that it runs, on a queue of its own.
    private final class CountingExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "event loop")
        private let jobs = Atomic<Int>(0)

        var number: Int { jobs.load(ordering: .relaxed) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.add(1, ordering: .relaxed)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test("Work runs on the event loop of the caller who begins it")
    func usesTheEventLoopOfTheCaller() async throws {
        let (work, executor) = (SharedWork<String, Int>(), CountingExecutor())
        let loop = CurrentEventLoop(number: 0, executor: executor)
        #expect(try await TaskContext(eventLoop: loop).run { try await work.value("a") { 8 } } == 8)
        #expect(executor.number > 0)
    }
}
