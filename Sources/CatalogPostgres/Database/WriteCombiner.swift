internal import Catalog
internal import DequeModule
internal import LibPQ
internal import Platform
internal import Synchronization

/// Combines the writes that arrive during another write in one statement and one commit.
///
/// One batch is written at a time, and another one if a write has waited for `maximumWait`, because the first may wait for a
/// lock. Each write is answered after its commit. If a batch fails because of one write, all of them are written again, each
/// alone.
final class WriteCombiner<Write: Sendable, Outcome: Sendable>: Sendable {
    /// The outcome of a write, and the log position after its commit; nil if it is unknown.
    private typealias Written = (outcome: Outcome, logPosition: LogPosition?)

    private struct Waiter {
        let key: String
        let write: Write
        let arrival: ContinuousClock.Instant
        /// The recorder of the caller's request.
        let recorder: StepRecorder?
        let continuation: CheckedContinuation<Written, any Error>
    }

    private struct State {
        var waiters: [Int: Waiter] = [:]
        /// The numbers of the waiters in the order of their arrival, and of some that are gone.
        var queue: Deque<Int> = []
        var lastNumber = 0
        /// The keys of the writes that are being written.
        var busyKeys: Set<String> = []
        /// The number of batches that are being written.
        var running = 0
        /// Whether the waiting times are being watched.
        var isWatched = false

        var firstArrival: ContinuousClock.Instant? {
            queue.lazy.compactMap { waiters[$0] }.first { !busyKeys.contains($0.key) }?.arrival
        }
    }

    /// How long a write waits for a batch before another batch begins.
    private static var maximumWait: Duration { .milliseconds(10) }

    /// The maximum number of writes in a batch.
    private let limit: Int
    /// The maximum number of batches that are written at the same time.
    private let parallel: Int
    /// How long a write waits before it fails.
    private let waitLimit: Duration
    /// The maximum number of writes that wait.
    private let queueLimit: Int
    private let key: @Sendable (Write) -> String
    private let run: @Sendable ([Write]) async throws -> [Outcome]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - key: writes with the same key are never written at the same time.
    ///   - run: writes a batch, and returns an outcome for each write.
    init(
        limit: Int,
        parallel: Int,
        waitLimit: Duration = Database.waitLimit,
        queueLimit: Int = 20_000,
        key: @escaping @Sendable (Write) -> String,
        run: @escaping @Sendable ([Write]) async throws -> [Outcome]
    ) {
        self.limit = limit
        self.parallel = parallel
        self.waitLimit = waitLimit
        self.queueLimit = queueLimit
        self.key = key
        self.run = run
    }

    /// The number of writes that wait.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// - Throws: the error of the write; `cancelled` if the task is cancelled while the write waits; `exhausted` if it waits too long, or too
    ///   many others wait.
    func perform(_ write: Write) async throws -> Outcome {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let written: Written = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(
                    key: key(write),
                    write: write,
                    arrival: .now,
                    recorder: .current,
                    continuation: continuation
                )
                guard add(waiter, number) else {
                    let error = PostgresError(.exhausted, "too many writes are waiting")
                    return continuation.resume(throwing: error)
                }
                if Task.isCancelled { withdraw(number) }
            }
        } onCancel: {
            withdraw(number)
        }
        if let logPosition = written.logPosition {
            LogPositionRecorder.current?.record(logPosition)
        } else {
            LogPositionRecorder.current?.forget()
        }
        return written.outcome
    }

    /// Returns false if too many writes wait.
    private func add(_ waiter: Waiter, _ number: Int) -> Bool {
        let (isAdded, starts, watches) = state.withLock { state in
            guard state.waiters.count < queueLimit else { return (false, false, false) }
            state.waiters[number] = waiter
            state.queue.append(number)
            let watches = !state.isWatched
            state.isWatched = true
            guard state.running == 0 else { return (true, false, watches) }
            state.running = 1
            return (true, true, watches)
        }
        // Detached, because they work for other requests, too.
        if starts { Task.detached { await self.work(isExtra: false) } }
        if watches { Task.detached { await self.watch() } }
        return isAdded
    }

    /// Fails a write that still waits.
    private func withdraw(_ number: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?.continuation.resume(throwing: PostgresError(.cancelled, "the task was cancelled"))
    }

    /// Begins further batches as long as writes wait too long, and fails those that wait for longer than the limit.
    private func watch() async {
        var isOver = false
        while !isOver {
            try? await Task.sleep(for: Self.maximumWait)
            let now = ContinuousClock.now
            let (overdue, starts) = state.withLock { state in
                let numbers = state.queue.prefix {
                    state.waiters[$0].map { $0.arrival + waitLimit <= now } ?? true
                }
                let overdue = numbers.compactMap { state.waiters.removeValue(forKey: $0) }
                state.queue.removeFirst(numbers.count)
                isOver = state.waiters.isEmpty
                if isOver { state.isWatched = false }
                guard state.running < parallel, let first = state.firstArrival, first + Self.maximumWait <= now else {
                    return (overdue, false)
                }
                state.running += 1
                return (overdue, true)
            }
            for waiter in overdue {
                let error = PostgresError(.exhausted, "the write waited for more than \(waitLimit)")
                waiter.continuation.resume(throwing: error)
            }
            if starts { Task.detached { await self.work(isExtra: true) } }
        }
    }

    /// Writes batches until no write waits.
    ///
    /// - Parameter isExtra: whether other batches are being written; it then writes one.
    private func work(isExtra: Bool) async {
        var isFirst = true
        while let batch = next(isLast: isExtra && !isFirst) {
            isFirst = false
            await write(batch)
        }
    }

    /// Returns the next batch; nil if there is none.
    private func next(isLast: Bool) -> [Waiter]? {
        state.withLock { state in
            var batch: [Waiter] = []
            var skipped: [Int] = []
            while !isLast, batch.count < limit, let number = state.queue.popFirst() {
                guard let waiter = state.waiters[number] else { continue }
                guard state.busyKeys.insert(waiter.key).inserted else {
                    skipped.append(number)
                    continue
                }
                state.waiters[number] = nil
                batch.append(waiter)
            }
            for number in skipped.reversed() { state.queue.prepend(number) }
            if batch.isEmpty { state.running -= 1 }
            return batch.isEmpty ? nil : batch
        }
    }

    private func write(_ batch: [Waiter]) async {
        do {
            for waiter in batch {
                waiter.recorder?.record(.init(.wait, "combined writes", start: waiter.arrival, end: .now))
            }
            var context = TaskContext.current
            context.steps = StepRecorder.shared(by: batch.map(\.recorder))
            let recorder = LogPositionRecorder()
            let outcomes = try await context.run {
                try await recorder.run { try await run(batch.map(\.write)) }
            }
            precondition(outcomes.count == batch.count, "each write has an outcome")
            release(batch)
            for (waiter, outcome) in zip(batch, outcomes) {
                waiter.continuation.resume(returning: (outcome, recorder.logPosition))
            }
        } catch let error as PostgresError where error.sqlState != nil && batch.count > 1 {
            await withTaskGroup { group in
                for waiter in batch { group.addTask { await self.write([waiter]) } }
            }
        } catch {
            release(batch)
            for waiter in batch { waiter.continuation.resume(throwing: error) }
        }
    }

    /// Lets further writes with the keys of a batch begin.
    private func release(_ batch: [Waiter]) { state.withLock { $0.busyKeys.subtract(batch.map(\.key)) } }
}
