import Synchronization

@testable import LibPQ

/// A job without a caller, which records what happens to it.
final class RecordedJob: PipelineJob {
    let shared: [SharedQuery]
    let queries: [PostgresQuery]
    let deadline: ContinuousClock.Instant
    let recording: CallRecording? = nil
    let isPending = true
    let hasRestarted = false
    private let canRestart: Bool
    private let log = Mutex<[String]>([])

    /// - Parameter canRestart: whether it can be sent again.
    init(
        sharing shared: [SharedQuery] = [],
        _ queries: [PostgresQuery] = [PostgresQuery("SELECT 1")],
        deadline: ContinuousClock.Instant = .now + .seconds(600),
        canRestart: Bool = true
    ) {
        (self.shared, self.queries, self.deadline, self.canRestart) = (shared, queries, deadline, canRestart)
    }

    /// The calls so far.
    var events: [String] { log.withLock { $0 } }

    private func record(_ event: String) { log.withLock { $0.append(event) } }

    func restart() -> Bool {
        record("restart")
        return canRestart
    }

    func receive(shared index: Int, _ row: borrowing PostgresRow) { record("shared \(index)") }
    func receive(_ index: Int, _ rows: borrowing PostgresRows) { record("own \(index)") }
    func succeed() { record("success") }
    func fail(_ error: any Error) { record("failure \((error as? PostgresError)?.message ?? "\(error)")") }
}
