internal import CLibPQ
internal import DequeModule
internal import Platform
internal import Synchronization

/// A few connections shared by many readers. Each sends its statements immediately, without waiting for the results of the
/// others (libpq's pipeline mode), with a sync after each reader, so that an error does not affect other readers.
///
/// For short reads only. One thread drives all connections and decodes the rows as they arrive.
package final class PostgresPipeline: Sendable {
    package struct Options: Sendable {
        /// The number of connections.
        package var connections = 2
        /// The maximum number of reads in flight.
        package var maximumInFlight = 4096
        /// The timeout of a read, including waiting.
        package var timeout: Duration = .seconds(5)

        package init() {}
    }

    private let options: Options
    private let mailbox: PipelineMailbox

    package init(_ configuration: PostgresConfiguration, options: Options = Options()) throws {
        self.options = options
        mailbox = try PipelineMailbox()
        let driver = PipelineDriver(configuration, options, mailbox)
        try OSThread.start(name: "pipeline") { driver.run() }
    }

    deinit { mailbox.shutDown() }

    /// Fails reads in flight and ends the thread.
    package func shutDown() { mailbox.shutDown() }

    /// Runs queries in sequence on one connection and folds their rows into a value.
    ///
    /// - Parameters:
    ///   - receive: called on the pipeline's thread with the index of each query and its rows; must be quick.
    /// - Throws: the error of `receive`, or a `PostgresError`. After an error, later queries did not run.
    package func read<Value: Sendable>(
        _ queries: [PostgresQuery],
        into initial: Value,
        _ receive: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    ) async throws -> Value {
        let job = ReadJob(queries, deadline: .now + options.timeout, initial, receive)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                job.start(continuation)
                if Task.isCancelled { job.fail(PostgresError(.cancelled, "the task was cancelled")) }
                if let rejection = mailbox.post(job, limit: options.maximumInFlight) { job.fail(rejection) }
            }
        } onCancel: {
            job.fail(PostgresError(.cancelled, "the task was cancelled"))
        }
    }
}

private final class ReadJob<Value: Sendable>: PipelineJob {
    private struct State {
        var value: Value
        var failure: (any Error)?
        var continuation: CheckedContinuation<Value, any Error>?
        var hasRestarted = false
    }

    let queries: [PostgresQuery]
    let deadline: ContinuousClock.Instant
    private let initial: Value
    private let body: @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    private let state: Mutex<State>

    init(
        _ queries: [PostgresQuery],
        deadline: ContinuousClock.Instant,
        _ initial: Value,
        _ body: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    ) {
        self.queries = queries
        self.deadline = deadline
        self.initial = initial
        self.body = body
        state = Mutex(State(value: initial))
    }

    var isPending: Bool { state.withLock { $0.continuation != nil } }

    func restart() -> Bool {
        state.withLock { state in
            guard state.continuation != nil, !state.hasRestarted, deadline > .now else { return false }
            state.hasRestarted = true
            state.value = initial
            state.failure = nil
            return true
        }
    }

    func start(_ continuation: CheckedContinuation<Value, any Error>) {
        state.withLock { $0.continuation = continuation }
    }

    func receive(_ index: Int, _ rows: borrowing PostgresRows) {
        state.withLock { state in
            guard state.continuation != nil, state.failure == nil else { return }
            do { try body(&state.value, index, rows) } catch { state.failure = error }
        }
    }

    func succeed() {
        let (continuation, result) = state.withLock { state in
            let result: Result<Value, any Error> = state.failure.map { .failure($0) } ?? .success(state.value)
            return (state.continuation.take(), result)
        }
        continuation?.resume(with: result)
    }

    func fail(_ error: any Error) {
        state.withLock { $0.continuation.take() }?.resume(throwing: error)
    }
}
