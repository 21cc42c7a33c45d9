/// The reason for which the coordinator answers a read instead of a worker.
enum WorkerProblem: Error, Sendable {
    /// The worker failed; `StoreWorkers` has observed why.
    case failed
    /// Only the coordinator knows whether something does not exist, or whether a store has another id now.
    case notFound
}
