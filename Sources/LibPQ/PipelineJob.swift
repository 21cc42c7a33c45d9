internal import Platform

/// The driver's view of a read.
protocol PipelineJob: AnyObject, Sendable {
    var shared: [SharedQuery] { get }
    var queries: [PostgresQuery] { get }
    var deadline: ContinuousClock.Instant { get }
    /// The recorder of the caller's request, with the time of the call; nil if its steps are not recorded.
    var recording: PipelineRecording? { get }
    /// Whether a caller is still waiting.
    var isPending: Bool { get }
    /// Whether the job is sent for the second time. The second time, the job has a separate transaction.
    var hasRestarted: Bool { get }
    /// Discards received rows so that the job can be sent again. Returns false if the job was resent before or has no time left.
    func restart() -> Bool
    func receive(shared index: Int, _ row: borrowing PostgresRow)
    func receive(_ index: Int, _ rows: borrowing PostgresRows)
    func succeed()
    func fail(_ error: any Error)
}
