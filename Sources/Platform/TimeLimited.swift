internal import Synchronization

/// Returns the result of an operation, or a fallback if it takes longer than a limit.
///
/// The operation is not cancelled: its result can still serve later callers.
///
/// - Parameter executor: runs the operation; nil for the shared thread pool.
package func result<Value: Sendable>(
    within limit: Duration,
    otherwise fallback: Value,
    on executor: (any TaskExecutor)? = nil,
    of operation: @escaping @Sendable () async -> Value
) async -> Value {
    await withCheckedContinuation { continuation in
        let once = OneShotContinuation(continuation)
        let timer = Task {
            try? await Task.sleep(for: limit)
            once.resume(fallback)
        }
        Task(executorPreference: executor) {
            once.resume(await operation())
            timer.cancel()
        }
    }
}

/// A continuation that is resumed only once.
private final class OneShotContinuation<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value, Never>?>

    init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = Mutex(continuation) }

    func resume(_ value: Value) { continuation.withLock { $0.take() }?.resume(returning: value) }
}
