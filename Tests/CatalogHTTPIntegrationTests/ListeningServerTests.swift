import Catalog
import CatalogHTTP
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

/// Servers whose responder or listening socket fails, and servers that are cancelled.
@Suite(.timeLimit(.minutes(15))) struct ListeningServerTests {
    /// Fails on `/fail`, waits until it is cancelled on `/wait`, and answers other requests.
    private final class Responder: HTTPResponder {
        typealias Context = CallContext
        struct Failure: Error {}

        private let seen = Mutex<[String]>([])
        private let cancelled = Mutex(0)
        let peers = Mutex<[String?]>([])

        var paths: [String] { seen.withLock { $0 } }
        var cancellations: Int { cancelled.withLock { $0 } }

        func respond(to request: Request, context: CallContext) async throws -> Response {
            seen.withLock { $0.append(request.uri.path) }
            peers.withLock { $0.append(context.peer?.ipAddress) }
            if request.uri.path == "/fail" { throw Failure() }
            if request.uri.path == "/wait" {
                do { try await Task.sleep(for: .seconds(600)) } catch { cancelled.withLock { $0 += 1 } }
            }
            return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "done")))
        }
    }

    private static let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private static func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// Runs a server until a body has ended, and returns the error with which the server ends; nil without an error.
    ///
    /// - Parameter body: gets the port, the listening channel, and the task of the server.
    private func run(
        _ responder: Responder,
        count: ConnectionCount = ConnectionCount(),
        _ body: @escaping @Sendable (Int, any Channel, Task<Void, any Error>) async throws -> Void
    ) async throws -> (any Error)? {
        let (channels, channel) = AsyncStream<any Channel>.makeStream()
        let server = ListeningServer(
            at: .host("127.0.0.1", port: 0),
            connection: responder.channel(logger: Self.logger),
            connections: count,
            logger: Self.logger,
            onListening: { listening in
                channel.yield(listening)
                channel.finish()
            }
        )
        let task = Task {
            // If the server cannot start, fail instead of waiting for its channel.
            defer { channel.finish() }
            try await server.run()
        }
        do {
            for await listening in channels { try await body(listening.localAddress?.port ?? 0, listening, task) }
        } catch {
            task.cancel()
            throw error
        }
        do {
            try await task.value
            return nil
        } catch { return error }
    }

    @Test("A responder that fails returns 500 with a date, and its connection stays open")
    func failingResponders() async throws {
        let responder = Responder()
        let error = try await run(responder) { port, _, task in
            let client = try RawClient(port)
            client.send(Self.get("/fail") + Self.get("/next", "Connection: close\r\n"))
            let first = try #require(RawResponse(await client.response()))
            #expect(first.status == 500 && first.body.isEmpty)
            #expect(first.fields["date"]?.hasSuffix(" GMT") == true && first.fields["connection"] == nil)
            let second = try #require(RawResponse(first.rest))
            #expect(second.status == 200 && second.body == "done" && second.rest.isEmpty)
            #expect(second.fields["date"]?.hasSuffix(" GMT") == true)
            task.cancel()
        }
        #expect(error == nil)
        #expect(responder.paths == ["/fail", "/next"])
        #expect(responder.peers.withLock { $0 } == ["127.0.0.1", "127.0.0.1"])
    }

    @Test("A server whose listening socket is closed ends with an error, and cancels its requests")
    func failedSockets() async throws {
        let responder = Responder()
        let error = try await run(responder) { port, channel, _ in
            let client = try RawClient(port)
            client.send(Self.get("/wait"))
            #expect(await eventually { responder.paths == ["/wait"] })
            try await channel.close()
            #expect(await eventually { responder.cancellations == 1 })
            client.disconnect()
        }
        #expect(error is ListeningSocketClosed)
    }

    @Test("A cancelled server cancels its requests, answers them, and ends without an error")
    func cancelledServers() async throws {
        let (responder, count) = (Responder(), ConnectionCount())
        let error = try await run(responder, count: count) { port, _, task in
            let client = try RawClient(port)
            client.send(Self.get("/wait", "Connection: close\r\n"))
            #expect(await eventually { responder.paths == ["/wait"] })
            #expect(count.current == 1)
            task.cancel()
            #expect(await eventually { responder.cancellations == 1 })
            client.disconnect()
        }
        #expect(error == nil)
        #expect(count.current == 0)
    }

    @Test("A server is named by its address, and an address that is in use is an error")
    func addresses() async throws {
        let responder = Responder()
        let error = try await run(responder) { port, _, task in
            let second = ListeningServer(
                at: .host("127.0.0.1", port: port),
                connection: responder.channel(logger: Self.logger),
                logger: Self.logger
            )
            #expect("\(second)".hasPrefix("server at host(\"127.0.0.1\", port: \(port)"))
            await #expect(throws: IOError.self) { try await second.run() }
            task.cancel()
        }
        #expect(error == nil)
    }
}
