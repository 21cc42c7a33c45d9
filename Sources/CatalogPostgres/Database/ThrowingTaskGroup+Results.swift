extension ThrowingTaskGroup where Failure == any Error {
    /// Waits for all tasks, and returns their results. The failure of one does not end the others.
    ///
    /// - Throws: the first failure.
    mutating func allResults() async throws -> [ChildTaskResult] {
        var results: [ChildTaskResult] = []
        var failure: (any Error)?
        while let result = await nextResult() {
            switch result {
            case .success(let value): results.append(value)
            case .failure(let error): failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return results
    }
}
