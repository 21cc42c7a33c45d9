package import HummingbirdCore
package import Logging
package import NIOCore
internal import NIOHTTP1

/// Hummingbird's HTTP/1.1 connections, with the rules that depend on the version and method of a request.
package struct ExchangeChannel: ServerChildChannel {
    private let base: HTTP1Channel

    init(_ base: HTTP1Channel) { self.base = base }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // Before the conversion to types without a version.
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self).handler
            try pipeline.addHandler(ExchangeHandler(), position: .after(decoder))
            return value
        }
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
