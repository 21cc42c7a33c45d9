package import Live

/// An event of the HTTP API for logs and metrics.
package enum HTTPObservation: Sendable, Equatable {
    /// Where a page came from.
    package enum PageResult: String, Sendable, CaseIterable {
        case cached, rendered
        /// The client has the page.
        case notModified = "not_modified"
    }

    /// A request has started; `requestCompleted` follows.
    case requestStarted
    case requestCompleted(CompletedRequest)
    /// A request failed with an internal error; `requestCompleted` follows.
    case requestFailed(id: String, detail: String)
    /// A page was returned.
    case pageReturned(PageResult)
    /// A connection was rejected, because its client has too many.
    ///
    /// - Parameter address: the client's address.
    case connectionRejected(address: String)
    /// Events were sent to a subscriber.
    case eventsSent(FeedKind, count: Int)
}

/// A completed request, for logs and metrics.
package struct CompletedRequest: Sendable, Hashable {
    package var method: String
    /// The path as it was sent, without the query; nil if it may contain secrets or name a user's data.
    package var path: String?
    /// The path template, the label of metrics; nil if the path is unknown.
    package var endpoint: String?
    package var status: Int
    package var duration: Duration
    package var requestID: String
    /// The id of the trace; nil without tracing.
    package var traceID: String?
    /// The network of the client: `203.0.113.7` or, for IPv6, `2001:db8:1:2::/64`; nil if it is unknown or not wanted.
    package var client: String?
    /// The length of the response's body in bytes; nil for a stream.
    package var responseBytes: Int?
    /// The steps of a slow request; nil for others.
    package var steps: [Step]?

    /// A part of the work for a request.
    package struct Step: Sendable, Hashable {
        /// The kind of work, such as `statement`.
        package var kind: String
        /// The name of the lane, the statement or the response.
        package var name: String
        package var duration: Duration

        package init(kind: String, name: String, duration: Duration) {
            (self.kind, self.name, self.duration) = (kind, name, duration)
        }
    }

    package init(
        method: String,
        path: String?,
        endpoint: String?,
        status: Int,
        duration: Duration,
        requestID: String,
        traceID: String? = nil,
        client: String? = nil,
        responseBytes: Int? = nil,
        steps: [Step]? = nil
    ) {
        self.method = method
        self.path = path
        self.endpoint = endpoint
        self.status = status
        self.duration = duration
        self.requestID = requestID
        self.traceID = traceID
        self.client = client
        self.responseBytes = responseBytes
        self.steps = steps
    }
}
