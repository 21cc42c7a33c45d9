import CatalogHTTP
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import Synchronization
import WebClient

/// A client of a server under test over a real socket; concurrent requests use separate connections.
protocol TestClient: Sendable {
    var port: Int { get }
    func send(
        uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields,
        body: ByteBuffer?
    ) async throws -> TestResponse
}

struct TestResponse: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: ByteBuffer
}

extension TestClient {
    /// Sends a request, and passes the response to a closure.
    @discardableResult
    func execute<Value>(
        uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields = [:],
        body: ByteBuffer? = nil,
        _ read: (TestResponse) async throws -> Value = { $0 }
    ) async throws -> Value {
        try await read(send(uri: uri, method: method, headers: headers, body: body))
    }
}

/// Sends requests unchanged.
struct PlainClient: TestClient {
    let port: Int

    func send(
        uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields,
        body: ByteBuffer?
    ) async throws -> TestResponse {
        let fetch = HTTPFetch(
            method.rawValue,
            "http://127.0.0.1:\(port)\(uri)",
            headers: headers.map { ($0.name.rawName, $0.value) },
            body: body.map { Array(buffer: $0) },
            timeout: .seconds(60),
            bodyLimit: 64 << 20
        )
        let response = try await HTTPClient.shared.send(fetch)
        var fields = HTTPFields()
        for (name, value) in response.head.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return TestResponse(
            status: .init(code: response.status),
            headers: fields,
            body: ByteBuffer(bytes: response.body)
        )
    }
}

/// Serves on a free local port for the duration of a test.
func serving(
    _ api: CatalogAPI,
    channel: HTTP1Channel.Configuration = .init(),
    _ body: @escaping @Sendable (PlainClient) async throws -> Void
) async throws {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    try await serving(CatalogChannel(api, channel, logger: logger), body)
}

/// Serves connections on a free local port for the duration of a test.
func serving(
    _ connection: some ServerChildChannel,
    _ body: @escaping @Sendable (PlainClient) async throws -> Void
) async throws {
    let (ports, port) = AsyncStream<Int>.makeStream()
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let server = ListeningServer(
        at: .host("127.0.0.1", port: 0),
        connection: connection,
        logger: logger,
        onListening: { channel in
            port.yield(channel.localAddress?.port ?? 0)
            port.finish()
        }
    )
    let services = ServiceGroup(configuration: .init(services: [server], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            // If the server cannot start, fail instead of waiting for its port.
            defer { port.finish() }
            try await services.run()
        }
        for await number in ports { try await body(PlainClient(port: number)) }
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
    }
}
