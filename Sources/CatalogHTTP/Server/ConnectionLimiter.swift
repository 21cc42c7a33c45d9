package import Catalog
package import NIOCore
internal import NIOHTTPTypes

/// Limits the connections from one address, except from trusted proxies.
package final class ConnectionLimiter: Sendable {
    private let proxies: TrustedProxies
    private let connections: LimitedResource
    private let observer: Observer<HTTPObservation>

    /// - Parameter limit: the maximum number of connections from an address; for IPv6, from its /64 prefix, because one
    ///   client can use any address in it.
    package init(limit: Int, except proxies: TrustedProxies, observer: Observer<HTTPObservation> = .none) {
        self.observer = observer
        self.proxies = proxies
        connections = LimitedResource(perClient: limit)
    }

    /// Returns the handler of a new connection.
    package func handler() -> any RemovableChannelHandler { Handler(self) }

    private func counted(_ address: SocketAddress?) -> Client? {
        guard let address = address.flatMap({ NetworkAddress($0) }), !proxies.isTrusted(address) else { return nil }
        return .address(address.client)
    }

    private final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart

        private let limiter: ConnectionLimiter
        /// nil for a connection that is not counted.
        private var permit: Permit?

        init(_ limiter: ConnectionLimiter) { self.limiter = limiter }

        func channelActive(context: ChannelHandlerContext) {
            if let client = limiter.counted(context.remoteAddress) {
                permit = try? limiter.connections.permit(for: client)
                guard permit != nil else {
                    let address = context.remoteAddress?.ipAddress ?? "an unknown address"
                    limiter.observer.observe(.connectionRejected(address: address))
                    return context.close(promise: nil)
                }
            }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            permit?.release()
            context.fireChannelInactive()
        }
    }
}
