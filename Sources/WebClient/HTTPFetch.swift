/// A request to another server.
package struct HTTPFetch: Sendable {
    package var method: String
    /// An `http` or `https` URL, sent unmodified.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// The body; nil for none.
    package var body: [UInt8]?
    /// The total timeout, including connecting and reading the whole response.
    package var timeout: Duration
    /// The maximum size of a response body, in bytes.
    package var bodyLimit: Int

    package init(
        _ method: String = "GET",
        _ url: String,
        headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil,
        timeout: Duration = .seconds(10),
        bodyLimit: Int = 16 << 20
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.bodyLimit = bodyLimit
    }
}

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

/// The status and headers of a response.
package struct HTTPFetchHead: Sendable {
    package let status: Int
    /// The headers in the order received, with the server's spelling of names.
    package let headers: [(name: String, value: String)]
}

/// A response of another server.
package struct HTTPFetchResponse: Sendable {
    package let head: HTTPFetchHead
    package let body: [UInt8]

    package var status: Int { head.status }
}
