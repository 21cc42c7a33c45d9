/// A request that a client may repeat without doing it twice.
package struct IdempotentCall: Sendable, Hashable {
    /// The client's own key, in a form of its own for each caller.
    package var key: String
    /// A hash of the request: the same key with another one is an error.
    package var fingerprint: [UInt8]

    /// The most bytes of an answer that is kept where it can be made again.
    package var answerBound: Int

    package init(key: String, fingerprint: [UInt8], answerBound: Int = answerBound) {
        self.key = key
        self.fingerprint = fingerprint
        self.answerBound = answerBound
    }

    /// The most bytes of a key.
    package static let keyBound = 255
    package static let answerBound = 1 << 20
    /// The same for who has no token.
    package static let anonymousAnswerBound = 16 << 10
}
