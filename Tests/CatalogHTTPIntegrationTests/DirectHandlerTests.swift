import Catalog
import CatalogHTTP
import Foundation
import HummingbirdCore
import InMemoryCatalog
import Testing
import TestSupport

/// Requests that are answered on the event loop, mixed with other requests on the same connection.
@Suite(.timeLimit(.minutes(5))) struct DirectHandlerTests {
    private static let page = "/v1/stores/s/shelves/x/products"
    private static let order = "/v1/stores/s/shelves/x/order"

    private static func get(_ path: String, _ fields: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
    }

    /// Runs a body with a server that has a shelf.
    private func withServer(
        products: Int = 1,
        receiveBuffer: Int32? = nil,
        _ body: @escaping @Sendable (RawClient) async throws -> Void
    ) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        _ = try await catalog.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: shelf, title: "X"), in: store)
        for number in 0..<products {
            let sku = SKU("a\(number)")!
            _ = try await catalog.put(Product(sku: sku, name: "A \(number)", priceMinor: 1), in: store)
            _ = try await catalog.place(sku, on: shelf, in: store)
        }
        let api = await TestAPI.api(catalog.storage, importer: TestAPI.NoImports())
        let channel = HTTP1Channel.Configuration(additionalChannelHandlers: [ParserErrorHandler()])
        try await serving(api, channel: channel) {
            try await body(RawClient($0.port, receiveBuffer: receiveBuffer))
        }
    }

    /// Returns the status codes and ids of all responses on a connection, in order.
    private func answers(_ text: String) -> [String] {
        text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { response in
            let id = response.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("x-request-id: ") }
            return "\(response.prefix(3)) \(id?.split(separator: " ").last ?? "")"
        }
    }

    @Test("Pipelined requests are answered in order, whichever handler answers them")
    func answersInOrder() async throws {
        try await withServer { client in
            let paths = (0..<60).map { number in
                switch number % 4 {
                case 0: Self.order
                case 1: Self.page + "?facets=brand"
                case 2: Self.page + "?sort=nonsense"
                default: Self.page
                }
            }
            let requests = paths.enumerated().map { Self.get($1, "X-Request-Id: n\($0)\r\n") }
            client.send(requests.joined() + Self.get(Self.page, "X-Request-Id: last\r\nConnection: close\r\n"))
            let expected = (0..<60).map { $0 % 4 == 2 ? "400 n\($0)" : "200 n\($0)" } + ["200 last"]
            #expect(answers(await client.response()) == expected)
        }
    }

    @Test("A client that sends nothing more still gets its response")
    func answersHalfClosedConnections() async throws {
        for path in [Self.page, Self.order] {
            try await withServer { client in
                client.send(Self.get(path, "X-Request-Id: one\r\n"))
                shutdown(client.descriptor, Int32(SHUT_WR))
                #expect(answers(await client.response()) == ["200 one"])
            }
        }
    }

    @Test("A client that reads slowly and sends nothing more gets all of its responses")
    func answersSlowReaders() async throws {
        // Two megabytes, which no buffer of the system holds.
        try await withServer(products: 100, receiveBuffer: 4096) { client in
            let requests = (0..<60).map { Self.get(Self.page + "?limit=100", "X-Request-Id: n\($0)\r\n") }
            client.send(requests.joined())
            shutdown(client.descriptor, Int32(SHUT_WR))
            let text = await client.response()
            #expect(answers(text) == (0..<60).map { "200 n\($0)" })
            #expect(text.components(separatedBy: #""next_cursor":null}}"#).count == 61)
        }
    }

    @Test("A malformed request does not affect the response to an earlier one")
    func answersBeforeErrors() async throws {
        try await withServer { client in
            client.send(Self.get(Self.page, "X-Request-Id: one\r\n") + "GARBAGE\r\n\r\n")
            let answers = answers(await client.response())
            #expect(answers.map { $0.prefix(3) } == ["200", "400"])
            #expect(answers.first == "200 one")
        }
    }

    @Test("A page has the same headers, whichever handler answers")
    func headersAreEqual() async throws {
        try await withServer { client in
            let body = "Content-Length: 0\r\n"
            client.send(
                Self.get(Self.page, "X-Request-Id: n\r\n") + Self.get(Self.page, "X-Request-Id: n\r\n" + body)
                    + Self.get(Self.page, "X-Request-Id: n\r\nConnection: close\r\n")
            )
            let responses = await client.response().components(separatedBy: "HTTP/1.1 ").dropFirst().map { response in
                response.components(separatedBy: "\r\n").filter { field in
                    // Only the last response ends the connection.
                    !field.hasPrefix("Date: ") && field != "Connection: close"
                }.sorted()
            }
            #expect(responses.count == 3)
            #expect(Set(responses).count == 1, "\(responses)")
            let text = responses.first?.joined(separator: "\n") ?? ""
            #expect(text.contains("Content-Length: ") && text.contains("ETag: "))
        }
    }

    @Test(
        "The header Date is in the format of RFC 9110",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
        ]
    )
    func formatsDates(second: Int, text: String) { #expect(HTTPDate.text(second) == text) }
}
