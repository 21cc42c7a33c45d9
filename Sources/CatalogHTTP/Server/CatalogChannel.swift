package import Hummingbird
package import HummingbirdCore
package import Logging
package import NIOCore

/// HTTP connections with a handler for cheap reads ahead of Hummingbird, which handles all other requests.
package struct CatalogChannel: ServerChildChannel {
    private let api: CatalogAPI
    private let base: ExchangeChannel

    package init(_ api: CatalogAPI, _ configuration: HTTP1Channel.Configuration = .init(), logger: Logger) {
        self.api = api
        base = api.channel(configuration, logger: logger)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        let api = api
        return base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // The handler is after the handlers that count, limit and time requests, and before Hummingbird's handler.
            let pipeline = channel.pipeline.syncOperations
            let last = try pipeline.context(handlerType: HTTPConnectionStateHandler.self).handler
            try pipeline.addHandler(EventLoopHandler(api, channel), position: .after(last))
            return value
        }
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

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
