internal import Platform

/// The recorder of a request whose statements are sent, with the time of the call. The thread of a pipeline has no task, so a read takes
/// its recorder along.
struct CallRecording: Sendable {
    let recorder: StepRecorder
    /// The time of the call.
    let start: ContinuousClock.Instant

    /// The recording of the current task's request; nil if its steps are not recorded.
    static var current: CallRecording? { StepRecorder.current.map { CallRecording(recorder: $0, start: .now) } }
}

extension StatementNames {
    /// Returns the step of a statement.
    func step(
        of statement: PostgresStatement,
        _ kind: StepRecorder.Step.Kind = .statement,
        start: ContinuousClock.Instant,
        end: ContinuousClock.Instant,
        failure: (any Error)?
    ) -> StepRecorder.Step {
        .init(kind, name(of: statement), start: start, end: end, failure: failure.map(PostgresError.kind(of:)))
    }
}

extension PostgresError {
    /// Returns the SQLSTATE of an error; without one, its kind or type.
    static func kind(of error: any Error) -> String {
        guard let error = error as? PostgresError else { return "\(type(of: error))" }
        return error.sqlState?.rawValue ?? error.kind.rawValue
    }
}

// The steps of the requests whose reads are sent together.
extension PipelineGroup {
    /// Records the time of the jobs in the queue.
    func recordSending(_ name: String) {
        guard let sent = lastResult else { return }
        for case let recording? in members.lazy.map({ $0.job.recording }) {
            recording.recorder.record(.init(.wait, name, start: recording.start, end: sent))
        }
    }

    /// Records the end of a shared query for the jobs that wait for it.
    func record(shared index: Int, failure: PostgresError? = nil) {
        guard lastResult != nil else { return }
        let batch = shared[index]
        let readers = members.lazy.map(\.job).filter { job in
            job.recording != nil && job.shared.contains { batch.canHold($0) }
        }
        record(batch.statement, failure, for: readers)
    }

    /// Records the end of a member's query for its job.
    func record(_ member: Int, _ index: Int, failure: PostgresError? = nil) {
        guard lastResult != nil else { return }
        record(members[member].job.queries[index].statement, failure, for: [members[member].job])
    }

    private func record(
        _ statement: PostgresStatement,
        _ failure: PostgresError?,
        for jobs: some Sequence<any PipelineJob>
    ) {
        guard let start = lastResult else { return }
        let end = ContinuousClock.now
        lastResult = end
        var step: StepRecorder.Step?
        for case let recording? in jobs.map(\.recording) {
            let known = step ?? names.step(of: statement, start: start, end: end, failure: failure)
            step = known
            recording.recorder.record(known)
        }
    }
}
