internal import NIOCore

/// One connection, with at most one request at a time.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let run: LoadRun
    private let channel: any Channel
    private var parser = ResponseParser()
    /// When the request in flight was due; nil without one.
    private(set) var due: NIODeadline?

    init(_ run: LoadRun, _ channel: any Channel) {
        self.run = run
        self.channel = channel
    }

    /// - Parameter due: the time from which the latency counts.
    func send(_ request: ByteBuffer, due: NIODeadline) {
        self.due = due
        channel.writeAndFlush(request, promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do {
            guard let status = try parser.add(unwrapInboundIn(data)), let due else { return }
            self.due = nil
            run.complete(self, status: status, due: due)
        } catch {
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { run.lose() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
