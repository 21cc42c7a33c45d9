internal import FoundationEssentials
internal import WebClient

/// The result of one attempt to send spans. Source: OTLP/HTTP, "Failures".
enum ExportResult: Sendable, Equatable {
    /// The collector has taken the spans, or all but a number of them.
    case accepted(rejected: Int = 0, reason: String = "")
    /// The same request may succeed later, at the earliest after a delay that the collector requests.
    case retryable(reason: String, after: Duration?)
    /// The same request would fail again.
    case refused(reason: String)

    /// The statuses that mean that the same request may succeed later.
    private static let retryableStatuses: Set<Int> = [429, 502, 503, 504]

    init(_ response: HTTPFetchResponse) {
        switch response.status {
        case 200..<300:
            let partial = (try? JSONDecoder().decode(Answer.self, from: Data(response.body)))?.partialSuccess
            self = .accepted(rejected: max(0, partial?.rejectedSpans?.value ?? 0), reason: partial?.errorMessage ?? "")
        case let status where Self.retryableStatuses.contains(status):
            let text = response.head.headers.first { $0.name.lowercased() == "retry-after" }?.value
            let seconds = text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
            self = .retryable(reason: "status \(status)", after: seconds.map { .seconds(min($0, Self.maximumSeconds)) })
        default: self = .refused(reason: "status \(response.status)")
        }
    }

    init(_ error: HTTPFetchError) {
        switch error.kind {
        case .connection, .timeout: self = .retryable(reason: error.description, after: nil)
        // The collector has answered, at length.
        case .bodyTooLarge: self = .accepted()
        case .invalidRequest, .cancelled: self = .refused(reason: error.description)
        }
    }

    /// The body of a response with success. Source: OTLP/HTTP, "Partial Success".
    private struct Answer: Decodable {
        struct Partial: Decodable {
            var rejectedSpans: Count?
            var errorMessage: String?
        }

        /// A 64-bit number, which JSON of Protocol Buffers writes as text; both are accepted.
        struct Count: Decodable {
            let value: Int

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                value = try (try? container.decode(Int.self)) ?? Int(container.decode(String.self)) ?? 0
            }
        }

        var partialSuccess: Partial?
    }

    /// The maximum delay that a collector can request, in seconds.
    private static let maximumSeconds = 60
    /// The maximum delay that doubles with each attempt.
    private static let maximumBackoff: Duration = .seconds(16)

    /// The maximum number of attempts to send a batch.
    static let attemptLimit = 5

    /// Returns the delay before the next attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of earlier attempts, at least 1.
    ///   - jitter: from 0 to 1, so that servers do not all retry at the same time.
    static func delay(after attempt: Int, requested: Duration?, jitter: Double) -> Duration {
        if let requested { return requested * (1 + jitter / 10) }
        return min(.seconds(1 << min(attempt - 1, 10)), maximumBackoff) * (0.5 + jitter / 2)
    }
}
