internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Ends a connection at shutdown without losing a request that is on its way.
///
/// Responses get `Connection: close`. A connection without a request in progress stays open for a moment, because its client
/// may have sent one already.
package final class QuiescingHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private let grace: TimeAmount
    private var requestsInProgress = 0
    private var isQuiescing = false

    /// - Parameter grace: how long to wait for a request that is on its way.
    package init(grace: TimeAmount = .seconds(1)) { self.grace = grace }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { requestsInProgress += 1 }
        context.fireChannelRead(data)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isQuiescing && head.status.kind != .informational:
            head.headerFields[.connection] = "close"
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            requestsInProgress -= 1
            if isQuiescing { closeIfIdle(context) }
        default: break
        }
        context.write(data, promise: promise)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Hummingbird would close the connection at once.
        guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
        isQuiescing = true
        closeIfIdle(context)
    }

    /// Closes the connection after the grace period, unless a request is in progress then.
    private func closeIfIdle(_ context: ChannelHandlerContext) {
        let channel = context.channel
        context.eventLoop.assumeIsolated().scheduleTask(in: grace) { [self] in
            if requestsInProgress == 0 { channel.close(promise: nil) }
        }
    }
}
