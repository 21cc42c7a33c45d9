package import Hummingbird
package import NIOCore

/// The context of a request: the connection that it came from.
package struct CallContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The address of the client, or of the proxy in front of it.
    package let peer: SocketAddress?
    /// Identifies the channel of the connection.
    let channel: ObjectIdentifier

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress
        channel = ObjectIdentifier(source.channel)
    }
}
