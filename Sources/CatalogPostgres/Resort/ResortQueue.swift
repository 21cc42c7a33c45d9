internal import Catalog
internal import Synchronization

/// The work queue that the jobs of a re-sort share.
final class ResortQueue: Sendable {
    private struct State {
        var next = 0
        var done = 0
    }

    private let state = Mutex(State())

    /// Returns the next batch of shelves; batches get smaller near the end, to balance the jobs.
    func take(of targets: [Int32], jobs: Int) -> ArraySlice<Int32>? {
        state.withLock { state in
            let left = targets.count - state.next
            guard left > 0 else { return nil }
            let piece = targets[state.next...].prefix(max(1, min(Resorter.batchSize, left / (2 * jobs))))
            state.next += piece.count
            return piece
        }
    }

    /// Counts a finished shelf and returns the total.
    func countShelf() -> Int {
        state.withLock {
            $0.done += 1
            return $0.done
        }
    }
}
