/// A request that a client may repeat without doing it twice.
package struct IdempotentCall: Sendable, Hashable {
    /// The client's own key, in a form of its own for each caller.
    package var key: String
    /// A hash of the request: the same key with another one is an error.
    package var fingerprint: [UInt8]

    /// The most bytes of an answer that is kept where it can be made again.
    package var responseLimit: Int

    package init(key: String, fingerprint: [UInt8], responseLimit: Int = responseLimit) {
        self.key = key
        self.fingerprint = fingerprint
        self.responseLimit = responseLimit
    }

    /// The most bytes of a key.
    package static let keyLimit = 255
    package static let responseLimit = 1 << 20
    /// The same for who has no token.
    package static let anonymousResponseLimit = 16 << 10
}
