internal import NIOCore

/// Limits the number of connections that a listening socket accepts, and ends them at shutdown.
///
/// Beyond the limit, clients wait in the socket's backlog.
final class ConnectionGate: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// The steps of a shutdown, as outbound events of the listening channel.
    enum Shutdown {
        /// Accepts no further connections.
        case stopAccepting
        /// Asks all connections to end, and waits until they are closed.
        case endConnections
    }

    private let limit: Int
    private let count: ConnectionCount
    private var connections: [ObjectIdentifier: any Channel] = [:] {
        didSet { count.set(connections.count) }
    }
    private var isStopping = false
    /// Whether a read was held back because of the limit.
    private var holdsRead = false
    /// Succeeds when the last connection is closed.
    private var ended: EventLoopPromise<Void>?

    /// - Parameters:
    ///   - limit: the maximum number of open connections.
    ///   - count: follows the number of open connections.
    init(limit: Int, count: ConnectionCount) { (self.limit, self.count) = (limit, count) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        let key = ObjectIdentifier(channel)
        connections[key] = channel
        let loopBound = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
        channel.closeFuture.hop(to: context.eventLoop).whenComplete { _ in
            let (gate, context) = loopBound.value
            gate.connectionClosed(key, context)
        }
        context.fireChannelRead(data)
    }

    private func connectionClosed(_ key: ObjectIdentifier, _ context: ChannelHandlerContext) {
        connections[key] = nil
        if connections.isEmpty { ended?.succeed() }
        guard holdsRead, !isStopping, connections.count < limit else { return }
        holdsRead = false
        context.read()
    }

    func read(context: ChannelHandlerContext) {
        guard !isStopping else { return }
        guard connections.count < limit else { return holdsRead = true }
        context.read()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event as? Shutdown {
        case .stopAccepting:
            isStopping = true
            context.channel.setOption(.autoRead, value: false).cascade(to: promise)
        case .endConnections:
            ended = promise
            if connections.isEmpty { promise?.succeed() }
            for channel in connections.values {
                channel.eventLoop.execute {
                    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
                }
            }
        case nil: context.triggerUserOutboundEvent(event, promise: promise)
        }
    }
}
