internal import Synchronization

/// A position in the write-ahead log of a database: a state that includes everything that was committed before it.
package struct LogPosition: Sendable, Hashable {
    /// The identifier of the database cluster; 0 for a position that is unknown.
    package let cluster: Int64
    /// The number of the timeline, which grows with each promotion of a standby.
    package let timeline: UInt32
    /// The number of bytes of the log before the position.
    package let offset: Int64

    package init(cluster: Int64, timeline: UInt32, offset: Int64) {
        self.cluster = cluster
        self.timeline = timeline
        self.offset = offset
    }

    /// The position of a write whose position could not be read. No replica is known to have it.
    package static let unknown = LogPosition(cluster: 0, timeline: 0, offset: 0)

    /// Returns the later of two positions; unknown if the clusters differ.
    package func including(_ other: LogPosition) -> LogPosition {
        guard cluster == other.cluster else { return .unknown }
        return isBefore(other) ? other : self
    }

    /// Returns whether the position is before another one of the same cluster. A later timeline includes what remains of earlier ones.
    package func isBefore(_ other: LogPosition) -> Bool {
        (timeline, offset) < (other.timeline, other.offset)
    }
}

/// A source of positions, with which a client later asks for a state that includes its writes.
package protocol PositionSource: Sendable {
    /// Whether some reads may be answered by replicas, which follow the database with a delay.
    var hasReplicas: Bool { get }

    /// Returns the current position of the database, which includes everything that was committed before the call.
    func position() async throws(CatalogError) -> LogPosition
}

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
