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
