internal import DequeModule
package import HummingbirdCore
package import Logging
package import NIOCore
internal import NIOHTTP1

/// Applies the rules of HTTP/1 that depend on the version and method of a request. Hummingbird does not know these rules: the
/// framing of responses, bodies that clients hold back, and the end of connections.
///
/// Source: RFC 9110, sections 9.3.2 and 10.1.1; RFC 9112, sections 6.3, 9.3 and 9.6.
final class ExchangeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An outbound event: the body of the current request is going to be read.
    struct BodyRequest: Sendable {}

    /// A request, until it is answered.
    private struct PendingRequest {
        /// Whether the client speaks HTTP/1.0, and so knows neither chunks nor interim responses.
        let isHTTP10: Bool
        let isHead: Bool
        /// Whether the client waits for an interim response before it sends the body.
        var holdsBody: Bool
        /// Whether the connection stays open after the response.
        var persists: Bool
        var hasResponse = false

        init(_ request: HTTPRequestHead) {
            isHTTP10 = request.version == .http1_0
            isHead = request.method == .HEAD
            persists = request.isKeepAlive
            let expectations = request.headers[canonicalForm: "Expect"]
            holdsBody = !isHTTP10 && expectations.contains { $0.lowercased() == "100-continue" }
        }

        /// The stand-in for a request that was malformed.
        static let malformed = PendingRequest(HTTPRequestHead(version: .http1_1, method: .GET, uri: ""))
    }

    /// How long the client may take to read the last response: closing the connection at once could discard it.
    private static let closeDelay: TimeAmount = .milliseconds(500)

    /// The requests that are not answered completely, the current one first.
    private var requests: Deque<PendingRequest> = []
    /// Whether the last request of the connection has arrived; what follows it is ignored.
    private var endsInput = false
    /// Whether the last response of the connection is written.
    private var endsOutput = false

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !endsInput else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): requests.append(PendingRequest(head))
        case .body: if !requests.isEmpty { requests[requests.count - 1].holdsBody = false }
        case .end: endsInput = requests.last.map { !$0.persists } ?? false
        }
        context.fireChannelRead(data)
    }

    // MARK: - Outbound

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyRequest else { return context.triggerUserOutboundEvent(event, promise: promise) }
        guard let current = requests.first, current.holdsBody, !current.hasResponse, !endsOutput else {
            promise?.succeed()
            return
        }
        requests[0].holdsBody = false
        context.writeAndFlush(wrapOutboundOut(.head(.init(version: .http1_1, status: .continue))), promise: promise)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !endsOutput else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where (100..<200).contains(head.status.code): context.write(data, promise: promise)
        case .head(let head): context.write(wrapOutboundOut(.head(framed(head))), promise: promise)
        case .body where requests.first?.isHead == true: writeNothing(context, promise)
        case .body: context.write(data, promise: promise)
        case .end: end(context, data, promise)
        }
    }

    /// Returns the head of a response as its request requires, and decides whether the connection persists.
    private func framed(_ response: HTTPResponseHead) -> HTTPResponseHead {
        if requests.isEmpty { requests.append(.malformed) }
        var (head, request) = (response, requests[0])
        let isDelimited =
            head.headers.contains(name: "Content-Length") || !head.status.mayHaveResponseBody || request.isHead
        request.hasResponse = true
        // A client that holds its body back would send either the body or the next request.
        request.persists = request.persists && head.isKeepAlive && !request.holdsBody
        if request.isHTTP10 {
            head.version = .http1_0
            request.persists = request.persists && isDelimited
            if request.persists { head.headers.replaceOrAdd(name: "Connection", value: "keep-alive") }
        }
        if !request.persists { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        requests[0] = request
        return head
    }

    private func end(_ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?) {
        let request = requests.popFirst() ?? .malformed
        let written = promise ?? context.eventLoop.makePromise()
        if !request.persists {
            (endsInput, endsOutput) = (true, true)
            written.futureResult.assumeIsolated().whenComplete { _ in Self.close(context) }
        }
        // The end of a response to HEAD must not become the last chunk of a body.
        if request.isHead { writeNothing(context, written) } else { context.write(data, promise: written) }
    }

    /// Completes a promise in the order of writes.
    private func writeNothing(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: promise)
    }

    /// Ends the output, so that the client sees the end of the response, and a moment later the connection.
    private static func close(_ context: ChannelHandlerContext) {
        let channel = context.channel
        channel.close(mode: .output, promise: nil)
        context.eventLoop.scheduleTask(in: closeDelay) { channel.close(promise: nil) }
    }
}

/// Hummingbird's HTTP/1.1 connections, with the rules that depend on the version and method of a request.
package struct ExchangeChannel: ServerChildChannel {
    private let base: HTTP1Channel

    init(_ base: HTTP1Channel) { self.base = base }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        base.setup(channel: channel, logger: logger).flatMapThrowing { value in
            // Before the conversion to types without a version.
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPRequestDecoder>.self).handler
            try pipeline.addHandler(ExchangeHandler(), position: .after(decoder))
            return value
        }
    }

    package func handle(value: HTTP1Channel.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
