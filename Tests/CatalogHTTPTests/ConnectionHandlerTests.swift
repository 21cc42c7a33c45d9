import Catalog
import HTTPTypes
import InMemoryCatalog
import JSON
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// The handlers of connections, without sockets and with a clock that the tests advance.
@Suite(.timeLimit(.minutes(15))) struct ConnectionHandlerTests {
    private final class Count: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }

    /// Counts the inbound events that reach it.
    private final class EventCounter: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        var count = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            count += 1
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Counts the reads that reach it.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    private static func connected(
        _ handlers: [any ChannelHandler],
        loop: EmbeddedEventLoop = EmbeddedEventLoop()
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handlers: handlers, loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        return channel
    }

    /// Returns what was written to a channel.
    private static func written(_ channel: EmbeddedChannel) throws -> [HTTPResponsePart] {
        var parts: [HTTPResponsePart] = []
        while let part = try channel.readOutbound(as: HTTPResponsePart.self) { parts.append(part) }
        return parts
    }

    private static func head(_ status: HTTPResponse.Status, length: String = "0") -> HTTPResponsePart {
        .head(HTTPResponse(status: status, headerFields: [.contentLength: length]))
    }

    // MARK: - Malformed requests

    /// Returns the response to a malformed request.
    private static func answer(_ errors: [any Error], _ parts: [HTTPResponsePart]) throws -> [HTTPResponsePart] {
        let channel = try connected([ParserErrorHandler()])
        for error in errors {
            channel.pipeline.fireErrorCaught(error)
            // The handler passes errors on.
            #expect(throws: (any Error).self) { try channel.throwIfErrorCaught() }
        }
        for part in parts { try channel.writeOutbound(part) }
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        return try written(channel)
    }

    @Test("The empty response to a malformed request gets a problem document with its reason and an id")
    func malformedRequests() throws {
        for (error, reason) in [
            (.headerOverflow, "its headers are too large"), (.invalidMethod, "unknown method"),
            (.invalidURL, "invalid target in the request line"),
            (.invalidVersion, "unsupported version in the request line"),
            (.invalidHeaderToken, "invalid character in a header"), (.invalidContentLength, "invalid Content-Length"),
            (.unexpectedContentLength, "invalid Content-Length"), (.invalidChunkSize, "invalid chunk size"),
            (.unknown, "it cannot be parsed"),
        ] as [(HTTPParserError, String)] {
            let parts = try Self.answer(
                [error, HTTPParserError.closedConnection],
                [Self.head(.badRequest), .end(nil)]
            )
            guard parts.count == 3, case .head(let head) = parts[0], case .body(let body) = parts[1],
                case .end(nil) = parts[2]
            else {
                Issue.record("\(reason): \(parts)")
                continue
            }
            let problem = try JSONReader.parse(Array(buffer: body))
            #expect(problem["type"] == .string("/problems/malformed-request"))
            #expect(problem["detail"] == .string("the request is not valid HTTP/1.1: \(reason)"))
            let id = try #require(head.headerFields[RequestID.header])
            #expect(problem["request_id"] == .string(id) && UniqueID(id) != nil)
            #expect(head.status == .badRequest)
            #expect(head.headerFields[.contentLength] == "\(body.readableBytes)")
            #expect(head.headerFields[.contentType] == "application/problem+json")
            #expect(head.headerFields[.cacheControl] == "no-store")
        }
    }

    @Test("Other responses stay as they are, and the document follows one response only")
    func otherResponses() throws {
        let error = HTTPParserError.invalidMethod
        for (errors, head) in [
            ([], Self.head(.badRequest)), ([CancellationError()], Self.head(.badRequest)),
            ([error], Self.head(.ok)), ([error], Self.head(.badRequest, length: "7")),
        ] as [([any Error], HTTPResponsePart)] {
            #expect(try Self.answer(errors, [head, .end(nil)]) == [head, .end(nil)])
        }
        let parts = try Self.answer([error], [Self.head(.badRequest), .end(nil), Self.head(.ok), .end(nil)])
        #expect(parts.count == 5 && parts.suffix(2) == [Self.head(.ok), .end(nil)])
    }

    // MARK: - Shutdown

    private static let request = HTTPRequestPart.head(
        HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/")
    )

    private static func connection(_ part: HTTPResponsePart?) -> String? {
        if case .head(let head)? = part { head.headerFields[.connection] } else { nil }
    }

    @Test("An idle connection is closed after the grace period, and the event goes no further")
    func idleConnections() throws {
        let events = EventCounter()
        let channel = try Self.connected([QuiescingHandler(grace: .seconds(2)), events])
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(channel.isActive)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(events.count == 0)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        let other = EventCounter()
        let open = try Self.connected([QuiescingHandler(), other])
        open.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(other.count == 1)
        _ = try open.finish(acceptAlreadyClosed: true)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("By default, the grace period is a second")
    func defaultGrace() throws {
        let channel = try Self.connected([QuiescingHandler()])
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("A connection with a request in progress is closed after its response, which has Connection: close")
    func busyConnections() throws {
        let channel = try Self.connected([QuiescingHandler(grace: .seconds(2))])
        try channel.writeInbound(Self.request)
        try channel.writeOutbound(Self.head(.ok))
        let first = try Self.written(channel)
        #expect(first == [Self.head(.ok)])
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        try channel.writeInbound(Self.request)
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try Self.written(channel)
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .continue)))
        try channel.writeOutbound(Self.head(.ok))
        let heads = try Self.written(channel)
        #expect(heads.map { Self.connection($0) } == [nil, "close"])
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        #expect(try Self.written(channel) == [.end(nil)])
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1999))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    // MARK: - Requests on the event loop

    /// Returns a connection with the handler of short requests, and a counter of the events behind it.
    private static func shortRequests() async throws -> NIOAsyncTestingChannel {
        let memory = await MemoryAPI()
        let key = CatalogKey("s")!
        _ = try await memory.catalog.put(Store(key: key, title: "S", currency: Currency("EUR")!))
        _ = try await memory.catalog.put(Shelf(key: key, title: "S"), in: key)
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandlers(EventLoopHandler(memory.api, channel), EventCounter())
        }
        return channel
    }

    private static let page = HTTPRequestPart.head(
        HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/v1/stores/s/shelves/s/products")
    )

    /// Returns the status of the next response.
    private static func response(_ channel: NIOAsyncTestingChannel) async throws -> HTTPResponse.Status? {
        var status: HTTPResponse.Status?
        while true {
            switch try await channel.waitForOutboundWrite(as: HTTPResponsePart.self) {
            case .head(let head): status = head.status
            case .body: break
            case .end: return status
            }
        }
    }

    @Test("A page is answered on the event loop if no earlier request is being answered elsewhere")
    func passedRequests() async throws {
        let channel = try await Self.shortRequests()
        let write = HTTPRequestPart.head(
            HTTPRequest(method: .put, scheme: "http", authority: "a", path: "/v1/stores/s/shelves/s")
        )
        // The second request is for a page, and must not overtake the first one.
        for part in [write, .end(nil), Self.page, .end(nil)] {
            try await channel.writeInbound(part)
            #expect(try await channel.readInbound(as: HTTPRequestPart.self) == part)
        }
        for _ in 0..<2 {
            for part in [Self.head(.accepted), .end(nil)] { try await channel.writeOutbound(part) }
            #expect(try await Self.response(channel) == .accepted)
        }
        for part in [Self.page, .end(nil)] { try await channel.writeInbound(part) }
        let passed = try await channel.readInbound(as: HTTPRequestPart.self)
        try #require(passed == nil)
        #expect(try await Self.response(channel) == .ok)
        _ = try await channel.finish(acceptAlreadyClosed: true)
    }

    @Test("An event that comes while a page is answered follows the response")
    func waitingEvents() async throws {
        let channel = try await Self.shortRequests()
        let count = { @Sendable () throws -> Int in
            try channel.pipeline.syncOperations.handler(type: EventCounter.self).count
        }
        let early = try await channel.testingEventLoop.executeInContext {
            let pipeline = channel.pipeline.syncOperations
            for part in [Self.page, .end(nil)] { pipeline.fireChannelRead(NIOAny(part)) }
            pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            return try count()
        }
        #expect(early == 0)
        await channel.testingEventLoop.run()
        #expect(try await Self.response(channel) == .ok)
        #expect(try await channel.testingEventLoop.executeInContext(count) == 1)
        _ = try await channel.finish(acceptAlreadyClosed: true)
    }

    // MARK: - Departures

    @Test("A connection whose client has closed its output has departed, until the connection is gone")
    func departures() throws {
        let (departures, events) = (Departures(), EventCounter())
        let channel = try Self.connected([departures.handler(), events])
        let other = try Self.connected([departures.handler()])
        let id = ObjectIdentifier(channel)
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
        #expect(!departures.contains(id))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(departures.contains(id) && !departures.contains(ObjectIdentifier(other)))
        #expect(events.count == 2)
        channel.close(promise: nil)
        channel.embeddedEventLoop.run()
        #expect(!departures.contains(id))
        _ = try channel.finish(acceptAlreadyClosed: true)
        _ = try other.finish(acceptAlreadyClosed: true)
    }

    // MARK: - Stalled clients

    @Test("A connection is closed if the client takes nothing within the limit while data waits")
    func stalledClients() throws {
        let channel = try Self.connected([StallHandler(limit: .seconds(3))])
        func wait(_ milliseconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .milliseconds(milliseconds)) }
        channel.write(ByteBuffer(repeating: 0, count: 100), promise: nil)
        wait(60_000)
        #expect(channel.isActive)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        wait(2999)
        // The client takes all that waits, and later data is more than that.
        channel.flush()
        wait(1)
        #expect(channel.isActive)
        channel.write(ByteBuffer(repeating: 0, count: 10), promise: nil)
        wait(2999)
        #expect(channel.isActive)
        wait(1)
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("A connection that becomes writable again stays open")
    func recoveredClients() throws {
        let channel = try Self.connected([StallHandler(limit: .seconds(3))])
        channel.write(ByteBuffer(repeating: 0, count: 100), promise: nil)
        for isWritable in [false, true] {
            channel.isWritable = isWritable
            channel.pipeline.fireChannelWritabilityChanged()
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        // It stalls again, with as many bytes as before.
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(3))
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    // MARK: - Limits on connections

    private final class Observations: Sendable {
        let all = Mutex<[HTTPObservation]>([])
        func receive(_ observation: HTTPObservation) { all.withLock { $0.append(observation) } }
    }

    @Test("A connection beyond the limit of its address is closed and observed")
    func rejectedConnections() throws {
        let observations = Observations()
        let limiter = ConnectionLimiter(
            limit: 1,
            except: TrustedProxies(),
            observer: Observer { observations.receive($0) }
        )
        let first = try Self.connected([limiter.handler()])
        #expect(first.isActive && observations.all.withLock { $0.isEmpty })
        let second = try Self.connected([limiter.handler()])
        #expect(!second.isActive)
        #expect(observations.all.withLock { $0 } == [.connectionRejected(address: "192.0.2.1")])
        first.close(promise: nil)
        first.embeddedEventLoop.run()
        let third = try Self.connected([limiter.handler()])
        #expect(third.isActive)
        for channel in [first, second, third] { _ = try channel.finish(acceptAlreadyClosed: true) }
    }

    @Test("A listening socket reads while there is room, and again when a connection ends")
    func gateHoldsReads() throws {
        let (loop, count, reads) = (EmbeddedEventLoop(), ConnectionCount(), ReadCounter())
        let socket = EmbeddedChannel(handlers: [reads, ConnectionGate(limit: 2, count: count)], loop: loop)
        func accept() throws -> EmbeddedChannel {
            socket.read()
            let connection = try Self.connected([], loop: loop)
            try socket.writeInbound(connection as any Channel)
            return connection
        }
        #expect(count.current == 0)
        let first = try accept()
        #expect(count.current == 1 && reads.count == 1)
        let second = try accept()
        #expect(count.current == 2 && reads.count == 2)
        for _ in 0..<2 { socket.read() }
        #expect(reads.count == 2)
        first.close(promise: nil)
        loop.run()
        #expect(count.current == 1 && reads.count == 3)
        second.close(promise: nil)
        loop.run()
        // No read was held back.
        #expect(count.current == 0 && reads.count == 3)
        socket.read()
        #expect(reads.count == 4)
        _ = try socket.finish(acceptAlreadyClosed: true)
    }

    @Test("At shutdown, a listening socket reads no more, and waits until its connections have ended")
    func gateEndsConnections() throws {
        let (loop, count, reads) = (EmbeddedEventLoop(), ConnectionCount(), ReadCounter())
        let socket = EmbeddedChannel(handlers: [reads, ConnectionGate(limit: 2, count: count)], loop: loop)
        let events = [EventCounter(), EventCounter()]
        let connections = try events.map { try Self.connected([$0], loop: loop) }
        for connection in connections { try socket.writeInbound(connection as any Channel) }
        socket.read()
        #expect(reads.count == 0)
        let (stopped, stops) = (loop.makePromise(of: Void.self), Count())
        stopped.futureResult.whenSuccess { _ in stops.add() }
        socket.pipeline.triggerUserOutboundEvent(ConnectionGate.Shutdown.stopAccepting, promise: stopped)
        loop.run()
        #expect(stops.value == 1)
        #expect(
            socket.options.contains { $0.option is ChannelOptions.Types.AutoReadOption && $0.value as? Bool == false }
        )
        #expect(events.map(\.count) == [0, 0])
        let (ended, ends) = (loop.makePromise(of: Void.self), Count())
        ended.futureResult.whenSuccess { _ in ends.add() }
        socket.pipeline.triggerUserOutboundEvent(ConnectionGate.Shutdown.endConnections, promise: ended)
        loop.run()
        #expect(events.map(\.count) == [1, 1] && ends.value == 0)
        connections[0].close(promise: nil)
        loop.run()
        #expect(ends.value == 0)
        connections[1].close(promise: nil)
        loop.run()
        #expect(ends.value == 1)
        socket.read()
        #expect(reads.count == 0)
        _ = try socket.finish(acceptAlreadyClosed: true)
    }

    @Test("Without connections, a shutdown ends at once, and other events pass")
    func gateWithoutConnections() throws {
        let loop = EmbeddedEventLoop()
        let socket = EmbeddedChannel(handlers: [ConnectionGate(limit: 1, count: ConnectionCount())], loop: loop)
        let (ended, ends) = (loop.makePromise(of: Void.self), Count())
        ended.futureResult.whenSuccess { _ in ends.add() }
        socket.pipeline.triggerUserOutboundEvent(ConnectionGate.Shutdown.endConnections, promise: ended)
        loop.run()
        #expect(ends.value == 1)
        let (passed, failures) = (loop.makePromise(of: Void.self), Count())
        passed.futureResult.whenFailure { if $0 is ChannelError { failures.add() } }
        socket.pipeline.triggerUserOutboundEvent("other", promise: passed)
        loop.run()
        // The channel knows no events.
        #expect(failures.value == 1)
        _ = try socket.finish(acceptAlreadyClosed: true)
    }

    @Test("The states of a server are read by other parts")
    func states() {
        let (count, drain) = (ConnectionCount(), DrainState())
        #expect(count.current == 0 && !drain.isDraining)
        count.set(7)
        drain.begin()
        #expect(count.current == 7 && drain.isDraining)
        #expect("\(ListeningSocketClosed())" == "the listening socket was closed")
    }
}
