import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import Foundation
import Hummingbird
import HummingbirdCore
import InMemoryCatalog
import NIOCore
import Testing
import TestSupport

/// Clients that send many requests and read little, on sockets with small buffers.
@Suite(.timeLimit(.minutes(15))) struct StallTests {
    private static func localPort(_ descriptor: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Whether the server's side of a connection is open, according to the kernel: state 01 of `proc_net_tcp(5)`.
    private static func isEstablished(server: Int, client: Int) -> Bool {
        let file = FileHandle(forReadingAtPath: "/proc/net/tcp")
        guard let data = try? file?.readToEnd() else { return true }
        let table = String(decoding: data, as: UTF8.self)
        func ends(_ address: Substring, _ port: Int) -> Bool {
            address.split(separator: ":").last.flatMap { Int($0, radix: 16) } == port
        }
        return table.split(separator: "\n").dropFirst().contains { line in
            let words = line.split(separator: " ")
            return words.count > 3 && ends(words[1], server) && ends(words[2], client) && words[3] == "01"
        }
    }

    /// How a client reads its responses.
    private enum Pace {
        /// A number of reads, with a pause in microseconds before each.
        case slowly(pause: UInt32, pieces: Int)
        /// Nothing until the server has closed the connection, then everything received.
        case notAtAll
    }

    /// Requests the description 100 times; returns the received bytes and whether the server closed the connection.
    private static func read(_ port: Int, _ pace: Pace) -> (bytes: Int, wasCut: Bool) {
        guard let client = try? RawClient(port, receiveBuffer: 4096) else { return (0, false) }
        let descriptor = client.descriptor
        let requests = String(repeating: "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)
        client.send(requests)
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var (pause, pieces): (UInt32, Int) = (0, 1_000_000)
        switch pace {
        case .slowly(let delay, let count): (pause, pieces) = (delay, count)
        case .notAtAll:
            // Check the kernel's state: unread data hides the end of the connection from the socket.
            let deadline = ContinuousClock.now + .seconds(60)
            while isEstablished(server: port, client: localPort(descriptor)) {
                guard ContinuousClock.now < deadline else { return (0, false) }
                usleep(10_000)
            }
        }
        for _ in 0..<pieces {
            if pause > 0 { usleep(pause) }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { return (total, false) }
            if count <= 0 { return (total, true) }
            total += count
        }
        return (total, false)
    }

    private static func onThread<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test("A client that reads nothing is disconnected, and a slow one is served")
    func disconnectsStalledClients() async throws {
        let limit = TimeAmount.milliseconds(500)
        let api = await TestAPI.api(InMemoryCatalog(collate: collator).storage, importer: TestAPI.NoImports())
        let channel = HTTP1Channel.Configuration(additionalChannelHandlers: [StallHandler(limit: limit)])
        try await serving(api, channel: channel) { client in
            let port = client.port
            // Blocking calls need their own threads.
            async let slow = Self.onThread { Self.read(port, .slowly(pause: 50_000, pieces: 60)) }
            async let still = Self.onThread { Self.read(port, .notAtAll) }
            let all = 100 * OpenAPI.document.count
            let (patient, cut) = (await slow, await still)
            #expect(!patient.wasCut, "\(patient)")
            #expect(patient.bytes > 0, "\(patient)")
            #expect(cut.wasCut, "\(cut)")
            #expect(cut.bytes < all, "\(cut)")
        }
    }

    @Test(
        "A request that is not HTTP gets a problem document",
        arguments: [
            ("GARBAGE\r\n\r\n", "unknown method"),
            ("GET / HTTP/7.9\r\n\r\n", "unsupported version in the request line"),
            ("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "invalid Content-Length"),
            ("GET / HTTP/1.1\r\na b: c\r\n\r\n", "invalid character in a header"),
            // Longer than one read of the socket: the parser reports an error for each part.
            ("GET /\(String(repeating: "a", count: 1 << 20)) HTTP/1.1\r\n\r\n", "its headers are too large"),
        ]
    )
    func explainsParserErrors(request: String, reason: String) async throws {
        let api = await TestAPI.api(InMemoryCatalog(collate: collator).storage, importer: TestAPI.NoImports())
        let channel = HTTP1Channel.Configuration(additionalChannelHandlers: [ParserErrorHandler()])
        try await serving(api, channel: channel) { client in
            let raw = try RawClient(client.port)
            raw.send(request)
            let response = await raw.response()
            #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response)")
            let body = response.components(separatedBy: "\r\n\r\n").last ?? ""
            let problem = try JSONReader.parse(Array(body.utf8))
            #expect(problem["type"] == .string("/problems/malformed-request"))
            #expect(problem["detail"] == .string("the request is not valid HTTP/1.1: \(reason)"))
            #expect(response.contains("Content-Length: \(body.utf8.count)\r\n"), "\(response)")
        }
    }
}
