package import NIOCore
package import NIOHTTPTypes

/// Closes a connection whose peer has stopped reading.
///
/// Writes apply backpressure, so a stalled peer occupies at most one buffer. Without this handler, it would occupy it forever.
package final class StallHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart

    private let limit: TimeAmount
    private var stallCheck: Scheduled<Void>?
    /// The number of buffered bytes at the last check.
    private var pendingBytes = Int.max

    /// - Parameter limit: how long a peer may read nothing while data is pending.
    package init(limit: TimeAmount = .seconds(30)) { self.limit = limit }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        stallCheck?.cancel()
        stallCheck = nil
        pendingBytes = .max
        if !context.channel.isWritable { watch(context.channel) }
        context.fireChannelWritabilityChanged()
    }

    /// Checks again after the limit: if fewer bytes are pending, the peer is reading, however slowly.
    private func watch(_ channel: any Channel) {
        guard let left = try? channel.syncOptions?.getOption(.bufferedWritableBytes), left < pendingBytes else {
            return channel.close(promise: nil)
        }
        pendingBytes = left
        stallCheck = channel.eventLoop.assumeIsolated().scheduleTask(in: limit) { self.watch(channel) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) { stallCheck?.cancel() }
}
