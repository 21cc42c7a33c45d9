internal import Catalog
internal import DequeModule
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOHTTPTypes

/// Answers cheap reads on the event loop of their connection. Hummingbird's streams for bodies change threads, which takes
/// longer than such a read. The handler passes on all other requests.
///
/// Requests are answered in order. While it answers one, everything that follows on the connection waits here.
final class EventLoopHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Anything that arrives while a request is being answered.
    private enum Arrival {
        case part(HTTPRequestPart)
        case error(any Error)
        case event(Any)
    }

    private enum State {
        /// Between requests, or in the middle of one that is passed on.
        case idle
        /// A request is read to its end.
        case reading(Request, EndpointTable.Route)
        /// A request is being answered here.
        case answering
    }

    private let api: CatalogAPI
    private let executor: EventLoopExecutor
    private let peer: SocketAddress?
    private let channel: ObjectIdentifier
    private var state = State.idle
    /// The number of requests that were passed on and are not answered yet.
    private var passedRequests = 0
    private var waiting: Deque<Arrival> = []
    private var isClosed = false
    /// Whether a read was held back because something is waiting.
    private var holdsRead = false

    init(_ api: CatalogAPI, _ channel: any Channel) {
        self.api = api
        executor = .of(channel.eventLoop)
        peer = channel.remoteAddress
        self.channel = ObjectIdentifier(channel)
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .answering = state { return waiting.append(.part(unwrapInboundIn(data))) }
        receive(unwrapInboundIn(data), context)
    }

    private func receive(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (part, state) {
        case (.head(let head), .idle) where passedRequests == 0:
            let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
            guard let route = api.directRoute(of: request) else { return pass(part, context) }
            state = .reading(request, route)
        case (.end, .reading(let request, let route)):
            state = .answering
            answer(request, route, context)
        // A request without a length has no body.
        case (.body, .reading): break
        default: pass(part, context)
        }
    }

    private func pass(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { passedRequests += 1 }
        context.fireChannelRead(wrapInboundOut(part))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .answering = state { return waiting.append(.error(error)) }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .answering = state { return waiting.append(.event(event)) }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        isClosed = true
        waiting.removeAll()
    }

    // MARK: - Outbound

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { passedRequests -= 1 }
        context.write(data, promise: promise)
    }

    /// Holds back reads while earlier requests wait, so that a client cannot fill the memory with requests.
    func read(context: ChannelHandlerContext) {
        guard waiting.isEmpty else { return holdsRead = true }
        context.read()
    }

    // MARK: - Answering

    private func answer(_ request: Request, _ route: EndpointTable.Route, _ context: ChannelHandlerContext) {
        let (api, peer, channel) = (api, peer, channel)
        let loopBound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        executor.run {
            var response = await api.respond(to: request, route, from: peer) {
                api.options.departures.contains(channel)
            }
            response.headers[.date] = HTTPDate.now()
            let body = CollectedBody()
            // A collected body cannot fail to be written.
            try? await response.body.write(body)
            let (handler, context) = loopBound.value
            handler.finish(response.head, body.buffer, context)
        }
    }

    /// Writes a response. The next request is handled when the client has taken this response. So a client that reads nothing
    /// keeps at most one response in memory, and a half-closed connection is not closed before.
    private func finish(_ head: HTTPResponse, _ body: ByteBuffer?, _ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        let loopBound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        written.futureResult.whenComplete { _ in
            let (handler, context) = loopBound.value
            handler.proceed(context)
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    /// Handles what has arrived in the meantime.
    private func proceed(_ context: ChannelHandlerContext) {
        guard !isClosed else { return }
        state = .idle
        while let next = waiting.popFirst() {
            switch next {
            case .part(let part): receive(part, context)
            case .error(let error): context.fireErrorCaught(error)
            case .event(let event): context.fireUserInboundEventTriggered(event)
            }
            if case .answering = state { break }
        }
        context.fireChannelReadComplete()
        if holdsRead, waiting.isEmpty {
            holdsRead = false
            context.read()
        }
    }
}

/// Collects a body in memory.
final class CollectedBody: ResponseBodyWriter {
    private(set) var buffer: ByteBuffer?

    func write(_ buffer: ByteBuffer) {
        if self.buffer?.writeImmutableBuffer(buffer) == nil { self.buffer = buffer }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
