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

    private let last = Mutex<LogPosition?>(nil)

    /// The log position after the last write; nil if it must be read.
    var logPosition: LogPosition? { last.withLock { $0 } }

    /// Records the log position that a transaction reported.
    func record(_ logPosition: LogPosition) {
        last.withLock { last in
            if let known = last, known.cluster == logPosition.cluster, !known.isBefore(logPosition) { return }
            last = logPosition
        }
    }

    /// Forgets the log position, because of a write whose log position is not known.
    func forget() { last.withLock { $0 = nil } }
}
