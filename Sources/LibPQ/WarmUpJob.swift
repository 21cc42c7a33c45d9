/// Runs queries and discards the results, so that the server has planned the queries and cached the required catalog pages.
final class WarmUpJob: PipelineJob {
    let shared: [SharedQuery] = []
    let queries: [PostgresQuery]
    let deadline: ContinuousClock.Instant
    let recording: PipelineRecording? = nil
    let isPending = true
    let hasRestarted = true

    init(_ queries: [PostgresQuery], deadline: ContinuousClock.Instant) {
        self.queries = queries
        self.deadline = deadline
    }

    func restart() -> Bool { false }
    func receive(shared index: Int, _ row: borrowing PostgresRow) {}
    func receive(_ index: Int, _ rows: borrowing PostgresRows) {}
    func succeed() {}
    func fail(_ error: any Error) {}
}
