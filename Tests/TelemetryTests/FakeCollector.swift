import Logging
import Synchronization

@testable import Telemetry
@testable import WebClient

/// A collector without a socket: it answers as a test says, and remembers the requests and the pauses of the exporter.
final class FakeCollector: Sendable {
    enum Answer: Sendable {
        case status(Int, retryAfter: String? = nil)
        /// Status 200, but not for all spans.
        case rejection(spans: Int)
        case failure
        /// No answer until the request is cancelled.
        case silence
    }

    private struct State {
        var answers: [Answer]
        var requests: [HTTPFetch] = []
        var pauses: [Duration] = []
    }

    private let state: Mutex<State>
    /// The number of requests, whenever one arrives.
    let arrivals = AsyncStream.makeStream(of: Int.self)

    /// - Parameter answers: the answers in order; after them, 200.
    init(_ answers: [Answer] = []) { state = Mutex(State(answers: answers)) }

    var requests: [HTTPFetch] { state.withLock { $0.requests } }
    var pauses: [Duration] { state.withLock { $0.pauses } }

    /// The number of spans in each request.
    var spanCounts: [Int] {
        requests.map { String(decoding: $0.body ?? [], as: UTF8.self).split(separator: "\"spanId\"").count - 1 }
    }

    /// Returns an exporter whose pauses are over at once, and that sends complete batches only.
    func exporter(_ change: (inout TraceOptions) -> Void = { _ in }) -> SpanExporter {
        var options = TraceOptions(endpoint: "http://collector/v1/traces")
        change(&options)
        return SpanExporter(
            options,
            version: "1",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            send: { fetch throws(HTTPFetchError) in try await self.answer(fetch) },
            sleep: { duration in
                // The interval between batches.
                if duration == .seconds(1) { try await Self.waitForCancellation() }
                self.state.withLock { $0.pauses.append(duration) }
            }
        )
    }

    /// Waits until a number of requests have arrived.
    func waitForRequests(_ count: Int) async {
        for await number in arrivals.stream where number >= count { return }
    }

    private static func waitForCancellation() async throws { try await Task.sleep(for: .seconds(3600)) }

    private func answer(_ fetch: HTTPFetch) async throws(HTTPFetchError) -> HTTPFetchResponse {
        let (answer, count) = state.withLock { state in
            state.requests.append(fetch)
            return (state.answers.isEmpty ? .status(200) : state.answers.removeFirst(), state.requests.count)
        }
        arrivals.continuation.yield(count)
        switch answer {
        case .status(let status, let retryAfter):
            let headers = retryAfter.map { [(name: "Retry-After", value: $0)] } ?? []
            return HTTPFetchResponse(head: HTTPFetchHead(status: status, headers: headers), body: [])
        case .rejection(let spans):
            let body = #"{"partialSuccess":{"rejectedSpans":"\#(spans)","errorMessage":"too old"}}"#
            return HTTPFetchResponse(head: HTTPFetchHead(status: 200, headers: []), body: Array(body.utf8))
        case .failure: throw HTTPFetchError(kind: .connection, description: "connection refused")
        case .silence:
            do { try await Self.waitForCancellation() } catch {}
            throw HTTPFetchError(kind: .cancelled, description: "the task was cancelled")
        }
    }
}
