/// A request with an idempotency key.
package struct IdempotentCall: Sendable, Hashable {
    /// The client's key, prefixed per caller.
    package var key: String
    /// A hash of the request; the same key with another hash is an error.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) {
        self.key = key
        self.fingerprint = fingerprint
    }

    /// The maximum length of a key, in bytes.
    package static let keyLimit = 255
    /// The maximum size of a diff to record, in bytes; a larger one is computed again for a repeated call.
    package static let diffLimit = 16 << 10
}
