/// A completed request, for logs and metrics.
package struct CompletedRequest: Sendable, Hashable {
    package var method: String
    /// The path as it was sent, without the query.
    package var path: String
    /// The path template, the label of metrics; nil if the path is unknown.
    package var endpoint: String?
    package var status: Int
    package var duration: Duration
    package var requestID: String
    /// The network of the client: `203.0.113.7` or, for IPv6, `2001:db8:1:2::/64`; nil if it is unknown or not wanted.
    package var client: String?
    /// The length of the response's body in bytes; nil for a stream.
    package var responseBytes: Int?

    package init(
        method: String,
        path: String,
        endpoint: String?,
        status: Int,
        duration: Duration,
        requestID: String,
        client: String? = nil,
        responseBytes: Int? = nil
    ) {
        self.method = method
        self.path = path
        self.endpoint = endpoint
        self.status = status
        self.duration = duration
        self.requestID = requestID
        self.client = client
        self.responseBytes = responseBytes
    }
}
