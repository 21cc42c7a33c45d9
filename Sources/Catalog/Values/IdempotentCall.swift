/// A request with an idempotency key.
package struct IdempotentCall: Sendable, Hashable {
    /// The client's key, prefixed per caller.
    package var key: String
    /// A hash of the request; the same key with another hash is an error.
    package var fingerprint: [UInt8]

    /// The maximum size of a recorded response that can also be rebuilt, in bytes.
    package var responseLimit: Int

    package init(key: String, fingerprint: [UInt8], responseLimit: Int = responseLimit) {
        self.key = key
        self.fingerprint = fingerprint
        self.responseLimit = responseLimit
    }

    /// The maximum length of a key, in bytes.
    package static let keyLimit = 255
    package static let responseLimit = 1 << 20
    /// The response limit for requests without a token, in bytes.
    package static let anonymousResponseLimit = 16 << 10
}
