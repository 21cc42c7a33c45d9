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
