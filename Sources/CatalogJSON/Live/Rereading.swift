internal import Catalog

internal import Synchronization

/// Coalesces reads: one at a time, rate-limited; requests during a read result in one more read.
final class Rereading: Sendable {
    private struct State {
        var isReading = false
        var isAskedAgain = false
    }

    private let state = Mutex(State())

    /// Schedules a read.
    func run(_ read: @escaping @Sendable () async -> Void) {
        let begins = state.withLock { state in
            state.isAskedAgain = true
            defer { state.isReading = true }
            return !state.isReading
        }
        guard begins else { return }
        Task {
            while takesTurn() {
                await read()
                // Batch changes in quick succession.
                try? await Task.sleep(for: LiveHub.pace)
            }
        }
    }

    /// Returns whether a read is requested; otherwise the next request starts a new task.
    private func takesTurn() -> Bool {
        state.withLock { state in
            state.isReading = state.isAskedAgain
            state.isAskedAgain = false
            return state.isReading
        }
    }
}
