/// A re-sort that was run.
package struct ResortRun: Sendable, Hashable {
    package enum State: String, Sendable {
        case running, done, failed
        /// Its process is gone; `--resume` finishes it.
        case interrupted
    }

    package var number: Int64
    package var state: State
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// What was asked for, as JSON.
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
