internal import Synchronization

/// Returns the result of an operation, or a fallback if it takes longer than a limit.
///
/// The operation is not cancelled: its result can still serve later callers.
package func result<Value: Sendable>(
    within limit: Duration,
    otherwise fallback: Value,
    of operation: @escaping @Sendable () async -> Value
) async -> Value {
    await withCheckedContinuation { continuation in
        let once = OneShotContinuation(continuation)
        let timer = Task {
            try? await Task.sleep(for: limit)
            once.resume(fallback)
        }
        Task {
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
