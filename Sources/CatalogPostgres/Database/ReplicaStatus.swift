/// The state of a replica, for operators.
package struct ReplicaStatus: Sendable, Hashable {
    /// The host and the port.
    package let name: String
    /// The reason for which it is passed over; nil if it is used.
    package let problem: String?
    /// The time between the first change that it lacks and the primary's last answer; nil if it is unknown.
    package let lag: Duration?
    /// The position up to which it has replayed the log, in bytes; nil if it is unknown.
    package let replayed: Int64?
    /// The number of reads that were sent to it.
    package let reads: Int

    /// Whether it is used for reads.
    package var isUsable: Bool { problem == nil }
}
