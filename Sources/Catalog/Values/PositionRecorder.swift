internal import Synchronization

/// Records the position of a request's last write.
package final class PositionRecorder: Sendable {
    private struct State {
        var last: LogPosition?
        /// The number of transactions that began and have not reported their position.
        var pending = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The position after the last write; nil if it must be read.
    package var position: LogPosition? { state.withLock { $0.pending > 0 ? nil : $0.last } }

    /// Announces a transaction. If it does not report a position, that of the request is unknown.
    package func expect() { state.withLock { $0.pending += 1 } }

    /// Records the position that a transaction reported.
    package func record(_ position: LogPosition) {
        state.withLock { state in
            state.pending = max(0, state.pending - 1)
            if let known = state.last, known.cluster == position.cluster, !known.isBefore(position) { return }
            state.last = position
        }
    }

    /// Forgets the position, because of a write whose position is not known.
    package func forget() { state.withLock { $0.last = nil } }
}
