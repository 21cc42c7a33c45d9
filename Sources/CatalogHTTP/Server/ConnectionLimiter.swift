package import NIOCore
internal import NIOHTTPTypes
internal import Synchronization

/// Limits the connections from one address, except from trusted proxies.
package final class ConnectionLimiter: Sendable {
    private let limit: Int
    private let proxies: TrustedProxies
    private let counts = Mutex<[[UInt8]: Int]>([:])

    /// - Parameter limit: the maximum number of connections from an address; of IPv6, from a network of 64 bits.
    package init(limit: Int, except proxies: TrustedProxies) {
        self.limit = limit
        self.proxies = proxies
    }

    /// Returns the handler of a new connection.
    package func handler() -> any RemovableChannelHandler { Handler(self) }

    /// Counts a connection; returns false at the limit.
    func open(_ client: [UInt8]) -> Bool {
        counts.withLock { counts in
            guard counts[client, default: 0] < limit else { return false }
            counts[client, default: 0] += 1
            return true
        }
    }

    func close(_ client: [UInt8]) {
        counts.withLock { counts in
            let rest = counts[client, default: 1] - 1
            counts[client] = rest > 0 ? rest : nil
        }
    }

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
                guard limiter.open(address) else { return context.close(promise: nil) }
                client = address
            }
            context.fireChannelActive()
        }

        func channelInactive(context: ChannelHandlerContext) {
            if let client { limiter.close(client) }
            client = nil
            context.fireChannelInactive()
        }
    }
}
