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
        /// The timeout of a read, including waiting.
        package var timeout: Duration = .seconds(5)
        /// The name of the pipeline in logs and traces.
        package var name = "pipeline"

        package init() {}
    }

    /// The maximum number of reads in flight.
    private static let inFlightLimit = 4096

    private let options: Options
    private let mailbox: PipelineMailbox

    package init(_ configuration: PostgresConfiguration, options: Options = Options()) throws {
        self.options = options
        mailbox = try PipelineMailbox()
        let driver = PipelineDriver(configuration, options, mailbox)
        try OSThread.start(name: "pipeline") { driver.run() }
    }

    deinit { mailbox.shutDown() }

    /// The number of reads in flight, including those that wait.
    package var readsInFlight: Int { mailbox.inFlight }

    /// Fails reads in flight and ends the thread.
    package func shutDown() { mailbox.shutDown() }

    /// Runs queries on every connection, now and after each reconnect, so that the first reads need not wait for plans; not with unnamed
    /// statements.
    package func warmUp(_ queries: [PostgresQuery]) { mailbox.warmUp(queries) }

    /// Runs queries in sequence on one connection and folds their rows into a value.
    ///
    /// - Parameters:
    ///   - receive: called on the pipeline's thread with the index of each query and its rows; must be quick.
    /// - Throws: as the other `read`.
    package func read<Value: Sendable>(
        _ queries: [PostgresQuery],
        into initial: Value,
        _ receive: @escaping @Sendable (inout Value, Int, borrowing PostgresRows) throws -> Void
    ) async throws -> Value {
        try await read(ReadQueries(sharing: [], into: (), { _, _, _ in }, then: queries, into: initial, receive)).own
    }

    /// Runs queries on one connection, and folds their rows into two values.
    ///
    /// - Throws: the error of a function that gets rows, or a `PostgresError`. After an error, later queries did not run.
    package func read<Shared: Sendable, Own: Sendable>(
        _ queries: ReadQueries<Shared, Own>
    ) async throws -> (shared: Shared, own: Own) {
        let job = ReadJob(queries, deadline: .now + options.timeout)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                job.start(continuation)
                if Task.isCancelled { job.fail(PostgresError(.cancelled, "the task was cancelled")) }
                if let rejection = mailbox.post(job, limit: Self.inFlightLimit) { job.fail(rejection) }
            }
        } onCancel: {
            job.fail(PostgresError(.cancelled, "the task was cancelled"))
        }
    }
}
