package import Catalog
package import NIOCore
internal import NIOHTTPTypes

/// Limits the connections from one address, except from trusted proxies.
package final class ConnectionLimiter: Sendable {
    private let proxies: TrustedProxies
    private let slots: KeyedSlots<[UInt8]>
    private let observer: Observer<HTTPObservation>

    /// - Parameter limit: the maximum number of connections from an address; for IPv6, from its /64 prefix, because one
    ///   client can use any address in it.
    package init(limit: Int, except proxies: TrustedProxies, observer: Observer<HTTPObservation> = .none) {
        self.observer = observer
        self.proxies = proxies
        slots = KeyedSlots(limit: limit)
    }

    /// Returns the handler of a new connection.
    package func handler() -> any RemovableChannelHandler { Handler(self) }

    private func counted(_ address: SocketAddress?) -> [UInt8]? {
        guard let address = address.flatMap({ NetworkAddress($0) }), !proxies.isTrusted(address) else { return nil }
        return address.client
    }

    private final class Handler: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPRequestPart

        private let limiter: ConnectionLimiter
        /// The address that the connection is counted for.
        private var client: [UInt8]?

        init(_ limiter: ConnectionLimiter) { self.limiter = limiter }

        func channelActive(context: ChannelHandlerContext) {
            if let address = limiter.counted(context.remoteAddress) {
                guard limiter.slots.tryAcquire(address) else {
                    let address = context.remoteAddress?.ipAddress ?? "an unknown address"
                    limiter.observer.observe(.connectionRejected(address: address))
                    return context.close(promise: nil)
                }
                client = address
            }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            if let client { limiter.slots.release(client) }
            client = nil
            context.fireChannelInactive()
        }
    }
}
