/// The state of a worker of a Citus cluster, for operators.
package struct WorkerStatus: Sendable, Hashable {
    /// The host and the port.
    package let name: String
    /// The reason for reading the worker's stores through the coordinator; nil if the stores are read from the worker.
    package let problem: String?
    /// The number of reads that were sent to it.
    package let reads: Int

    /// Whether its stores are read from it.
    package var isUsable: Bool { problem == nil }
}
