internal import Synchronization

/// Coalesces reads: one at a time, rate-limited; requests during a read result in one more read.
final class ReadCoalescer: Sendable {
    private struct State {
        var isReading = false
        var isRequested = false
    }

    private let state = Mutex(State())

    /// Whether a read is in progress, or a pause after one.
    var isReading: Bool { state.withLock { $0.isReading } }

    /// Schedules a read.
    func run(_ read: @escaping @Sendable () async -> Void) {
        let begins = state.withLock { state in
            state.isRequested = true
            defer { state.isReading = true }
            return !state.isReading
        }
        guard begins else { return }
        Task {
            while takeRequest() {
                await read()
                // Batch changes in quick succession.
                try? await Task.sleep(for: LiveHub.minimumReadInterval)
            }
        }
    }

    /// Returns whether a read is requested; otherwise the next request starts a new task.
    private func takeRequest() -> Bool {
        state.withLock { state in
            state.isReading = state.isRequested
            state.isRequested = false
            return state.isReading
        }
    }
}
