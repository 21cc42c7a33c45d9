/// The state of a replica, as it reports it.
struct ReplicaReport: Sendable, Hashable {
    /// Whether it replays the log of another server; false after its promotion.
    var isStandby: Bool
    /// The position up to which it has replayed the log, in bytes; nil if it replays none.
    var replayed: Int64?
    /// The start of the current epoch in its record; nil without the record.
    var epochStart: Int64?
}
