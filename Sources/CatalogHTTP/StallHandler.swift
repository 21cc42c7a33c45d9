package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose peer has not read for too long, whatever there is to write.
///
/// What is written waits, so a peer that does not read costs what fits into one buffer; but it costs it for ever.
package final class StallHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart

    private let limit: TimeAmount
    private var closing: Scheduled<Void>?

    /// - Parameter limit: how long a peer may read nothing while something waits for it.
    package init(limit: TimeAmount = .seconds(30)) { self.limit = limit }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        if !context.channel.isWritable {
            let channel = context.channel
            closing = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    package func handlerRemoved(context: ChannelHandlerContext) { closing?.cancel() }
}
