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
    package func response(to call: IdempotentCall) throws(CatalogError) -> RecordedResponse {
        guard fingerprint == call.fingerprint else { throw .keyReused }
        return response
    }
}
