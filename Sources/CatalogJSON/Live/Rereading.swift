internal import Catalog

internal import Synchronization

/// Reads of the same, one at a time and not too often: those that are asked for while one is under way become one more.
final class Rereading: Sendable {
    private struct State {
        var isReading = false
        var isAskedAgain = false
    }

    private let state = Mutex(State())

    /// Has something read, soon.
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
                // Many changes in a row are told together.
                try? await Task.sleep(for: LiveHub.pace)
            }
        }
    }

    /// Whether there is something to read; where not, the next who asks begins anew.
    private func takesTurn() -> Bool {
        state.withLock { state in
            state.isReading = state.isAskedAgain
            state.isAskedAgain = false
            return state.isReading
        }
    }
}
