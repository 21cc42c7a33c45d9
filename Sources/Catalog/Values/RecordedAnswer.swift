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
