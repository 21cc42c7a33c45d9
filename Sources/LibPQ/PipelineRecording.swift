internal import Platform

/// The recorder of the request that a read belongs to. The driver's thread, which has no task, records the steps.
struct PipelineRecording: Sendable {
    let recorder: StepRecorder
    /// The time of the call.
    let start: ContinuousClock.Instant

    /// The recording of the current task's request; nil if its steps are not recorded.
    static var current: PipelineRecording? {
        StepRecorder.current.map { PipelineRecording(recorder: $0, start: .now) }
    }

    /// Records the time in the queue.
    func recordWait(_ name: String, until end: ContinuousClock.Instant) {
        recorder.record(.init(.wait, name, start: start, end: end))
    }
}

// The steps of the requests whose reads are sent together.
extension PipelineGroup {
    /// Records that the jobs were sent.
    func recordSending(_ name: String) {
        guard let sent = lastResult else { return }
        for job in members.lazy.map(\.job) { job.recording?.recordWait(name, until: sent) }
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
            let known =
                step
                ?? StepRecorder.Step(
                    .statement,
                    names.name(of: statement),
                    start: start,
                    end: end,
                    failure: failure.map(PostgresError.kind(of:))
                )
            step = known
            recording.recorder.record(known)
        }
    }
}
