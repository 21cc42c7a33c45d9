import Catalog
import CatalogHTTP
import CatalogJSON
import HTTPTypes
import InMemoryCatalog
import JSON
import Live
import NIOCore
import Synchronization
import TestSupport
import Testing

/// The bytes of event streams, and where they start.
@Suite(.timeLimit(.minutes(15))) struct EventStreamTests {
    private static let shelf = "/v1/stores/s/shelves/x"

    private struct Server: Sendable {
        let client: any TestClient
        let live: LiveHub
        let catalog: InMemoryCatalog
        let observations: Observations

        /// Opens a stream, closes the hub when a text has arrived, and returns the whole response.
        func stream(_ path: String, _ fields: [String: String] = [:], until text: String) async throws -> RawResponse {
            let raw = try RawClient(client.port)
            let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            raw.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
            var received = ""
            while !received.contains(text) {
                let piece = await raw.receive()
                guard !piece.isEmpty else { break }
                received += piece
            }
            live.close()
            received += await raw.response()
            return try #require(RawResponse(received), "\(received)")
        }
    }

    /// A stream that stays open while a test changes products.
    private actor OpenStream {
        struct Event {
            let name: String
            let data: JSONValue

            /// The ids of a list of the data: of the whole order, or of a part of a diff.
            func ids(_ list: String) -> [String] {
                (data[list]?.elements ?? []).compactMap { ($0["id"] ?? $0).string }
            }
        }

        private let client: RawClient
        private var received = ""

        init(_ server: Server, _ path: String, _ fields: [String: String] = [:]) throws {
            client = try RawClient(server.client.port)
            let lines = fields.map { "\($0.key): \($0.value)\r\n" }.joined()
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
        }

        /// Returns the next event; nil at the end of the stream.
        func next() async throws -> Event? {
            while true {
                while let end = received.firstRange(of: "\n\n") {
                    let lines = received[..<end.lowerBound].split(whereSeparator: \.isNewline)
                    received.removeSubrange(..<end.upperBound)
                    func value(_ name: String) -> Substring? {
                        lines.last { $0.hasPrefix("\(name): ") }?.dropFirst(name.count + 2)
                    }
                    guard let name = value("event"), let data = value("data") else { continue }
                    return Event(name: String(name), data: try JSONReader.parse(Array(data.utf8)))
                }
                let piece = await client.receive()
                if piece.isEmpty { return nil }
                received += piece
            }
        }
    }

    /// Runs a body with a server that notices changes.
    private func withFollowingServer(_ body: @escaping @Sendable (Server) async throws -> Void) async throws {
        var options = LiveHub.Options()
        options.poll = .milliseconds(10)
        try await withServer(live: options) { server in
            let running = Task { await server.live.run() }
            defer {
                running.cancel()
                server.live.close()
            }
            try await body(server)
        }
    }

    private final class Observations: Sendable {
        let all = Mutex<[HTTPObservation]>([])

        func receive(_ observation: HTTPObservation) {
            if case .eventsSent = observation { all.withLock { $0.append(observation) } }
        }
    }

    /// Runs a body with a server whose shelf `x` has three products.
    private func withServer(
        _ options: CatalogAPI.Options = .init(),
        live liveOptions: LiveHub.Options = .init(),
        _ body: @escaping @Sendable (Server) async throws -> Void
    ) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
        _ = try await catalog.put(Store(key: store, title: "S", currency: Currency("EUR")!))
        _ = try await catalog.put(Shelf(key: shelf, title: "X"), in: store)
        for (id, price) in [("a", 300), ("b", 100), ("c", 200)] {
            _ = try await catalog.put(Product(sku: SKU(id)!, name: id, priceMinor: Int64(price)), in: store)
            _ = try await catalog.place(SKU(id)!, on: shelf, in: store)
        }
        let live = LiveHub(pages: catalog, versions: catalog, source: nil, options: liveOptions)
        let observations = Observations()
        let api = CatalogAPI(
            catalog: catalog.storage,
            importer: TestAPI.NoImports(),
            key: DeploymentKey(Array("test".utf8)),
            verifier: TokenVerifier(keys: TokenKeys(secrets: [TestAPI.secret])),
            live: live,
            options: options,
            observer: Observer { observations.receive($0) }
        )
        try await TestAPI.run(api) { client in
            try await body(Server(client: client, live: live, catalog: catalog, observations: observations))
        }
    }

    private static func bearer(_ user: String = "ann") async throws -> [String: String] {
        ["Authorization": "Bearer \(try await TestAPI.token(user))"]
    }

    /// Sets a setting, and returns its revision.
    private func set(_ key: String, _ server: Server) async throws -> String {
        let response = try await server.client.execute(
            uri: "/v1/me/settings/\(key)",
            method: .put,
            headers: [.contentType: "application/json", .authorization: try await Self.bearer()["Authorization"]!],
            body: ByteBuffer(string: #"{"value":1}"#)
        )
        return try #require(try JSONReader.parse(Array(buffer: response.body))["revision"]).text
    }

    /// The end of each stream of a server that stops: a delay of 500 to 4,000 ms before the client may reconnect.
    private func checkEnd(_ body: String, after begin: String, _ sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        let end = try #require(body.wholeMatch(of: /(?s)(.*)retry: ([0-9]+)\nevent: reconnect\ndata: \{\}\n\n/))
        #expect(String(end.1) == begin, sourceLocation: sourceLocation)
        #expect(Int(end.2).map { (500...4000).contains($0) } == true, sourceLocation: sourceLocation)
    }

    @Test("A user's stream starts with the revision and the delay, and ends with another delay")
    func userStreams() async throws {
        try await withServer { server in
            let revision = try await set("a", server)
            let response = try await server.stream("/v1/me/events", try await Self.bearer(), until: "data: ")
            #expect(response.status == 200)
            #expect(response.fields["content-type"] == "text/event-stream")
            #expect(response.fields["cache-control"] == "no-store" && response.fields["connection"] == "close")
            #expect(response.fields["x-accel-buffering"] == "no" && response.fields["content-length"] == nil)
            try checkEnd(
                response.body,
                after: ": open\nretry: 2000\nevent: start\nid: \(revision)\ndata: {\"revision\":\(revision)}\n\n"
            )
            // The first event is not one of a change.
            #expect(server.observations.all.withLock { $0.isEmpty })
        }
    }

    @Test(
        "A user's stream resumes after the revision of the header, or else of the parameter",
        arguments: [true, false]
    )
    func userStreamsResume(usesHeader: Bool) async throws {
        try await withServer { server in
            let first = try await set("a", server)
            let second = try await set("b", server)
            var fields = try await Self.bearer()
            if usesHeader { fields["Last-Event-ID"] = first }
            // The header takes precedence.
            let query = usesHeader ? "?since=0" : "?since=\(first)"
            let response = try await server.stream("/v1/me/events\(query)", fields, until: "event: setting")
            let opening = ": open\nretry: 2000\nevent: start\nid: \(first)\ndata: {\"revision\":\(first)}\n\n"
            #expect(response.body.hasPrefix(opening + "event: setting\nid: \(second)\ndata: {\"key\":\"b\","))
            #expect(!response.body.contains("\"key\":\"a\""))
            #expect(server.observations.all.withLock { $0 } == [.eventsSent(.user, count: 1)])
        }
    }

    @Test("An invalid Last-Event-ID asks for a resync without an id before it", arguments: ["x", "-1", "1.5"])
    func invalidIDs(id: String) async throws {
        try await withServer { server in
            let revision = try await set("a", server)
            var fields = try await Self.bearer()
            fields["Last-Event-ID"] = id
            let response = try await server.stream("/v1/me/events", fields, until: "event: gap")
            try checkEnd(
                response.body,
                after:
                    ": open\nretry: 2000\nevent: gap\nid: \(revision)\ndata: {\"revision\":\(revision),\"resync\":true}\n\n"
            )
        }
    }

    @Test("An empty Last-Event-ID is none, and an invalid parameter is an error")
    func emptyIDs() async throws {
        try await withServer { server in
            var fields = try await Self.bearer()
            fields["Last-Event-ID"] = ""
            let wrong = try await server.client.execute(
                uri: "/v1/me/events?since=x",
                method: .get,
                headers: [.authorization: fields["Authorization"]!]
            )
            #expect(wrong.status == .badRequest)
            let response = try await server.stream("/v1/me/events", fields, until: "data: ")
            #expect(response.body.hasPrefix(": open\nretry: 2000\nevent: start\n"))
        }
    }

    @Test("A ticket opens one stream of its user, and no request opens one without a ticket or a token")
    func tickets() async throws {
        try await withServer { server in
            let revision = try await set("a", server)
            let made = try await server.client.execute(
                uri: "/v1/me/tickets",
                method: .post,
                headers: [.authorization: try await Self.bearer()["Authorization"]!],
                body: ByteBuffer()
            )
            let ticket = try #require(try JSONReader.parse(Array(buffer: made.body))["ticket"]?.string)
            for (query, detail) in [
                ("", "a user's events require a token or a ticket"),
                ("?ticket=x", "invalid, used or expired ticket; a ticket is valid for 30 seconds"),
                (
                    "?ticket=\(String(ticket.dropLast()))",
                    "invalid, used or expired ticket; a ticket is valid for 30 seconds"
                ),
            ] {
                let refused = try await server.client.execute(uri: "/v1/me/events\(query)", method: .get)
                #expect(refused.status == .unauthorized)
                #expect(refused.headers[.wwwAuthenticate] == #"Bearer realm="aisle""#)
                #expect(try JSONReader.parse(Array(buffer: refused.body))["detail"] == .string(detail))
            }
            let path = "/v1/me/events?ticket=\(ticket)"
            let open = try RawClient(server.client.port)
            open.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
            var text = ""
            while !text.contains("data: ") {
                let piece = await open.receive()
                guard !piece.isEmpty else { break }
                text += piece
            }
            #expect(text.contains("id: \(revision)\n"))
            #expect(try await server.client.execute(uri: path, method: .get).status == .unauthorized)
            server.live.close()
            open.disconnect()
        }
    }

    @Test("A shelf's stream starts with its whole order of the wanted length, with products only if they are wanted")
    func shelfStreams() async throws {
        for (query, ids, hasProducts) in [
            ("?sort=price", #"["b","c","a"]"#, false), ("?sort=-price&limit=2", #"["a","c"]"#, false),
            ("?sort=price&limit=1&products=true", #"["b"]"#, true),
            ("?sort=name&price_min=2", #"["a","c"]"#, false),
        ] {
            try await withServer { server in
                let response = try await server.stream(Self.shelf + "/events" + query, until: "data: ")
                #expect(response.status == 200 && response.fields["content-type"] == "text/event-stream")
                let lines = response.body.split(separator: "\n", omittingEmptySubsequences: false)
                try #require(lines.count > 5)
                #expect(lines[0] == ": open" && lines[1] == "retry: 2000" && lines[2] == "event: order")
                #expect(lines[3].hasPrefix("id: ") && Int64(lines[3].dropFirst(4)) != nil && lines[5] == "")
                let data = try JSONReader.parse(Array(lines[4].dropFirst("data: ".count).utf8))
                let shown =
                    data["ids"] ?? .array((data["inserts"]?.elements ?? []).compactMap { $0["id"] })
                #expect(shown.text == ids, "\(query)")
                #expect(lines[4].contains("\"unit_price\"") == hasProducts)
                #expect(server.observations.all.withLock { $0 } == [.eventsSent(.shelf, count: 1)])
            }
        }
    }

    @Test("A shelf's stream resumes at its version, but not with a remembered sort, whose order is unknown")
    func shelfStreamsResume() async throws {
        for remembers in [false, true] {
            try await withServer { server in
                let page = try await server.client.execute(uri: Self.shelf + "/products?sort=price", method: .get)
                let version = try #require(try JSONReader.parse(Array(buffer: page.body))["version"]).text
                let fields = try await Self.bearer()
                guard remembers else {
                    let response = try await server.stream(
                        "\(Self.shelf)/events?sort=price&since=\(version)",
                        until: ": open\n"
                    )
                    try checkEnd(response.body, after: ": open\n")
                    return
                }
                let put = try await server.client.execute(
                    uri: "/v1/me/stores/s/shelves/x/sort",
                    method: .put,
                    headers: [.contentType: "application/json", .authorization: fields["Authorization"]!],
                    body: ByteBuffer(string: #"{"sort":"-price","filter":{"price_min":2}}"#)
                )
                #expect(put.status == .ok)
                let response = try await server.stream(
                    "\(Self.shelf)/events?since=\(version)",
                    fields,
                    until: "data: "
                )
                let data = try #require(response.body.split(separator: "data: ").dropFirst().first)
                #expect(data.contains("\"a\"") && data.contains("\"c\"") && !data.contains("\"b\""))
            }
        }
    }

    private func put(
        _ sku: String,
        _ price: Int64,
        name: String? = nil,
        group: String? = nil,
        rating: Int? = nil,
        _ server: Server
    ) async throws {
        let product = Product(
            sku: SKU(sku)!,
            name: name ?? sku,
            priceMinor: price,
            group: group,
            attributes: rating.map { #"{"rating":\#($0)}"# } ?? "{}"
        )
        _ = try await server.catalog.put(product, in: CatalogKey("s")!)
    }

    private func declareRating(_ server: Server) async throws { try await declare("rating", server) }

    private func declare(_ name: String, _ server: Server) async throws {
        let definition = try AttributeDefinition(name: AttributeName(name)!, form: .number(decimals: 1))
        _ = try await server.catalog.declare(.definition(definition), for: .store(CatalogKey("s")!))
    }

    /// Sets the view that a user remembers for the shelf.
    private func remember(_ body: String, _ fields: [String: String], _ server: Server) async throws {
        let put = try await server.client.execute(
            uri: "/v1/me/stores/s/shelves/x/sort",
            method: .put,
            headers: [.contentType: "application/json", .authorization: fields["Authorization"]!],
            body: ByteBuffer(string: body)
        )
        #expect(put.status == .ok)
    }

    @Test("A stream of a search sends the changes of the products that it finds, and no others")
    func searchStreams() async throws {
        try await withFollowingServer { server in
            try await put("a", 300, name: "Milk", server)
            let stream = try OpenStream(server, Self.shelf + "/events?q=milk&sort=price")
            let first = try #require(try await stream.next())
            #expect(first.name == "order" && first.ids("ids") == ["a"] && first.data["q"]?["text"] == .string("milk"))
            // A change of another product is not an event.
            try await put("c", 20, server)
            try await put("b", 10, name: "Milk", server)
            let next = try #require(try await stream.next())
            #expect(next.name == "order" && next.ids("inserts") == ["b"] && next.ids("deletes") == [])
            #expect(next.data["from_version"] == .null && next.data["new_count"] == .integer(2))
            try await put("a", 300, name: "Tea", server)
            #expect(try await stream.next()?.ids("deletes") == ["a"])
        }
    }

    @Test("A stream with a filter by an attribute sends the changes of the products that match")
    func attributeStreams() async throws {
        try await withFollowingServer { server in
            try await declareRating(server)
            try await put("a", 300, rating: 4, server)
            try await put("b", 100, rating: 5, server)
            let stream = try OpenStream(server, Self.shelf + "/events?sort=price&rating_min=4")
            #expect(try await stream.next()?.ids("ids") == ["b", "a"])
            // The product has no rating, and the change of its price is not an event.
            try await put("c", 250, server)
            try await put("c", 200, rating: 4, server)
            let next = try #require(try await stream.next())
            #expect(next.ids("inserts") == ["c"] && next.ids("deletes") == [] && next.ids("moves") == [])
            #expect(next.data["inserts"]?.elements?.first?["to"] == .integer(1))
            try await put("b", 100, rating: 3, server)
            #expect(try await stream.next()?.ids("deletes") == ["b"])
        }
    }

    @Test(
        "A stream with collapsed groups sends the changes of cards, also for a remembered view",
        arguments: [false, true]
    )
    func groupStreams(isRemembered: Bool) async throws {
        try await withFollowingServer { server in
            try await put("a", 300, group: "g", server)
            try await put("b", 100, group: "g", server)
            let fields = try await Self.bearer()
            if isRemembered { try await remember(#"{"sort":"price","collapse":true}"#, fields, server) }
            let query = isRemembered ? "" : "?sort=price&collapse=true"
            let stream = try OpenStream(server, Self.shelf + "/events" + query, isRemembered ? fields : [:])
            let first = try #require(try await stream.next())
            #expect(first.ids("ids") == ["group/g", "c"] && first.data["collapse"] == .bool(true))
            // The other member represents the group now, behind the product without a group.
            try await put("b", 900, group: "g", server)
            let next = try #require(try await stream.next())
            #expect(next.data["old_count"] == .integer(2) && next.data["new_count"] == .integer(2))
            #expect(next.ids("moves").count == 1 && next.ids("inserts") == [] && next.ids("deletes") == [])
            #expect(next.ids("changed") == ["group/g"])
            #expect(!next.ids("moves").contains("a") && !next.ids("moves").contains("b"))
        }
    }

    @Test(
        "A stream of a remembered view whose attribute is deleted ends with a reconnect, and the next one ignores the view"
    )
    func lostAttributesOfViews() async throws {
        try await withFollowingServer { server in
            try await declareRating(server)
            try await put("c", 200, rating: 5, server)
            try await put("a", 300, rating: 4, server)
            let fields = try await Self.bearer()
            try await remember(#"{"sort":"-rating"}"#, fields, server)
            let remembered = try OpenStream(server, Self.shelf + "/events", fields)
            let named = try OpenStream(server, Self.shelf + "/events?sort=-rating")
            #expect(try await remembered.next()?.ids("ids") == ["c", "a", "b"])
            #expect(try await named.next()?.ids("ids") == ["c", "a", "b"])
            try await server.catalog.remove(attribute: AttributeName("rating")!, of: .store(CatalogKey("s")!))
            #expect(try await remembered.next()?.name == "reconnect")
            #expect(try await remembered.next() == nil)
            #expect(try await named.next()?.name == "gone")
            #expect(try await named.next() == nil)
            let next = try OpenStream(server, Self.shelf + "/events", fields)
            let first = try #require(try await next.next())
            #expect(first.name == "order" && first.data["to_sort"] != .string("-rating"))
            #expect(first.ids("ids").sorted() == ["a", "b", "c"])
        }
    }

    @Test(
        "A stream of a remembered view with a requested filter reconnects unless the attribute of the filter is deleted",
        arguments: [("score", "reconnect"), ("rating", "gone")]
    )
    func lostAttributesOfFilters(deleted: String, event: String) async throws {
        try await withFollowingServer { server in
            try await declareRating(server)
            try await declare("score", server)
            try await put("c", 200, rating: 5, server)
            try await put("a", 300, rating: 4, server)
            let fields = try await Self.bearer()
            try await remember(#"{"sort":"-score"}"#, fields, server)
            let stream = try OpenStream(server, Self.shelf + "/events?rating_min=4", fields)
            let first = try #require(try await stream.next())
            #expect(first.data["to_sort"] == .string("-score") && first.ids("ids").sorted() == ["a", "c"])
            try await server.catalog.remove(attribute: AttributeName(deleted)!, of: .store(CatalogKey("s")!))
            #expect(try await stream.next()?.name == event)
            #expect(try await stream.next() == nil)
        }
    }

    @Test("A stream of a remembered view ends with the shelf", arguments: ["", "?include=descendants"])
    func deletedShelfOfViews(query: String) async throws {
        try await withFollowingServer { server in
            try await declareRating(server)
            let fields = try await Self.bearer()
            try await remember(#"{"sort":"-rating"}"#, fields, server)
            let stream = try OpenStream(server, Self.shelf + "/events" + query, fields)
            #expect(try await stream.next()?.name == "order")
            try await server.catalog.remove(shelf: CatalogKey("x")!, from: CatalogKey("s")!)
            #expect(try await stream.next()?.name == "gone")
            #expect(try await stream.next() == nil)
        }
    }

    @Test("Without events, a comment keeps a stream open")
    func heartbeats() async throws {
        var live = LiveHub.Options()
        live.poll = .milliseconds(10)
        live.heartbeat = .milliseconds(60)
        try await withServer(live: live) { server in
            let running = Task { await server.live.run() }
            defer { running.cancel() }
            let response = try await server.stream("/v1/me/events", try await Self.bearer(), until: ": alive\n")
            #expect(response.body.contains("\n\n: alive\n"))
            #expect(server.observations.all.withLock { $0.isEmpty })
        }
    }

    @Test("A client beyond its streams of shelves gets 429, and a shelf that cannot be streamed its error")
    func refusals() async throws {
        var options = CatalogAPI.Options()
        options.rateLimit = .standard
        options.streamsPerClientLimit = 1
        try await withServer(options) { server in
            for (path, status) in [
                ("/v1/stores/s/shelves/none/events", 404),
                ("\(Self.shelf)/events?include=descendants&sort=position", 400),
                ("\(Self.shelf)/events?sort=prize", 400), ("\(Self.shelf)/events?limit=0", 400),
                ("\(Self.shelf)/events?products=maybe", 400), ("\(Self.shelf)/events?include=all", 400),
            ] {
                let response = try await server.client.execute(uri: path, method: .get)
                #expect(response.status.code == status, "\(path)")
            }
            let first = try RawClient(server.client.port)
            first.send("GET \(Self.shelf)/events HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await first.receive().hasPrefix("HTTP/1.1 200 "))
            let second = try await server.client.execute(uri: Self.shelf + "/events", method: .get)
            #expect(second.status == .tooManyRequests && second.headers[.retryAfter] == "30")
            let json = try JSONReader.parse(Array(buffer: second.body))
            #expect(json["type"] == .string("/problems/too-many"))
            #expect(json["detail"] == .string("a client can have at most 1 event streams; close unused ones"))
            server.live.close()
            first.disconnect()
        }
    }

    @Test("A server that stops opens no streams")
    func closedHub() async throws {
        try await withServer { server in
            server.live.close()
            let fields: HTTPFields = [.authorization: try await Self.bearer()["Authorization"]!]
            for path in ["/v1/me/events", Self.shelf + "/events"] {
                let response = try await server.client.execute(uri: path, method: .get, headers: fields)
                #expect(response.status == .serviceUnavailable && response.headers[.retryAfter] == "1", "\(path)")
            }
        }
    }
}
