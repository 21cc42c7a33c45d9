package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose peer has not read for too long, whatever there is to write.
///
/// What is written waits, so a peer that does not read costs what fits into one buffer; but it costs it for ever.
package final class StallHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart

    private let limit: TimeAmount
    private var closing: Scheduled<Void>?
    /// How many bytes waited when it was looked at last.
    private var waiting = Int.max

    /// - Parameter limit: how long a peer may read nothing while something waits for it.
    package init(limit: TimeAmount = .seconds(30)) { self.limit = limit }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
        waiting = .max
        if !context.channel.isWritable { watch(context.channel) }
        context.fireChannelWritabilityChanged()
    }

    /// Looks again after a while: where fewer bytes wait, the peer reads, however slowly.
    private func watch(_ channel: any Channel) {
        guard let left = try? channel.syncOptions?.getOption(.bufferedWritableBytes), left < waiting else {
            return channel.close(promise: nil)
        }
        waiting = left
        closing = channel.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.watch(channel) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { closing?.cancel() }
}
