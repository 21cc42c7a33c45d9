internal import HummingbirdCore
internal import NIOCore

/// A request, and what is known of it so far: an error may end it at any step, and its response needs this, too.
struct Exchange {
    let request: Request
    /// The id in the response, in logs and in the audit log.
    let id: String
    /// The address of the connection, if it is known.
    var peer: SocketAddress?
    /// Whether the client has closed the connection; reads then end.
    var isAbandoned: @Sendable () -> Bool = { false }
    /// The body that the client sends only once it is asked for it; nil if it does not wait.
    var heldBody: HeldBody?
    /// nil until the path is known.
    var route: EndpointTable.Route?
    /// nil until the method is known.
    var endpoint: Endpoint?
    /// The maximum length of the body, in bytes.
    var bodyLimit: Int
    /// The client's quota; nil until the request is charged.
    var quota: RateLimiter.Quota?
}
