package import Hummingbird
package import NIOCore

/// The context of a request: the connection that it came from.
package struct CallContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The address of the client, or of the proxy in front of it.
    package let peer: SocketAddress?
    let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress
        channel = source.channel
    }
}
