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

/// An answer as it was given, to be given again.
package struct RecordedAnswer: Sendable, Hashable {
    package var status: Int
    package var contentType: String
    package var body: [UInt8]

    package init(status: Int = 200, contentType: String = "application/json", body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

/// The first answer under a key, and the request that it is to.
package struct FirstAnswer: Sendable, Hashable {
    package var fingerprint: [UInt8]
    package var answer: RecordedAnswer

    package init(fingerprint: [UInt8], answer: RecordedAnswer) {
        self.fingerprint = fingerprint
        self.answer = answer
    }

    /// The answer again, to the same request.
    ///
    /// - Throws: `keyReused` to another.
    package func answer(to call: IdempotentCall) throws(CatalogError) -> RecordedAnswer {
        guard fingerprint == call.fingerprint else { throw .keyReused }
        return answer
    }
}
