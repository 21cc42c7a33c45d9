import Catalog
import CatalogHTTP
import CatalogPostgres
import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import TestSupport
import Testing

/// Clients that ask for much and read little, on sockets with small buffers.
@Suite(.timeLimit(.minutes(15))) struct StallTests {
    /// Asks a hundred times for the description without reading, then reads at a pace, and returns what came until the end.
    private static func read(_ port: Int, pausing pause: UInt32, times: Int, pieces: Int) -> (bytes: Int, wasCut: Bool)
    {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var size: Int32 = 4096
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        // No call blocks for longer, whatever the server does.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return (0, false) }
        let requests = String(repeating: "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)
        guard requests.withCString({ send(descriptor, $0, strlen($0), 0) }) == requests.utf8.count else {
            return (0, false)
        }
        var total = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        for piece in 0..<pieces {
            if piece < times { usleep(pause) }
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

    @Test func whoReadsNothingIsCutOffAndWhoReadsSlowlyIsNot() async throws {
        let limit = TimeAmount.milliseconds(500)
        let api = await TestAPI.api(InMemoryCatalog(collate: collator()), importer: TestAPI.NoImports())
        let channel = HTTP1Channel.Configuration(additionalChannelHandlers: [StallHandler(limit: limit)])
        try await serving(api, server: .http1(configuration: channel)) { client in
            let port = client.port
            // Blocking calls, on threads of their own.
            async let slow = Self.onThread { Self.read(port, pausing: 50_000, times: 60, pieces: 60) }
            async let still = Self.onThread { Self.read(port, pausing: 3_000_000, times: 1, pieces: 1_000_000) }
            let all = 100 * OpenAPI.document.count
            let (patient, cut) = (await slow, await still)
            #expect(!patient.wasCut && patient.bytes > 0, "\(patient)")
            #expect(cut.wasCut && cut.bytes < all, "\(cut)")
        }
    }
}
