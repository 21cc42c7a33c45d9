internal import Catalog

/// The recorded responses of requests with an idempotency key.
struct RecordedResponses: Sendable {
    private var responses: [String: FirstResponse] = [:]

    func first(_ key: String) -> FirstResponse? { responses[key] }

    func known<Outcome: Sendable>(_ call: IdempotentCall<Outcome>?) throws(CatalogError) -> Outcome? {
        guard let call, let first = responses[call.key] else { return nil }
        return try call.decode(first.response(to: call))
    }

    mutating func record<Outcome: Sendable>(_ outcome: Outcome, _ call: IdempotentCall<Outcome>?) {
        guard let call, responses[call.key] == nil else { return }
        var outcome = outcome
        responses[call.key] = FirstResponse(fingerprint: call.fingerprint, response: call.encode(&outcome))
    }
}
