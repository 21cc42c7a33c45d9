import CatalogHTTP
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

/// Connections of a server that is shut down, and its limit on connections.
@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
    /// Answers at once, but `/slow` only when it is released.
    private final class Responder: HTTPResponder {
        typealias Context = CallContext

        private let answered = Mutex<[String]>([])
        private let releases = AsyncStream<Void>.makeStream()

        var paths: [String] { answered.withLock { $0 } }

        func release() { releases.continuation.finish() }

        func respond(to request: Request, context: CallContext) async throws -> Response {
            answered.withLock { $0.append(request.uri.path) }
            if request.uri.path == "/slow" { for await _ in releases.stream {} }
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "done")))
        }
    }

    /// Runs a server for the duration of a body. The body gets the port and a function that starts the shutdown.
    private func serving(
        _ responder: Responder,
        grace: TimeAmount = .seconds(20),
        connectionLimit: Int = 100,
        _ body: @escaping @Sendable (Int, @escaping @Sendable () async throws -> Void) async throws -> Void
    ) async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [QuiescingHandler(grace: grace)]
        )
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = ListeningServer(
            at: .host("127.0.0.1", port: 0),
            connection: responder.channel(configuration, logger: logger),
            connectionLimit: connectionLimit,
            logger: logger,
            onListening: { channel in
                port.yield(channel.localAddress?.port ?? 0)
                port.finish()
            }
        )
        let group = ServiceGroup(configuration: .init(services: [server], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await group.run()
            }
            for await number in ports {
                try await body(number) {
                    await group.triggerGracefulShutdown()
                    // Afterwards, all connections know of the shutdown.
                    let isClosed = await eventually { (try? RawClient(number)) == nil }
                    #expect(isClosed)
                }
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

    @Test("Requests on new and idle connections are answered during a shutdown, with Connection: close")
    func idleConnectionsAreAnswered() async throws {
        let responder = Responder()
        try await serving(responder) { port, shutDown in
            let (new, kept) = (try RawClient(port), try RawClient(port))
            kept.send(Self.get("/first"))
            #expect(await kept.receive().hasPrefix("HTTP/1.1 200 "))
            try await shutDown()
            for client in [new, kept] {
                client.send(Self.get("/second"))
                let text = await client.response()
                #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("done"), "\(text)")
                #expect(text.lowercased().contains("\r\nconnection: close\r\n"), "\(text)")
            }
        }
        #expect(responder.paths == ["/first", "/second", "/second"])
    }

    @Test("A request in progress is completed during a shutdown, with Connection: close")
    func requestInProgressIsCompleted() async throws {
        let responder = Responder()
        try await serving(responder) { port, shutDown in
            let client = try RawClient(port)
            client.send(Self.get("/slow"))
            #expect(await eventually { responder.paths == ["/slow"] })
            try await shutDown()
            responder.release()
            let text = await client.response()
            #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("done"), "\(text)")
            #expect(text.lowercased().contains("\r\nconnection: close\r\n"), "\(text)")
        }
    }

    @Test("An idle connection is closed after the grace period")
    func idleConnectionIsClosed() async throws {
        try await serving(Responder(), grace: .milliseconds(50)) { port, shutDown in
            let client = try RawClient(port)
            try await shutDown()
            #expect(await client.response() == "")
        }
    }

    @Test("Beyond the limit, a client waits until another connection ends")
    func connectionsAreLimited() async throws {
        let responder = Responder()
        try await serving(responder, connectionLimit: 1) { port, _ in
            let first = try RawClient(port)
            first.send(Self.get("/first"))
            #expect(await first.receive().hasPrefix("HTTP/1.1 200 "))
            let second = try RawClient(port)
            second.send(Self.get("/waiting"))
            first.send(Self.get("/first"))
            #expect(await first.receive().hasPrefix("HTTP/1.1 200 "))
            #expect(responder.paths == ["/first", "/first"])
            first.disconnect()
            #expect(await second.receive().hasPrefix("HTTP/1.1 200 "))
            second.disconnect()
        }
    }

    @Test("Each connection that ends makes room for one client, however many wait")
    func roomIsForOneClient() async throws {
        let responder = Responder()
        try await serving(responder, connectionLimit: 3) { port, _ in
            var open: [RawClient] = []
            for _ in 0..<3 {
                let client = try RawClient(port)
                client.send(Self.get("/open"))
                #expect(await client.receive().hasPrefix("HTTP/1.1 200 "))
                open.append(client)
            }
            let waiting = try (0..<8).map { _ in try RawClient(port) }
            for client in waiting { client.send(Self.get("/waiting")) }
            for count in 1...2 {
                open.removeFirst().disconnect()
                #expect(await eventually { responder.paths.count { $0 == "/waiting" } >= count })
                open[0].send(Self.get("/open"))
                #expect(await open[0].receive().hasPrefix("HTTP/1.1 200 "))
                #expect(responder.paths.count { $0 == "/waiting" } == count)
            }
            for client in open + waiting { client.disconnect() }
        }
    }
}
