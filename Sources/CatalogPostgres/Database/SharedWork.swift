internal import Platform
internal import Synchronization

/// Work for several callers: those who need the same result wait together for one task.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A task in progress, with the callers who wait for it.
    private struct Running {
        let id: Int
        var task: Task<Void, Never>?
        var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
    }

    private struct State {
        var running: [Key: Running] = [:]
        /// The callers who gave up before they began to wait.
        var departed: Set<Int> = []
        var nextID = 0

        mutating func newID() -> Int {
            nextID += 1
            return nextID
        }
    }

    private let state = Mutex(State())

    /// Joins the running work of a key, or starts it.
    ///
    /// - Parameter work: is cancelled when nobody waits for it.
    func value(_ key: Key, _ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let caller = state.withLock { $0.newID() }
        defer { state.withLock { _ = $0.departed.remove(caller) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { join(key, caller, $0, work) }
        } onCancel: {
            leave(key, caller)
        }
    }

    /// The number of callers who wait for the work of a key.
    func waiting(for key: Key) -> Int { state.withLock { $0.running[key]?.waiting.count ?? 0 } }

    private func join(
        _ key: Key,
        _ caller: Int,
        _ continuation: CheckedContinuation<Value, any Error>,
        _ work: @escaping @Sendable () async throws -> Value
    ) {
        let hasDeparted = state.withLock { state in
            if state.departed.remove(caller) != nil { return true }
            if state.running[key] == nil {
                let id = state.newID()
                // Runs on the caller's event loop, so that resuming the caller wakes no other thread.
                let executor = CurrentEventLoop.value?.executor
                let task = Task(executorPreference: executor) { await self.run(key, id, work) }
                state.running[key] = Running(id: id, task: task)
            }
            state.running[key]!.waiting[caller] = continuation
            return false
        }
        if hasDeparted { continuation.resume(throwing: CancellationError()) }
    }

    /// Ends the waiting of a caller, and the work if it was the last one.
    private func leave(_ key: Key, _ caller: Int) {
        let (continuation, task) = state.withLock { state in
            guard let continuation = state.running[key]?.waiting.removeValue(forKey: caller) else {
                state.departed.insert(caller)
                return (nil as CheckedContinuation<Value, any Error>?, nil as Task<Void, Never>?)
            }
            guard state.running[key]!.waiting.isEmpty else { return (continuation, nil) }
            return (continuation, state.running.removeValue(forKey: key)?.task)
        }
        task?.cancel()
        continuation?.resume(throwing: CancellationError())
    }

    private func run(_ key: Key, _ id: Int, _ work: @Sendable () async throws -> Value) async {
        let result: Result<Value, any Error>
        do { result = .success(try await work()) } catch { result = .failure(error) }
        let waiting = state.withLock { state in
            guard state.running[key]?.id == id else { return [Int: CheckedContinuation<Value, any Error>]() }
            return state.running.removeValue(forKey: key)!.waiting
        }
        for continuation in waiting.values { continuation.resume(with: result) }
    }
}
