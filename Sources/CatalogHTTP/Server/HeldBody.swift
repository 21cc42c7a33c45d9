internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A body that the client sends only once it is asked for it (RFC 9110, section 10.1.1).
struct HeldBody: Sendable {
    /// The client's connection.
    let channel: any Channel

    /// Asks the client for the body.
    func ask() { channel.triggerUserOutboundEvent(ExchangeHandler.BodyRequest(), promise: nil) }
}

extension Request {
    /// Whether the client may wait for an interim response before it sends the body.
    var expectsContinue: Bool { headers[.expect]?.lowercased().contains("100-continue") ?? false }
}
