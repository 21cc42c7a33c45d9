internal import LibPQ

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

/// The address of a worker, as the servers of the cluster know it.
struct WorkerAddress: Sendable, Hashable {
    let host: String
    let port: Int

    /// The host and the port, for operators.
    var name: String { "\(host):\(port)" }

    init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    /// Reads the address in two columns of a row.
    init(_ row: borrowing PostgresRow, from column: Int) throws {
        (host, port) = (try row.text(column), try row.int(column + 1))
    }
}

/// The reason for which the coordinator answers a read instead of a worker.
enum WorkerProblem: Error, Sendable {
    /// The worker failed; `StoreWorkers` has observed why.
    case failed
    /// Only the coordinator knows whether something does not exist, or whether a store has another id now.
    case notFound
}
