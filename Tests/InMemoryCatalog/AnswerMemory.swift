internal import Catalog
internal import Ordering
internal import Synchronization

/// The first answers to requests with a key.
struct AnswerMemory: Sendable {
    private var answers: [String: FirstAnswer] = [:]

    func first(_ key: String) -> FirstAnswer? { answers[key] }

    func known(_ call: IdempotentCall?) throws(CatalogError) -> RecordedAnswer? {
        guard let call else { return nil }
        return try answers[call.key]?.answer(to: call)
    }

    mutating func keep(_ answer: RecordedAnswer, _ call: IdempotentCall?) {
        guard let call, answers[call.key] == nil else { return }
        answers[call.key] = FirstAnswer(fingerprint: call.fingerprint, answer: answer)
    }
}
