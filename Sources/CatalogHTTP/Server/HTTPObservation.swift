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
