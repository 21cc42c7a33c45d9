internal import Hummingbird
package import HummingbirdCore
internal import Logging
internal import NIOCore

extension CatalogAPI {
    /// Returns a server whose connections answer cheap reads on their event loop.
    package func server(_ configuration: HTTP1Channel.Configuration = .init()) -> HTTPServerBuilder {
        HTTPServerBuilder { CatalogChannel(api: self, base: HTTP1Channel(responder: $0, configuration: configuration)) }
    }
}

/// An HTTP connection with a handler for cheap reads ahead of Hummingbird, which handles all other requests.
private struct CatalogChannel: ServerChildChannel {
    let api: CatalogAPI
    let base: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // After the handlers that count, limit and time requests, and before the one that passes them to Hummingbird.
            let pipeline = channel.pipeline.syncOperations
            let last = try pipeline.context(handlerType: HTTPConnectionStateHandler.self).handler
            try pipeline.addHandler(DirectHandler(api, channel), position: .after(last))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}
