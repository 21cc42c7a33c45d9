internal import Catalog
internal import LibPQ

/// Reads that replicas or workers may answer.
extension Database {
    /// Runs a read of a store on a replica if the current task allows that and a replica has the required state, and otherwise on the primary.
    /// If the replica fails, or has an older state than its monitor found, the read is repeated on the primary.
    ///
    /// On Citus, the worker that has the store answers if it can, and otherwise the coordinator.
    ///
    /// - Parameter body: reads from the given source only. It must have no side effects that a repetition would duplicate.
    func reading<T>(_ store: CatalogKey, _ body: (ReadSource) async throws -> T) async throws -> T {
        if let requirement = ReadRequirement.current, let source = replicas?.choose(for: requirement.position) {
            do { return try await body(source) } catch let error where Self.isRepeatable(error) {
                source.readFailed(error)
            }
        }
        if let id = storeIDs[store], let worker = workers?.read(of: id, pageLane) {
            do { return try await body(ReadSource(self, worker)) } catch is WorkerProblem {}
        }
        return try await body(ReadSource(self))
    }

    /// Returns whether the primary may answer a read that a replica could not answer: a conflict with the replay, an older schema, the
    /// loss of the replica.
    private static func isRepeatable(_ error: any Error) -> Bool {
        if let error = error as? PostgresError { return error.kind != .cancelled }
        return error is ReplicaProblem
    }
}
