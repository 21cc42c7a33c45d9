package import Logging
internal import Synchronization
package import WebClient

/// Sends ended spans to a collector in batches, by OTLP over HTTP.
///
/// A collector that is slow or unreachable costs no request anything: the queue is bounded, and spans beyond it are dropped.
package final class SpanExporter: Sendable {
    package typealias Send = @Sendable (HTTPFetch) async throws(HTTPFetchError) -> HTTPFetchResponse

    /// Numbers of spans since the start.
    package struct Counts: Sendable, Equatable {
        /// The spans that the collector has accepted.
        package var exported = 0
        /// The spans for which the queue had no room.
        package var dropped = 0
        /// The spans that could not be sent.
        package var failed = 0
    }

    private struct State {
        var queue = SpanQueue(limit: queueLimit, batchSize: batchSize)
        var counts = Counts()
        var isStopped = false
        /// The loop that exports, and the pause before its next attempt.
        var loop: Task<Void, Never>?
        var pause: Task<Void, Never>?
        var nextWarning: ContinuousClock.Instant?
    }

    /// The maximum number of spans that wait.
    package static let queueLimit = 2048
    /// The number of spans in a request; the last ones may exceed it, because the steps of a span stay together.
    package static let batchSize = 512
    /// The maximum time that a span waits for its batch.
    private static let interval: Duration = .seconds(1)
    /// The maximum time to send the remaining spans at shutdown.
    private static let flushLimit: Duration = .seconds(3)
    private static let warningInterval: Duration = .seconds(60)
    /// The maximum length of a response.
    private static let responseLimit = 64 << 10

    private let options: TraceOptions
    private let encoder: SpanEncoder
    private let logger: Logger
    private let send: Send
    private let sleep: @Sendable (Duration) async throws -> Void
    private let wakes: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - version: the version of the program.
    ///   - send: sends a request.
    ///   - sleep: waits, except at shutdown.
    package init(
        _ options: TraceOptions,
        version: String,
        logger: Logger,
        send: @escaping Send = { fetch throws(HTTPFetchError) in try await HTTPClient.shared.send(fetch) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.options = options
        encoder = SpanEncoder(resource: options.resource, version: version)
        self.logger = logger
        self.send = send
        self.sleep = sleep
        wakes = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var counts: Counts {
        state.withLock { state in
            var counts = state.counts
            counts.dropped = state.queue.dropped
            return counts
        }
    }

    /// Queues a span, or drops it if the queue is full.
    package func receive(_ span: FinishedSpan) {
        if state.withLock({ $0.queue.add(span) }) { wakes.continuation.yield() }
    }

    // MARK: - Running

    /// Exports spans until `stop`, and then sends the remaining ones within a limit.
    package func run() async {
        let loop = Task { await exportContinuously() }
        state.withLock { $0.loop = loop }
        await withTaskCancellationHandler {
            await loop.value
        } onCancel: {
            loop.cancel()
        }
    }

    /// Ends `run` as soon as the remaining spans are sent, within the limit for that.
    package func stop() {
        let (loop, pause) = state.withLock { state in
            state.isStopped = true
            return (state.loop, state.pause)
        }
        pause?.cancel()
        wakes.continuation.finish()
        guard let loop else { return }
        Task {
            try? await Task.sleep(for: Self.flushLimit)
            loop.cancel()
        }
    }

    private func exportContinuously() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while (try? await sleep(Self.interval)) != nil, !Task.isCancelled { wakes.continuation.yield() }
            }
            for await _ in wakes.stream { await exportQueue() }
            group.cancelAll()
        }
        await exportQueue()
    }

    /// Exports the waiting spans. Spans that arrive in the meantime wait for the next batch.
    private func exportQueue() async {
        var rest = state.withLock { $0.queue.count }
        while rest > 0 {
            let batch = state.withLock { $0.queue.takeBatch() }
            guard !batch.isEmpty else { return }
            rest -= Self.count(batch)
            await export(batch)
        }
    }

    private static func count(_ batch: [FinishedSpan]) -> Int { batch.reduce(0) { $0 + $1.count } }

    private func export(_ batch: [FinishedSpan]) async {
        let body = encoder.encode(batch)
        for attempt in 1...ExportResult.attemptLimit {
            switch await attemptExport(body) {
            case .accepted(let rejected, let reason):
                let rejected = min(rejected, Self.count(batch))
                state.withLock { $0.counts.exported += Self.count(batch) - rejected }
                if rejected > 0 { fail(rejected, "rejected: \(reason)") }
                return
            case .refused(let reason): return fail(Self.count(batch), reason)
            case .retryable(let reason, let after):
                let isStopped = state.withLock { $0.isStopped }
                guard attempt < ExportResult.attemptLimit, !isStopped, !Task.isCancelled else {
                    return fail(Self.count(batch), reason)
                }
                await pause(
                    ExportResult.delay(after: attempt, requested: after, jitter: .random(in: 0...1))
                )
            }
        }
    }

    private func attemptExport(_ body: [UInt8]) async -> ExportResult {
        let fetch = HTTPFetch(
            "POST",
            options.endpoint,
            headers: [("Content-Type", "application/json")] + options.headers,
            body: body,
            timeout: options.timeout,
            bodyLimit: Self.responseLimit
        )
        do throws(HTTPFetchError) { return ExportResult(try await send(fetch)) } catch {
            return ExportResult(error)
        }
    }

    /// Waits before another attempt; `stop` ends the wait.
    private func pause(_ duration: Duration) async {
        let pause = Task { [sleep] in
            // Ends early if it is cancelled.
            do { try await sleep(duration) } catch {}
        }
        let isStopped = state.withLock { state in
            state.pause = pause
            return state.isStopped
        }
        if isStopped { pause.cancel() }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
    }

    /// Counts spans that could not be sent, and warns about it at most once a minute.
    private func fail(_ count: Int, _ reason: String) {
        let (counts, isDue) = state.withLock { state in
            state.counts.failed += count
            let now = ContinuousClock.now
            let isDue = state.nextWarning.map { $0 <= now } ?? true
            if isDue { state.nextWarning = now + Self.warningInterval }
            return (state.counts, isDue)
        }
        guard isDue else { return }
        logger.warning(
            "cannot send spans to the trace collector: \(reason); lost so far: \(counts.failed) not sent, \(self.counts.dropped) beyond the queue's limit"
        )
    }
}
