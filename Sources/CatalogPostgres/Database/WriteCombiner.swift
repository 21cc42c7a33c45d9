internal import DequeModule
internal import LibPQ
internal import Synchronization

/// Combines writes: those that arrive while others are written go together, with one statement and one commit.
///
/// One batch is written at a time, and another one if a write has waited for `patience`, because the first may wait for a lock. Each write
/// is answered after its commit. If a batch fails because of one write, all of them are written again, each alone.
final class WriteCombiner<Write: Sendable, Outcome: Sendable>: Sendable {
    private struct Waiter {
        let number: Int
        let key: String
        let write: Write
        let arrival: ContinuousClock.Instant
        let continuation: CheckedContinuation<Outcome, any Error>
    }

    private struct State {
        var waiters: Deque<Waiter> = []
        var lastNumber = 0
        /// The number of batches that are being written.
        var running = 0
        /// Whether the waiting times are being watched.
        var isWatched = false
    }

    /// How long a write waits for a batch before another batch begins.
    private static var patience: Duration { .milliseconds(10) }

    /// The maximum number of writes in a batch.
    private let limit: Int
    /// The maximum number of batches that are written at the same time.
    private let parallel: Int
    private let key: @Sendable (Write) -> String
    private let run: @Sendable ([Write]) async throws -> [Outcome]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - key: writes with the same key never go together.
    ///   - run: writes a batch, ordered by key, and returns an outcome for each write.
    init(
        limit: Int,
        parallel: Int,
        key: @escaping @Sendable (Write) -> String,
        run: @escaping @Sendable ([Write]) async throws -> [Outcome]
    ) {
        self.limit = limit
        self.parallel = parallel
        self.key = key
        self.run = run
    }

    /// - Throws: the error of the write; `cancelled` if the task is cancelled while the write waits.
    func perform(_ write: Write) async throws -> Outcome {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(
                    number: number,
                    key: key(write),
                    write: write,
                    arrival: .now,
                    continuation: continuation
                )
                let (starts, watches) = state.withLock { state in
                    state.waiters.append(waiter)
                    defer { state.isWatched = true }
                    guard state.running == 0 else { return (false, !state.isWatched) }
                    state.running = 1
                    return (true, !state.isWatched)
                }
                if starts { Task { await work() } }
                if watches { Task { await watch() } }
                if Task.isCancelled { withdraw(number) }
            }
        } onCancel: {
            withdraw(number)
        }
    }

    /// Fails a write that still waits.
    private func withdraw(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: PostgresError(.cancelled, "the task was cancelled"))
    }

    /// Begins further batches as long as writes wait too long.
    private func watch() async {
        while true {
            try? await Task.sleep(for: Self.patience)
            let now = ContinuousClock.now
            let (starts, ends) = state.withLock { state in
                guard let first = state.waiters.first else {
                    state.isWatched = false
                    return (false, true)
                }
                guard state.running < parallel, first.arrival + Self.patience <= now else { return (false, false) }
                state.running += 1
                return (true, false)
            }
            if starts { Task { await work() } }
            if ends { return }
        }
    }

    /// Writes batches until no write waits.
    private func work() async {
        while let batch = next() { await write(batch) }
    }

    /// Returns the next batch; nil if nothing waits.
    private func next() -> [Waiter]? {
        state.withLock { state in
            var batch: [Waiter] = []
            var keys: Set<String> = []
            var rest: Deque<Waiter> = []
            while batch.count < limit, let waiter = state.waiters.popFirst() {
                if keys.insert(waiter.key).inserted { batch.append(waiter) } else { rest.append(waiter) }
            }
            state.waiters = rest + state.waiters
            if batch.isEmpty { state.running -= 1 }
            return batch.isEmpty ? nil : batch.sorted { $0.key < $1.key }
        }
    }

    private func write(_ batch: [Waiter]) async {
        do {
            let outcomes = try await run(batch.map(\.write))
            for (waiter, outcome) in zip(batch, outcomes) { waiter.continuation.resume(returning: outcome) }
        } catch let error as PostgresError where error.sqlState != nil && batch.count > 1 {
            await withTaskGroup { group in
                for waiter in batch { group.addTask { await self.write([waiter]) } }
            }
        } catch {
            for waiter in batch { waiter.continuation.resume(throwing: error) }
        }
    }
}
