/// A recorded re-sort run.
package struct ResortRun: Sendable, Hashable {
    package enum State: String, Sendable {
        case running, done, failed
        /// The process ended before the run finished; `--resume` continues it.
        case interrupted
    }

    package var number: Int64
    package var state: State
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// The request as JSON.
    package var request: String
    package var failure: String?
    package var summary: ResortSummary

    package init(
        number: Int64,
        state: State,
        startedAt: Timestamp,
        endedAt: Timestamp?,
        request: String,
        failure: String?,
        summary: ResortSummary
    ) {
        self.number = number
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.request = request
        self.failure = failure
        self.summary = summary
    }
}
