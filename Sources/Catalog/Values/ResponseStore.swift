/// Recorded responses to requests with an idempotency key that do not write to the catalog.
package protocol ResponseStore: Sendable {
    /// Returns the first response under a key; nil for a new key.
    ///
    /// - Parameter store: nil for a request that concerns no store.
    func firstResponse(_ key: String, in store: CatalogKey?) async throws(CatalogError) -> FirstResponse?
    /// Records a response; the first one under a key stays.
    func record(
        _ response: RecordedResponse,
        of call: IdempotentCall<RecordedResponse>,
        in store: CatalogKey?
    ) async throws(CatalogError)
}

/// The first response under a key, and the fingerprint of its request.
package struct FirstResponse: Sendable, Hashable {
    package var fingerprint: [UInt8]
    package var response: RecordedResponse

    package init(fingerprint: [UInt8], response: RecordedResponse) {
        self.fingerprint = fingerprint
        self.response = response
    }

    /// Returns the response to a repeat of the same request.
    ///
    /// - Throws: `keyReused` for another request.
    package func response(to call: IdempotentCall<some Sendable>) throws(CatalogError) -> RecordedResponse {
        guard fingerprint == call.fingerprint else { throw .keyReused }
        return response
    }
}

/// A recorded response to a request with an idempotency key.
package struct RecordedResponse: Sendable, Hashable {
    /// Whether the request created its resource, rather than finding an existing one.
    package var isNew: Bool
    package var mediaType: String
    package var body: [UInt8]

    package init(isNew: Bool = false, mediaType: String = "application/json", body: [UInt8]) {
        self.isNew = isNew
        self.mediaType = mediaType
        self.body = body
    }
}

/// A request with an idempotency key, and the form in which its outcome is recorded.
package struct IdempotentCall<Outcome: Sendable>: Sendable {
    /// The client's key, prefixed per caller.
    package let key: String
    /// A hash of the request; the same key with another hash is an error.
    package var fingerprint: [UInt8]
    /// Encodes the outcome, which storage records with the key in the transaction of the request. The outcome may become its record.
    package let encode: @Sendable (inout Outcome) -> RecordedResponse
    /// Decodes a recorded outcome, and throws `fault` for an invalid record.
    package let decode: @Sendable (RecordedResponse) throws(CatalogError) -> Outcome

    package init(
        key: String,
        fingerprint: [UInt8],
        encode: @escaping @Sendable (inout Outcome) -> RecordedResponse,
        decode: @escaping @Sendable (RecordedResponse) throws(CatalogError) -> Outcome
    ) {
        self.key = key
        self.fingerprint = fingerprint
        self.encode = encode
        self.decode = decode
    }
}
