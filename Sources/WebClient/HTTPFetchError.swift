/// The reason for a failed request.
package struct HTTPFetchError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The URL or a header is invalid.
        case invalidRequest
        /// The connection failed or broke, the certificate is not trusted, or the response is not HTTP.
        case connection
        case timeout
        case bodyTooLarge
        case cancelled
    }

    package let kind: Kind
    package let description: String
}
