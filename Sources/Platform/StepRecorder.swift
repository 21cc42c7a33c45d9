internal import Synchronization

/// Records the steps of a request: waiting, statements and rendering.
///
/// Steps become spans of a trace, or a line of the log, only when the request has ended. So a step costs little more than two reads
/// of the clock. Without a recorder, a step costs the read of a task-local value.
package final class StepRecorder: Sendable {
    /// The recorder of the current task's request; nil if nobody needs its steps.
    package static var current: StepRecorder? { TaskContext.current.steps }

    /// The maximum number of recorded steps; further ones are only counted.
    package static let limit = 128

    /// A part of the work for a request.
    package struct Step: Sendable, Equatable {
        package enum Kind: String, Sendable {
            /// Waiting for a connection; the name is the lane's.
            case wait
            /// A statement, from sending it to its last row; the name is the statement's.
            case statement
            /// The preparation of a statement on a connection; the name is the statement's.
            case preparation
            /// Making a response from rows; the name is the kind of response.
            case rendering
        }

        package let kind: Kind
        package let name: String
        package let start: ContinuousClock.Instant
        package let end: ContinuousClock.Instant
        /// The kind of error that ended the step, such as an SQLSTATE; nil for success.
        package let failure: String?

        package init(
            _ kind: Kind,
            _ name: String,
            start: ContinuousClock.Instant,
            end: ContinuousClock.Instant,
            failure: String? = nil
        ) {
            self.kind = kind
            self.name = name
            self.start = start
            self.end = end
            self.failure = failure
        }

        package var duration: Duration { end - start }
    }

    private struct State {
        var steps: [Step] = []
        var dropped = 0
    }

    private let state = Mutex(State())
    /// The recorders of the requests that this recorder's work is for, if it is shared.
    private let targets: [StepRecorder]

    package init() { targets = [] }

    private init(targets: [StepRecorder]) { self.targets = targets }

    /// Returns a recorder for work that several requests share; nil if none of them has a recorder.
    package static func shared(by recorders: [StepRecorder?]) -> StepRecorder? {
        let targets = recorders.compactMap { $0 }
        return targets.count > 1 ? StepRecorder(targets: targets) : targets.first
    }

    package func record(_ step: Step) {
        guard targets.isEmpty else {
            for target in targets { target.record(step) }
            return
        }
        state.withLock { state in
            guard state.steps.count < Self.limit else { return state.dropped += 1 }
            if state.steps.isEmpty { state.steps.reserveCapacity(8) }
            state.steps.append(step)
        }
    }

    /// The steps so far, in the order in which they ended, and the number of steps beyond the limit.
    package var recorded: (steps: [Step], dropped: Int) { state.withLock { ($0.steps, $0.dropped) } }

    /// Runs a part of the current request, and records it if the request has a recorder.
    ///
    /// - Parameter failure: returns the kind of an error.
    package static func measure<T>(
        _ kind: Step.Kind,
        _ name: @autoclosure () -> String,
        failure: (any Error) -> String = { "\(type(of: $0))" },
        _ body: () throws -> T
    ) rethrows -> T {
        guard let recorder = current else { return try body() }
        let start = ContinuousClock.now
        do {
            let value = try body()
            recorder.record(Step(kind, name(), start: start, end: .now))
            return value
        } catch {
            recorder.record(Step(kind, name(), start: start, end: .now, failure: failure(error)))
            throw error
        }
    }
}
