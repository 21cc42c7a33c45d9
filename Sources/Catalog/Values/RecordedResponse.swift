/// What is kept of the response to a request with an idempotency key.
package struct RecordedResponse: Sendable, Hashable {
    /// Whether the request created what it asked for, rather than finding it.
    package var isNew: Bool
    package var mediaType: String
    package var body: [UInt8]

    package init(isNew: Bool = false, mediaType: String = "application/json", body: [UInt8]) {
        self.isNew = isNew
        self.mediaType = mediaType
        self.body = body
    }
}

/// The first response under a key, and the request that it answers.
package struct FirstResponse: Sendable, Hashable {
    package var fingerprint: [UInt8]
    package var response: RecordedResponse

    package init(fingerprint: [UInt8], response: RecordedResponse) {
        self.fingerprint = fingerprint
        self.response = response
    }

    /// The response, for a repeat of the same request.
    ///
    /// - Throws: `keyReused` for another request.
    package func response(to call: IdempotentCall) throws(CatalogError) -> RecordedResponse {
        guard fingerprint == call.fingerprint else { throw .keyReused }
        return response
    }
}
