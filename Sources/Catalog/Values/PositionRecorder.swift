internal import Synchronization

/// Records the position of a request's last write.
package final class PositionRecorder: Sendable {
    /// The recorder of the current request; nil if nobody asks for its position.
    @TaskLocal package static var current: PositionRecorder?

    private let last = Mutex<LogPosition?>(nil)

    package init() {}

    /// The position after the last write; nil if it must be read.
    package var position: LogPosition? { last.withLock { $0 } }

    /// Records a position that was read after a write.
    package func record(_ position: LogPosition) {
        last.withLock { last in
            if let known = last, known.cluster == position.cluster, !known.isBefore(position) { return }
            last = position
        }
    }

    /// Forgets the position, because of a write whose position is not known.
    package func forget() { last.withLock { $0 = nil } }
}
