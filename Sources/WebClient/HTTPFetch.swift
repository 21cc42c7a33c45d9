/// A request to another server.
package struct HTTPFetch: Sendable {
    package var method: String
    /// An `http` or `https` URL, sent as it is written.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// nil sends no body.
    package var body: [UInt8]?
    /// How long all of it may take, connecting and the whole answer included.
    package var timeout: Duration
    /// The most bytes of an answer's body.
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

/// The status and headers of an answer.
package struct HTTPFetchHead: Sendable {
    package let status: Int
    /// In the order in which they came; names as the server spells them.
    package let headers: [(name: String, value: String)]
}

/// What another server answered.
package struct HTTPFetchResponse: Sendable {
    package let head: HTTPFetchHead
    package let body: [UInt8]

    package var status: Int { head.status }
}

/// The reason for a failed request.
package struct HTTPFetchError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        /// The URL, or a header, cannot be sent.
        case invalidRequest
        /// No connection, a broken one, a certificate that is not trusted, or an answer that is not HTTP.
        case connection
        case timeout
        case bodyTooLarge
        case cancelled
    }

    package let kind: Kind
    package let description: String
}
