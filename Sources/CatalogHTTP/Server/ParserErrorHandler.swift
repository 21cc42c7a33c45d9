internal import Catalog
internal import HTTPTypes
package import NIOCore
internal import NIOHTTP1
package import NIOHTTPTypes

/// Adds a problem document to the response to a malformed HTTP request.
///
/// Such a request never reaches the router: Hummingbird rejects it with an empty body, and closes the connection.
package final class ParserErrorHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPResponsePart

    private var error: HTTPParserError?
    private var body: ByteBuffer?

    package init() {}

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The rest of the request causes further errors, of other types.
        if self.error == nil { self.error = error as? HTTPParserError }
        context.fireErrorCaught(error)
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var part = unwrapOutboundIn(data)
        switch part {
        // Responses to earlier requests may still follow the error.
        case .head(var head)
        where error != nil && head.status == .badRequest && head.headerFields[.contentLength] == "0":
            let problem = Problem(.malformedRequest, "the request is not valid HTTP/1.1: \(reason)")
            let requestID = UniqueID.random().text
            let body = ByteBuffer(bytes: problem.json(requestID: requestID))
            head.headerFields[RequestID.header] = requestID
            head.headerFields[.contentLength] = String(body.readableBytes)
            head.headerFields[.contentType] = "application/problem+json"
            head.headerFields[.cacheControl] = "no-store"
            part = .head(head)
            self.body = body
        case .end:
            if let body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
            body = nil
        default: break
        }
        context.write(wrapOutboundOut(part), promise: promise)
    }

    private var reason: String {
        switch error {
        case .headerOverflow: "its headers are too large"
        case .invalidMethod: "unknown method"
        case .invalidURL: "invalid target in the request line"
        case .invalidVersion: "unsupported version in the request line"
        case .invalidHeaderToken: "invalid character in a header"
        case .invalidContentLength, .unexpectedContentLength: "invalid Content-Length"
        case .invalidChunkSize: "invalid chunk size"
        default: "it cannot be parsed"
        }
    }
}
