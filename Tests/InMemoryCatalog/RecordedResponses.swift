internal import Catalog

/// The recorded responses of requests with an idempotency key.
struct RecordedResponses: Sendable {
    private var responses: [String: FirstResponse] = [:]

    func first(_ key: String) -> FirstResponse? { responses[key] }

    func known<Outcome: RecordableOutcome>(
        _ call: IdempotentCall?,
        _: Outcome.Type = Outcome.self
    ) throws(CatalogError) -> Outcome? {
        guard let call, let first = responses[call.key] else { return nil }
        return try Outcome(recorded: first.response(to: call))
    }

    mutating func record(_ outcome: some RecordableOutcome, _ call: IdempotentCall?) {
        record(outcome.recorded, call)
    }

    mutating func record(_ response: RecordedResponse, _ call: IdempotentCall?) {
        guard let call, responses[call.key] == nil else { return }
        responses[call.key] = FirstResponse(fingerprint: call.fingerprint, response: response)
    }
}
