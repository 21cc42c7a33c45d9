import TestSupport
import Testing
import WebClient

/// The client of other servers, on a real socket.
@Suite(.timeLimit(.minutes(15))) struct WebClientTests {
    private static let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    /// Returns the error of a request.
    private static func failure(_ fetch: HTTPFetch) async -> HTTPFetchError? {
        do throws(HTTPFetchError) { _ = try await HTTPClient.shared.send(fetch) } catch { return error }
        return nil
    }

    @Test("A request has its method, its path as it is, its headers and no others")
    func requests() async throws {
        let server = try ScriptedServer(Array(repeating: .bytes(Self.empty), count: 6))
        defer { server.close() }
        let headers = [(name: "X-One", value: "1"), (name: "X-Empty", value: "")]
        for fetch in [
            HTTPFetch("GET", server.url("/a/../b?q=%20"), headers: headers), HTTPFetch("DELETE", server.url()),
            HTTPFetch("PUT", server.url(), body: Array("b\u{0}dy".utf8)), HTTPFetch("POST", server.url(), body: []),
            HTTPFetch("POST", server.url(), headers: [("content-TYPE", "text/csv")], body: [65]),
            HTTPFetch("HEAD", server.url()),
        ] {
            let response = try await HTTPClient.shared.send(fetch)
            #expect(response.status == 200 && response.body.isEmpty)
        }
        let requests = server.requests
        try #require(requests.count == 6)
        #expect(requests[0].hasPrefix("GET /a/../b?q=%20 HTTP/1.1\r\n"))
        #expect(requests[0].contains("\r\nX-One: 1\r\n") && requests[0].contains("\r\nX-Empty:\r\n"))
        #expect(requests[1].hasPrefix("DELETE / HTTP/1.1\r\n") && !requests[1].contains("Content-Length"))
        #expect(requests[2].hasPrefix("PUT / HTTP/1.1\r\n") && requests[2].hasSuffix("\r\n\r\nb\u{0}dy"))
        #expect(requests[2].contains("\r\nContent-Length: 4\r\n"))
        #expect(requests[3].hasPrefix("POST / HTTP/1.1\r\n") && requests[3].contains("\r\nContent-Length: 0\r\n"))
        #expect(requests[4].contains("\r\ncontent-TYPE: text/csv\r\n") && requests[4].hasSuffix("\r\n\r\nA"))
        #expect(requests[5].hasPrefix("HEAD / HTTP/1.1\r\n"))
        for (number, request) in requests.enumerated() {
            #expect(!request.contains("Expect:"))
            #expect(request.lowercased().contains("content-type:") == (number == 4))
        }
    }

    @Test(
        "A response has its status, its headers in their order, and its body; earlier heads and redirects do not count"
    )
    func responses() async throws {
        let server = try ScriptedServer([
            .bytes(
                "HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\nHTTP/1.1 404 Not Found\r\nX-B: \t b c \r\nx-a:1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
            ),
            .bytes("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            .bytes("no HTTP"),
        ])
        defer { server.close() }
        let fetch = HTTPFetch("GET", server.url())
        let found = try await HTTPClient.shared.send(fetch)
        #expect(found.status == 404 && found.body == Array("no".utf8))
        let names = found.head.headers.map { $0.name }
        #expect(names == ["X-B", "x-a", "Content-Length", "Connection"])
        #expect(found.head.headers.first?.value.hasPrefix("b c") == true)
        #expect(try await HTTPClient.shared.send(fetch).status == 302)
        #expect(await Self.failure(fetch)?.kind == .connection)
    }

    @Test("A body may have as many bytes as its limit allows")
    func bodyLimits() async throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        let server = try ScriptedServer([.bytes(response), .bytes(response)])
        defer { server.close() }
        let body = try await HTTPClient.shared.send(HTTPFetch("GET", server.url(), bodyLimit: 5)).body
        #expect(body == Array("hello".utf8))
        let error = await Self.failure(HTTPFetch("GET", server.url(), bodyLimit: 4))
        #expect(error?.kind == .bodyTooLarge && error?.description == "the response exceeds 4 bytes")
    }

    @Test("Requests that cannot be sent are invalid, and a server that is gone is a failed connection")
    func failures() async throws {
        for fetch in [
            HTTPFetch("GET", "http://a\n"), HTTPFetch("GE\rT", "http://a"),
            HTTPFetch("GET", "http://a", headers: [("x", "\u{0}")]),
            HTTPFetch("GET", "http://a", headers: [("x\n", "y")]), HTTPFetch("GET", "ftp://a"),
            HTTPFetch("GET", "http://[::"),
        ] { #expect(await Self.failure(fetch)?.kind == .invalidRequest, "\(fetch.url)") }
        let text = await Self.failure(HTTPFetch("GET", "http://a\n"))?.description
        #expect(text == "the URL or a header contains a line break or NUL")
        let server = try ScriptedServer([])
        server.close()
        #expect(await Self.failure(HTTPFetch("GET", server.url()))?.kind == .connection)
        let defaults = HTTPFetch("GET", "http://a")
        #expect(defaults.timeout == .seconds(10) && defaults.bodyLimit == 16 << 20)
    }

    @Test("A request ends at its timeout, and at once if its task is cancelled")
    func timeouts() async throws {
        let server = try ScriptedServer(
            Array(repeating: .begin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh"), count: 3)
        )
        defer { server.close() }
        let error = await Self.failure(HTTPFetch("GET", server.url(), timeout: .milliseconds(200)))
        #expect(error?.kind == .timeout && error?.description == "the request timed out")
        let url = server.url()
        let task = Task { await Self.failure(HTTPFetch("GET", url, timeout: .seconds(3600))) }
        let isAsked = await eventually { server.requests.count >= 2 }
        #expect(isAsked)
        task.cancel()
        let cancelled = await task.value
        #expect(cancelled?.kind == .cancelled && cancelled?.description == "the task was cancelled")
        // The head of a stream comes before its body.
        let stream = try await HTTPClient.shared.stream(HTTPFetch("GET", url, timeout: .seconds(3600)))
        #expect(stream.head.status == 200)
        var pieces = stream.body.makeAsyncIterator()
        #expect(try await pieces.next() == Array("h".utf8))
    }

    @Test("A client of its own sends requests, and ends those that are open when it is gone")
    func ownClients() async throws {
        let server = try ScriptedServer([
            .bytes(Self.empty), .begin("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nh"),
        ])
        defer { server.close() }
        var client: HTTPClient? = HTTPClient()
        #expect(try await client?.send(HTTPFetch("GET", server.url())).status == 200)
        let stream = try await client?.stream(HTTPFetch("GET", server.url(), timeout: .seconds(3600)))
        client = nil
        var error: HTTPFetchError?
        do { if let body = stream?.body { for try await _ in body {} } } catch let found as HTTPFetchError {
            error = found
        }
        #expect(error?.kind == .cancelled)
    }
}
