internal import Synchronization

/// A read of a pipeline, with the value of the queries that it shares and the value of its own.
final class ReadJob<Shared: Sendable, Own: Sendable>: PipelineJob {
    private struct State {
        var shared: Shared
        var own: Own
        /// The errors of the closures that receive rows.
        var sharedFailure: (any Error)?
        var ownFailure: (any Error)?
        var continuation: CheckedContinuation<(shared: Shared, own: Own), any Error>?
        var hasRestarted = false
    }

    let deadline: ContinuousClock.Instant
    let recording = CallRecording.current
    private let read: ReadQueries<Shared, Own>
    private let state: Mutex<State>

    init(_ read: ReadQueries<Shared, Own>, deadline: ContinuousClock.Instant) {
        self.deadline = deadline
        self.read = read
        state = Mutex(State(shared: read.initialShared, own: read.initialOwn))
    }

    var shared: [SharedQuery] { read.shared }

    var queries: [PostgresQuery] { read.own }

    var isPending: Bool { state.withLock { $0.continuation != nil } }

    var hasRestarted: Bool { state.withLock { $0.hasRestarted } }

    func restart() -> Bool {
        state.withLock { state in
            guard state.continuation != nil, !state.hasRestarted, deadline > .now else { return false }
            state.hasRestarted = true
            (state.shared, state.own) = (read.initialShared, read.initialOwn)
            (state.sharedFailure, state.ownFailure) = (nil, nil)
            return true
        }
    }

    func start(_ continuation: CheckedContinuation<(shared: Shared, own: Own), any Error>) {
        state.withLock { $0.continuation = continuation }
    }

    func receive(shared index: Int, _ row: borrowing PostgresRow) {
        state.withLock { state in
            guard state.sharedFailure == nil else { return }
            do { try read.sharedRow(&state.shared, index, row) } catch { state.sharedFailure = error }
        }
    }

    func receive(_ index: Int, _ rows: borrowing PostgresRows) {
        state.withLock { state in
            guard state.ownFailure == nil else { return }
            do { try read.ownRows(&state.own, index, rows) } catch { state.ownFailure = error }
        }
    }

    func succeed() {
        resume(
            with: state.withLock { state in
                (state.sharedFailure ?? state.ownFailure).map { .failure($0) } ?? .success((state.shared, state.own))
            }
        )
    }

    private func resume(with result: Result<(shared: Shared, own: Own), any Error>) {
        state.withLock { $0.continuation.take() }?.resume(with: result)
    }

    func fail(_ error: any Error) { resume(with: .failure(error)) }
}
