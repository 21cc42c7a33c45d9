internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes a connection behind an answer that says `Connection: close`.
///
/// Hummingbird heeds only the request's own header, and would read the rest of a refused body to its end. The client has
/// a moment to read the answer: to close at once while it still sends could lose it.
package final class ClosingHandler: ChannelOutboundHandler, RemovableChannelHandler {
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private static let moment: TimeAmount = .milliseconds(500)
    private var closes = false

    package init() {}

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): closes = head.headerFields[.connection] == "close"
        case .end where closes:
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.moment) { channel.close(promise: nil) }
        default: break
        }
        context.write(data, promise: promise)
    }
}
