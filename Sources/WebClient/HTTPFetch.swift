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
