package import NIOCore
internal import NIOHTTPTypes
internal import Synchronization

/// The connections that their clients have closed.
///
/// A client that half-closes its connection looks the same, and its reads end too, as in nginx.
package final class Departures: Sendable {
    private let channels = Mutex<Set<ObjectIdentifier>>([])

    package init() {}

    /// Returns a handler for one connection.
    package func handler() -> any RemovableChannelHandler { Handler(departures: self) }

    /// - Parameter channel: identifies the channel of the connection.
    func contains(_ channel: ObjectIdentifier) -> Bool { channels.withLock { $0.contains(channel) } }

    private final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart

        private let departures: Departures

        init(departures: Departures) { self.departures = departures }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .inputClosed? = event as? ChannelEvent {
                departures.channels.withLock { _ = $0.insert(ObjectIdentifier(context.channel)) }
            }
            context.fireUserInboundEventTriggered(event)
        }

        // The identifier may be used again by a later connection.
        func handlerRemoved(context: ChannelHandlerContext) {
            departures.channels.withLock { _ = $0.remove(ObjectIdentifier(context.channel)) }
        }
    }
}
