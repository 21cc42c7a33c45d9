internal import HTTPTypes
package import NIOCore
package import NIOHTTPTypes

/// Closes a connection after a response with `Connection: close`.
///
/// Hummingbird only honors the request's header and would read a rejected body to its end. The delay gives the
/// client time to read the response, which closing immediately could discard.
package final class ClosingHandler: ChannelOutboundHandler, RemovableChannelHandler {
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private static let closeDelay: TimeAmount = .milliseconds(500)
    private var closes = false

    package init() {}

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): closes = head.headerFields[.connection] == "close"
        case .end where closes:
            let channel = context.channel
            context.eventLoop.scheduleTask(in: Self.closeDelay) { channel.close(promise: nil) }
        default: break
        }
        context.write(data, promise: promise)
    }
}
