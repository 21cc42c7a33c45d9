internal import LibPQ

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
