internal import CLibPQ
internal import DequeModule
internal import Platform
internal import Synchronization

/// A few connections shared by many readers. Statements are sent without waiting for the results of earlier ones (libpq's
/// pipeline mode). Reads that start together share a transaction; after an error, the others are sent again, each alone.
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

    /// Runs queries on every connection, now and after each reconnect, so that the first reads need not wait for plans.
    package func warmUp(_ queries: [PostgresQuery]) { mailbox.warmUp(queries) }

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
        try await read(sharing: [], then: queries, into: initial, rows: receive) { _, _, _ in }
    }

    /// Runs shared queries, and then queries in sequence, on one connection, and folds their rows into a value.
    ///
    /// - Parameters:
    ///   - identity: identifies the queries and the value; of reads with the same identity and type that are sent together, only one
    ///     is. nil for a read that is never shared.
    ///   - rows: called on the pipeline's thread with the index of each query and its rows; must be quick.
    ///   - sharedRow: the same for each row of a shared query that has the read's key.
    /// - Throws: the error of `rows` or `sharedRow`, or a `PostgresError`. After an error, later queries did not run.
    package func read<Value: Sendable>(
        sharing shared: [SharedQuery],
        then queries: [PostgresQuery],
        identity: ReadIdentity? = nil,
        into initial: Value,
        rows: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void,
        sharedRow: @escaping @Sendable (inout Value, Int, borrowing PostgresRow) throws -> Void
    ) async throws -> Value {
        let job = ReadJob(shared, queries, identity, deadline: .now + options.timeout, initial, rows, sharedRow)
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

    let shared: [SharedQuery]
    let queries: [PostgresQuery]
    let deadline: ContinuousClock.Instant
    private let identity: ReadIdentity?
    private let initial: Value
    private let rows: @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    private let sharedRow: @Sendable (inout Value, Int, borrowing PostgresRow) throws -> Void
    private let state: Mutex<State>

    init(
        _ shared: [SharedQuery],
        _ queries: [PostgresQuery],
        _ identity: ReadIdentity?,
        deadline: ContinuousClock.Instant,
        _ initial: Value,
        _ rows: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void,
        _ sharedRow: @escaping @Sendable (inout Value, Int, borrowing PostgresRow) throws -> Void
    ) {
        self.shared = shared
        self.queries = queries
        self.identity = identity
        self.deadline = deadline
        self.initial = initial
        self.rows = rows
        self.sharedRow = sharedRow
        state = Mutex(State(value: initial))
    }

    var isPending: Bool { state.withLock { $0.continuation != nil } }

    var hasRestarted: Bool { state.withLock { $0.hasRestarted } }

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

    func receive(shared index: Int, _ row: borrowing PostgresRow) {
        state.withLock { state in
            guard state.failure == nil else { return }
            do { try sharedRow(&state.value, index, row) } catch { state.failure = error }
        }
    }

    func receive(_ index: Int, _ rows: borrowing PostgresRows) {
        state.withLock { state in
            guard state.failure == nil else { return }
            do { try self.rows(&state.value, index, rows) } catch { state.failure = error }
        }
    }

    func isIdentical(to other: any PipelineJob) -> Bool {
        guard let identity, let other = other as? ReadJob<Value> else { return false }
        return identity == other.identity
    }

    private var result: Result<Value, any Error> {
        state.withLock { state in state.failure.map { .failure($0) } ?? .success(state.value) }
    }

    func succeed() { resume(with: result) }

    func succeed(as other: any PipelineJob) {
        if let other = other as? ReadJob<Value> { resume(with: other.result) }
    }

    private func resume(with result: Result<Value, any Error>) {
        state.withLock { $0.continuation.take() }?.resume(with: result)
    }

    func fail(_ error: any Error) { resume(with: .failure(error)) }
}
