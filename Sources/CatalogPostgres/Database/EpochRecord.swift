internal import Catalog
internal import LibPQ

/// The record of the database's current epoch. A server that shows it has the whole history up to the start of the epoch.
///
/// A standby shows it after it has replayed the commit of the record. So a standby with the record follows the history of the
/// primary, also if another standby was promoted with the same timeline: its record has another start.
struct EpochRecord: Sendable, Hashable {
    /// `DatabaseEpoch.identity`.
    let identity: String
    /// Microseconds since 1970.
    let startedAt: Int64
    let cluster: Int64
    let timeline: UInt32

    /// - Parameter identity: nil for the identity of a standby.
    init?(identity: String?, startedAt: Int64?) {
        guard let identity, let startedAt else { return nil }
        let parts = identity.split(separator: "/")
        guard parts.count == 4, let cluster = Int64(parts[0]), let timeline = UInt32(parts[1], radix: 16) else {
            return nil
        }
        (self.identity, self.startedAt) = (identity, startedAt)
        (self.cluster, self.timeline) = (cluster, timeline)
    }
}
