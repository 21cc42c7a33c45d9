internal import Catalog
internal import Synchronization

/// Records the log position after a request's last write.
final class LogPositionRecorder: Sendable {
    /// The recorder of the current task; nil if nobody asks for the log position.
    static var current: LogPositionRecorder? {
        if case .recording(let recorder) = StorageContext.current.states {
            recorder as? LogPositionRecorder
        } else {
            nil
        }
    }

    private let last = Mutex<LogPosition?>(nil)

    /// The log position after the last write; nil if it must be read.
    var logPosition: LogPosition? { last.withLock { $0 } }

    /// Runs work, and records the log position after its last write.
    func run<T>(_ body: () async throws -> T) async rethrows -> T {
        var context = StorageContext.current
        context.states = .recording(self)
        return try await context.run(body)
    }

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
