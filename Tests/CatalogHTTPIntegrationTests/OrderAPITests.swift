import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import TestSupport

/// Manual orders over a real socket and a real database, with concurrent users.
@Suite(.timeLimit(.minutes(15))) struct OrderAPITests {
    private static let path = "/v1/stores/s/shelves/x/order"

    private func withServer(
        _ ids: [String],
        _ body: @escaping @Sendable (any TestClient) async throws -> Void
    ) async throws {
        try await TestAPI.withServer { client, catalog in
            let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(Shelf(key: shelf, title: "X"), in: store)
            for id in ids {
                _ = try await catalog.products.put(Product(sku: SKU(id)!, name: id, priceMinor: 1), in: store)
                _ = try await catalog.products.place(SKU(id)!, on: shelf, in: store)
            }
            try await body(client)
        }
    }

    private struct Response: Sendable {
        var status: Int
        var json: JSONValue
        var text: String
        var headers: HTTPFields
    }

    private func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String,
        _ headers: [String: String] = [:]
    ) async throws -> Response {
        var fields: HTTPFields = [.contentType: "application/json"]
        for (name, value) in headers { fields[.init(name)!] = value }
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: fields,
            body: ByteBuffer(string: body)
        )
        let text = String(buffer: response.body)
        return Response(
            status: response.status.code,
            json: text.isEmpty ? .null : try JSONReader.parse(Array(text.utf8)),
            text: text,
            headers: response.headers
        )
    }

    private func order(_ client: any TestClient) async throws -> [String] {
        let response = try await send(client, .get, Self.path + "?sort=position", "")
        guard case .array(let ids)? = response.json["ids"] else { return [] }
        return ids.compactMap { if case .string(let id) = $0 { id } else { nil } }
    }

    /// Users who may edit the order see its changes, latest first; others do not.
    @Test("The history of a manual order lists its changes")
    func listsChanges() async throws {
        try await withServer(["a", "b", "c", "d", "e", "f", "g"]) { (client: any TestClient) async throws in
            let first = #"{"moves":[{"ids":["g","f","e","d","c","b"],"place":"first"}]}"#
            #expect(try await send(client, .post, Self.path + "/moves", first).status == 200)
            #expect(try await send(client, .post, Self.path + "/undo", "{}").status == 200)
            let reader = try await TestAPI.token("ann")
            for headers in [[:], ["Authorization": "Bearer \(reader)"]] {
                let refused = try await send(client, .get, Self.path + "/changes", "", headers)
                #expect(refused.status == (headers.isEmpty ? 401 : 403))
            }
            let token = try await TestAPI.token("mia", [.catalogWrite])
            let response = try await send(
                client,
                .get,
                Self.path + "/changes",
                "",
                ["Authorization": "Bearer \(token)"]
            )
            let changes = try #require(response.json["changes"]?.elements)
            #expect(changes.map { $0["kind"] } == [.string("undo"), .string("move")])
            #expect(changes.map { $0["subject"] } == [.string("merchandiser"), .string("merchandiser")])
            #expect(changes.map { $0["undoes"] } == [.number("1"), .null])
            #expect(changes.map { $0["undone_by"] } == [.null, .number("2")])
            // Of many ids, the first few are listed.
            #expect(changes[1]["count"] == .number("6"))
            let named = try #require(changes[1]["ids"]?.elements)
            #expect(named.count == 5)
            #expect(!named.contains(.string("a")))
        }
    }

    @Test("Moves by after, before, place and position follow the contract")
    func documentedMoves()
        async throws
    {
        try await withServer(["a", "b", "c", "d", "e", "f"]) { (client: any TestClient) async throws in
            let moved = try await send(
                client,
                .post,
                Self.path + "/moves",
                #"{"moves":[{"ids":["f","b"],"after":"d"}]}"#
            )
            #expect(moved.status == 200)
            #expect(
                moved.json["diff"]?["moves"]?.text == #"[{"id":"f","after":"d"},{"id":"b","after":"f"}]"#
            )
            #expect(try await order(client) == ["a", "c", "d", "f", "b", "e"])
            let indexed = try await send(
                client,
                .post,
                Self.path + "/moves?indexes=true",
                #"{"moves":[{"ids":["e"],"place":"first"},{"ids":["a"],"before":"b"}]}"#
            )
            #expect(
                indexed.json["diff"]?["moves"]?.text
                    == #"[{"id":"e","from":5,"to":0,"after":null},{"id":"a","from":0,"to":4,"after":"f"}]"#
            )
            #expect(try await order(client) == ["e", "c", "d", "f", "a", "b"])
            #expect(try await send(client, .put, Self.path, #"{"ids":["b","c"]}"#).status == 200)
            #expect(try await order(client) == ["b", "c", "e", "d", "f", "a"])
            #expect(try await send(client, .put, Self.path, #"{"from_sort":"-name"}"#).status == 200)
            #expect(try await order(client) == ["f", "e", "d", "c", "b", "a"])
            #expect(try await send(client, .post, Self.path + "/undo", "").status == 200)
            #expect(try await order(client) == ["b", "c", "e", "d", "f", "a"])
        }
    }

    private static let invalidMoves: [(body: String, status: Int)] = [
        (#"{"moves":[{"ids":["b","c"],"after":"c"}]}"#, 422),
        (#"{"moves":[{"ids":["b","b"],"place":"last"}]}"#, 422),
        (#"{"moves":[{"ids":["b"],"position":-1}]}"#, 422), (#"{"moves":[{"ids":["z"],"place":"last"}]}"#, 422),
        (#"{"moves":[{"ids":["a"],"after":"z"}]}"#, 422), (#"{"moves":[{"ids":["a"]}]}"#, 422),
        (#"{"moves":[{"ids":["a"],"after":"b","place":"last"}]}"#, 422), (#"{"moves":[]}"#, 422),
        (#"{"moves":[{"ids":["c"],"place":"first"},{"ids":["z"],"place":"last"}]}"#, 422),
        (#"{"moves":[{"ids":["a"],"place":"middle"}]}"#, 400), (#"{"moves":[{"ids":"a","place":"last"}]}"#, 400),
        (#"{"moves":[{"ids":["a"],"place":"last","x":1}]}"#, 400), (#"{}"#, 400), ("", 400),
    ]

    @Test("An invalid move moves nothing")
    func invalidMovesChangeNothing() async throws {
        try await withServer(["a", "b", "c"]) { (client: any TestClient) async throws in
            for (body, status) in Self.invalidMoves {
                #expect(try await send(client, .post, Self.path + "/moves", body).status == status, "\(body)")
                #expect(try await order(client) == ["a", "b", "c"], "\(body)")
            }
        }
    }

    @Test("An order is set from ids or from a sort, not from both")
    func orderSourceIsExclusive() async throws {
        try await withServer(["a", "b"]) { (client: any TestClient) async throws in
            for (body, status) in [
                (#"{"ids":["a"],"from_sort":"name"}"#, 400), ("{}", 400), (#"{"ids":["z"]}"#, 422),
                (#"{"ids":["a","a"]}"#, 422), (#"{"from_sort":"position"}"#, 422), (#"{"from_sort":"prize"}"#, 400),
            ] {
                #expect(try await send(client, .put, Self.path, body).status == status, "\(body)")
            }
            #expect(try await send(client, .post, Self.path + "/undo", "").status == 409)
        }
    }

    @Test("A stale If-Match returns 412 with the current version, and moves nothing")
    func staleIfMatchReturns412() async throws {
        try await withServer(["a", "b", "c"]) { (client: any TestClient) async throws in
            let tag = try await client.execute(uri: Self.path + "?sort=position", method: .get).headers[.eTag]
            let body = #"{"moves":[{"ids":["c"],"place":"first"}]}"#
            // A price elsewhere on the shelf does not make it stale.
            #expect(
                try await send(client, .put, "/v1/stores/s/products/a", #"{"name":"a","price_minor":2}"#).status == 200
            )
            let first = try await send(client, .post, Self.path + "/moves", body, ["If-Match": tag!])
            #expect(first.status == 200)
            // The answer's tag is the one to send with the next move.
            #expect(first.headers[.eTag] == "\"order-\(first.json["order_version"]?.text ?? "")\"")
            let stale = try await send(
                client,
                .post,
                Self.path + "/moves",
                #"{"moves":[{"ids":["b"],"place":"first"}]}"#,
                ["If-Match": tag!]
            )
            #expect(stale.status == 412)
            #expect(stale.json["order_version"] == first.json["order_version"])
            for tag in ["\"x\"", "W/\"order-1\"", "order-1", "\"order-1\", \"1187\""] {
                let other = try await send(client, .post, Self.path + "/moves", body, ["If-Match": tag])
                #expect(other.status == 400, "\(tag)")
                #expect(other.json["parameter"] == .string("If-Match"))
            }
            #expect(try await send(client, .post, Self.path + "/moves", body, ["If-Match": "*"]).status == 200)
            #expect(try await order(client) == ["c", "a", "b"])
        }
    }

    @Test("Five concurrent requests with one idempotency key move once")
    func concurrentRepeatsMoveOnce()
        async throws
    {
        try await withServer(["a", "b", "c", "d", "e"]) { (client: any TestClient) async throws in
            let body = #"{"moves":[{"ids":["a"],"position":3}]}"#
            let answers = try await withThrowingTaskGroup(of: Response.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        try await send(client, .post, Self.path + "/moves", body, ["Idempotency-Key": "k1"])
                    }
                }
                return try await group.reduce(into: [Response]()) { $0.append($1) }
            }
            #expect(Set(answers.map(\.status)).isSubset(of: [200, 409]))
            #expect(answers.contains { $0.status == 200 })
            #expect(Set(answers.filter { $0.status == 200 }.map(\.text)).count == 1)
            #expect(try await order(client) == ["b", "c", "d", "a", "e"])
            let other = try await send(
                client,
                .post,
                Self.path + "/moves",
                #"{"moves":[{"ids":["a"],"position":0}]}"#,
                ["Idempotency-Key": "k1"]
            )
            #expect(other.status == 422)
            #expect(other.json["type"] == .string("/problems/idempotency-key-reused"))
            #expect(
                try await send(
                    client,
                    .post,
                    Self.path + "/moves",
                    body,
                    ["Idempotency-Key": String(repeating: "k", count: 256)]
                )
                .status == 400
            )
        }
    }

    /// Eight concurrent writers move into one gap: the responses form one history that leads to the final order.
    @Test("Concurrent moves into one gap all succeed")
    func concurrentMovesIntoOneGap() async throws {
        let ids = (0..<40).map { "p\($0)" }
        try await withServer(ids) { (client: any TestClient) async throws in
            let start = try await order(client)
            typealias Step = (version: Int64, id: String, after: String?)
            let steps = try await withThrowingTaskGroup(of: [Step].self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var steps: [Step] = []
                        for round in 0..<100 {
                            let id = "p\(2 + writer + (round % 4) * 8)"
                            let target = round % 2 == 0 ? #""after":"p0""# : #""before":"p1""#
                            let answer = try await send(
                                client,
                                .post,
                                Self.path + "/moves",
                                #"{"moves":[{"ids":["\#(id)"],\#(target)}]}"#
                            )
                            #expect(answer.status == 200, "\(answer.text)")
                            guard case .array(let moves)? = answer.json["diff"]?["moves"], let move = moves.first,
                                case .number(let version)? = answer.json["order_version"]
                            else { continue }
                            let after: String? = if case .string(let text)? = move["after"] { text } else { nil }
                            steps.append((Int64(version)!, id, after))
                        }
                        return steps
                    }
                }
                return try await group.reduce(into: [Step]()) { $0 += $1 }
            }
            #expect(Set(steps.map(\.version)).count == steps.count)
            var replayed = start
            for step in steps.sorted(by: { $0.version < $1.version }) {
                replayed.removeAll { $0 == step.id }
                replayed.insert(step.id, at: step.after.map { replayed.firstIndex(of: $0)! + 1 } ?? 0)
            }
            #expect(try await order(client) == replayed)
        }
    }

    @Test("Two concurrent moves after each other end in one consistent order")
    func mutualMovesConverge()
        async throws
    {
        try await withServer(["a", "b", "c"]) { (client: any TestClient) async throws in
            for _ in 0..<300 {
                async let one = send(client, .post, Self.path + "/moves", #"{"moves":[{"ids":["a"],"after":"b"}]}"#)
                async let two = send(client, .post, Self.path + "/moves", #"{"moves":[{"ids":["b"],"after":"a"}]}"#)
                let statuses = try await [one.status, two.status]
                #expect(statuses == [200, 200])
            }
            #expect(try await order(client).sorted() == ["a", "b", "c"])
        }
    }

    @Test("Shelves of a store are moved like products of a shelf")
    func movesShelves() async throws {
        try await withServer([]) { (client: any TestClient) async throws in
            for key in ["y", "z"] { _ = try await send(client, .put, "/v1/stores/s/shelves/\(key)", #"{"title":"T"}"#) }
            let moved = try await send(
                client,
                .post,
                "/v1/stores/s/shelves/order/moves",
                #"{"moves":[{"ids":["z"],"place":"first"}]}"#,
                ["Idempotency-Key": "shelves"]
            )
            #expect(moved.status == 200)
            #expect(moved.json["diff"]?["moves"]?.text == #"[{"id":"z","after":null}]"#)
            let listed = try await send(client, .get, "/v1/stores/s/shelves", "")
            let shelves = try #require(listed.json["shelves"]?.elements)
            #expect(shelves.map { $0["key"] } == [.string("z"), .string("x"), .string("y")])
        }
    }
}
