/// The state of a replica, or of a worker of a Citus cluster, for operators.
package struct ReadServerStatus: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case replica, worker
    }

    package let kind: Kind
    /// The host and the port.
    package let name: String
    /// The reason for which it is passed over; nil if it is used for reads.
    package let problem: String?
    /// The number of reads that were sent to the replica, or that the worker has answered.
    package let reads: Int
    /// The time between the first change that a replica lacks and the primary's last answer; nil if it is unknown, and for a worker.
    package var lag: Duration?

    /// Whether it is used for reads.
    package var isUsable: Bool { problem == nil }
}
