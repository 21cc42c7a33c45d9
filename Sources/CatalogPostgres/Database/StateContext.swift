internal import Synchronization

/// The states that the work of the current task reads, or reports to its client.
enum StateContext: Sendable {
    @TaskLocal static var current = StateContext.latest

    /// Reads return the current state, which only the primary has.
    case latest
    /// Reads return a state that includes a log position; nil for any state that is not too old. Replicas may answer.
    case including(LogPosition?)
    /// Reads return the current state, and the log position after the last write is recorded.
    case recording(LogPositionRecorder)
}

/// Records the log position after a request's last write.
final class LogPositionRecorder: Sendable {
    /// The recorder of the current task; nil if nobody asks for the log position.
    static var current: LogPositionRecorder? {
        if case .recording(let recorder) = StateContext.current { recorder } else { nil }
    }

    private struct State {
        var last: LogPosition?
        /// The number of transactions that began and have not reported their log position.
        var pending = 0
    }

    private let state = Mutex(State())

    /// The log position after the last write; nil if it must be read.
    var logPosition: LogPosition? { state.withLock { $0.pending > 0 ? nil : $0.last } }

    /// Announces a transaction. If it does not report a log position, that of the request is unknown.
    func expect() { state.withLock { $0.pending += 1 } }

    /// Records the log position that a transaction reported.
    func record(_ logPosition: LogPosition) {
        state.withLock { state in
            state.pending = max(0, state.pending - 1)
            if let known = state.last, known.cluster == logPosition.cluster, !known.isBefore(logPosition) { return }
            state.last = logPosition
        }
    }

    /// Forgets the log position, because of a write whose log position is not known.
    func forget() { state.withLock { $0.last = nil } }
}
