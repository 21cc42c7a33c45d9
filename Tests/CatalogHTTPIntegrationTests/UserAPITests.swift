import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import TestSupport

/// Users' settings and accounts over a real socket and a real database.
@Suite(.timeLimit(.minutes(15))) struct UserAPITests {
    private struct Response: Sendable {
        var status: Int
        var json: JSONValue
        var headers: HTTPFields
    }

    private static let shelf = "/v1/stores/s/shelves/x"
    private static let sort = "/v1/me/stores/s/shelves/x/sort"

    private func withServer(
        _ body: @escaping @Sendable (any TestClient, PostgresCatalog) async throws -> Void
    ) async throws {
        try await TestAPI.withServer { client, catalog in
            let (store, shelf) = (CatalogKey("s")!, CatalogKey("x")!)
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            _ = try await catalog.shelves.put(
                Shelf(key: shelf, title: "X", defaultSort: Sort(.name, .ascending)),
                in: store
            )
            for (id, price) in [("a", 3), ("b", 1), ("c", 2), ("d", 4)] {
                _ = try await catalog.products.put(
                    Product(sku: SKU(id)!, name: id, priceMinor: Int64(price)),
                    in: store
                )
                _ = try await catalog.products.place(SKU(id)!, on: shelf, in: store)
            }
            try await body(client, catalog)
        }
    }

    private func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as authorization: String?,
        _ headers: [String: String] = [:]
    ) async throws -> Response {
        var fields: HTTPFields = [.contentType: "application/json"]
        if let authorization { fields[.authorization] = authorization }
        for (name, value) in headers { fields[.init(name)!] = value }
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: fields,
            // Use a known length, also for empty bodies: rejecting an endless body closes the connection.
            body: method == .get ? nil : ByteBuffer(string: body ?? "")
        )
        let bytes = Array(buffer: response.body)
        return Response(
            status: response.status.code,
            json: (try? JSONReader.parse(bytes)) ?? .null,
            headers: response.headers
        )
    }

    private func bearer(_ user: String, _ scopes: Set<Scope> = [], expiresIn: Int64 = 3600) async throws -> String {
        "Bearer " + (try await TestAPI.token(user, scopes, expiresIn: expiresIn))
    }

    @Test("Each endpoint requires its token and scope")
    func endpointsRequireTokens() async throws {
        try await withServer { client, _ in
            let (ann, writer) = (try await bearer("ann"), try await bearer("w", [.catalogWrite]))
            let bad = [
                try await bearer("ann", expiresIn: -60), "Bearer x.y.z", "Bearer", "Basic YW5uOng=",
                ann.dropLast(3) + "AAA",
                "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4iLCJleHAiOjQwMDAwMDAwMDB9.",
            ]
            let own: [(HTTPRequest.Method, String, String?)] = [
                (.get, Self.sort, nil), (.put, Self.sort, #"{"sort":"price"}"#), (.delete, Self.sort, nil),
                (.get, "/v1/me/settings", nil), (.put, "/v1/me/settings", #"{"settings":[]}"#),
                (.get, "/v1/me/settings/a/b", nil), (.put, "/v1/me/settings/a/b", #"{"value":1}"#),
                (.delete, "/v1/me/settings/a/b", nil), (.get, "/v1/me/events", nil), (.post, "/v1/me/tickets", nil),
                (.post, "/v1/me/merge", #"{"guest_token":"x"}"#), (.get, "/v1/me/export", nil),
                (.delete, "/v1/me", nil),
            ]
            let written: [(HTTPRequest.Method, String, String?)] = [
                (.put, "/v1/stores/t", #"{"title":"T","currency":"EUR"}"#), (.put, Self.shelf, #"{"title":"X"}"#),
                (.patch, Self.shelf, #"{"title":"X"}"#), (.delete, "/v1/stores/s/shelves/none", nil),
                (.put, "/v1/stores/s/products/z", #"{"name":"Z"}"#),
                (.patch, "/v1/stores/s/products/a", #"{"name":"A"}"#),
                (.delete, "/v1/stores/s/products/none", nil), (.put, Self.shelf + "/products/a", nil),
                (.delete, Self.shelf + "/products/none", nil), (.post, "/v1/stores/s/imports?dry_run=true", "x"),
                (.post, Self.shelf + "/order/moves", #"{"moves":[]}"#), (.put, Self.shelf + "/order", "{}"),
                (.post, Self.shelf + "/order/undo", nil), (.post, "/v1/stores/s/shelves/order/moves", #"{"moves":[]}"#),
            ]
            let read = [
                "/v1/stores", "/v1/stores/s", "/v1/stores/s/shelves", Self.shelf, Self.shelf + "/products",
                Self.shelf + "/products?sort=price", Self.shelf + "/order?sort=price", "/v1/stores/s/products/a",
                Self.shelf + "/order/diff?from_sort=price&to_sort=name",
            ]
            for (method, path, body) in own + written + read.map({ (.get, $0, nil) }) {
                for token in bad {
                    let answer = try await send(client, method, path, body, as: String(token))
                    #expect(answer.status == 401, "\(method) \(path) \(token)")
                    #expect(answer.headers[.wwwAuthenticate]?.contains("invalid_token") == true)
                    #expect(answer.json["type"] == .string("/problems/unauthenticated"))
                }
            }
            for (method, path, body) in own + written {
                var fields: HTTPFields = [.contentType: "application/json"]
                fields[.init("X-Anonymous")!] = "1"
                let response = try await client.execute(
                    uri: path,
                    method: method,
                    headers: fields,
                    body: method == .get ? nil : ByteBuffer(string: body ?? "")
                )
                #expect(response.status == .unauthorized, "\(method) \(path)")
                #expect(response.headers[.wwwAuthenticate] == #"Bearer realm="aisle""#)
            }
            for (method, path, body) in written {
                let denied = try await send(client, method, path, body, as: ann)
                #expect(denied.status == 403, "\(method) \(path)")
                #expect(denied.headers[.wwwAuthenticate]?.contains("insufficient_scope") == true)
                #expect(try await send(client, method, path, body, as: writer).status != 403)
            }
            for path in read { #expect(try await send(client, .get, path, as: ann).status == 200, "\(path)") }
            for path in ["/livez", "/readyz", "/openapi.json", "/problems/forbidden"] {
                #expect(try await send(client, .get, path, as: "Bearer x").status == 200)
            }
        }
    }

    @Test("A user sees their own settings only")
    func usersSeeOwnSettingsOnly() async throws {
        try await withServer { client, _ in
            let (ann, bob) = (try await bearer("ann"), try await bearer("bob"))
            #expect(try await send(client, .put, "/v1/me/settings/secret", #"{"value":"a"}"#, as: ann).status == 200)
            #expect(try await send(client, .put, Self.sort, #"{"sort":"-price"}"#, as: ann).status == 200)
            let there = try await send(client, .get, "/v1/me/settings/secret", as: bob)
            let nowhere = try await send(client, .get, "/v1/me/settings/nothing", as: bob)
            #expect(there.status == 404)
            #expect(nowhere.status == 404)
            func words(_ answer: Response) -> [String] {
                [answer.json["type"]?.text, answer.json["title"]?.text].map { $0 ?? "" }
            }
            #expect(words(there) == words(nowhere))
            for path in ["/v1/me/settings/secret", Self.sort] {
                #expect(try await send(client, .delete, path, as: bob).status == 404)
                #expect(
                    try await send(client, .delete, path, as: bob, ["If-Match": "*"]).status == 412
                )
            }
            #expect(try await send(client, .get, "/v1/me/settings", as: bob).json["settings"] == .array([]))
            let page = try await send(client, .get, Self.shelf + "/products", as: bob)
            #expect(page.json["sort"]?["source"] == .string("shelf"))
            #expect(try await send(client, .get, "/v1/me/settings?user=ann", as: bob).status == 400)
            #expect(try await send(client, .get, "/v1/me/settings/secret", as: ann).json["value"] == .string("a"))
        }
    }

    @Test("A remembered sort is stored, and returns the diff to animate")
    func rememberedSortReturnsDiff()
        async throws
    {
        try await withServer { client, _ in
            let ann = try await bearer("ann")
            func source() async throws -> String {
                let page = try await send(client, .get, Self.shelf + "/products", as: ann)
                #expect(page.headers[.cacheControl] == "private, no-cache")
                #expect(page.headers[.vary]?.contains("Authorization") == true)
                return page.json["sort"].map { "\($0["keys"]!.text) \($0["source"]!.text)" } ?? ""
            }
            #expect(try await source() == #""name" "shelf""#)
            #expect(try await send(client, .get, Self.sort, as: ann).status == 404)
            let put = try await send(client, .put, Self.sort, #"{"sort":"price","transition_limit":3}"#, as: ann)
            #expect(put.status == 200)
            #expect(put.json["sort"] == .string("price"))
            let transition = try #require(put.json["transition"])
            #expect(transition["from_sort"] == .string("name"))
            #expect(transition["to_sort"] == .string("price"))
            // By name: a b c. By price: b c a.
            #expect(transition["moves"]?.text == #"[{"id":"a","from":0,"to":2,"after":"c"}]"#)
            #expect(try await source() == #""price" "user""#)
            let shelf = try await send(client, .get, Self.shelf, as: ann)
            let options = try #require(shelf.json["sort_options"]?.elements)
            #expect(options.filter { $0["selected"] == .bool(true) }.map { $0["sort"] } == [.string("price")])
            let order = try await send(client, .get, Self.shelf + "/order", as: ann)
            #expect(order.json["ids"]?.text == #"["b","c","a","d"]"#)
            let diff = try await send(client, .get, Self.shelf + "/order/diff?from_sort=name", as: ann)
            #expect(diff.json["to_sort"] == .string("price"))
            // The diff starts from the applied sort, and inserts include their products.
            let next = try await send(client, .put, Self.sort, #"{"sort":"-price","transition_limit":1}"#, as: ann)
            #expect(next.json["transition"]?["from_sort"] == .string("price"))
            let inserts = try #require(next.json["transition"]?["inserts"]?.elements)
            #expect(inserts.map { $0["product"]?["sku"] } == [.string("d")])
            // Conditional on the revision.
            let tag = try #require(next.headers[.eTag])
            #expect(tag == "\"\(next.json["revision"]!.text)\"")
            let known = try await send(client, .get, Self.sort, as: ann, ["If-None-Match": tag])
            #expect(known.status == 304)
            #expect(known.headers[.eTag] == tag)
            let stale = try await send(client, .put, Self.sort, #"{"sort":"name"}"#, as: ann, ["If-Match": "\"7\""])
            #expect(stale.status == 412)
            #expect(stale.headers[.eTag] == tag)
            #expect(stale.json["revision"] == next.json["revision"])
            #expect(try await send(client, .delete, Self.sort, as: ann, ["If-Match": "\"7\""]).status == 412)
            #expect(
                try await send(client, .put, Self.sort, #"{"sort":"tags"}"#, as: ann, ["If-Match": "\"7\", " + tag])
                    .status == 200
            )
            #expect(try await send(client, .delete, Self.sort, as: ann).status == 204)
            #expect(try await send(client, .delete, Self.sort, as: ann).status == 404)
            // For a missing shelf, nothing can be set, but an old setting can be deleted.
            let gone = "/v1/me/stores/s/shelves/gone/sort"
            let path = "/v1/me/settings/stores/s/shelves/gone/sort"
            #expect(try await send(client, .put, path, #"{"value":"price"}"#, as: ann).status == 200)
            #expect(try await send(client, .put, gone, #"{"sort":"price"}"#, as: ann).status == 404)
            #expect(try await send(client, .delete, gone, as: ann).status == 204)
            #expect(try await source() == #""name" "shelf""#)
            // The same by the setting's key, and with a wide scope.
            let wide = "/v1/me/settings/stores/s/sort"
            #expect(try await send(client, .put, wide, #"{"value":"-price"}"#, as: ann).status == 200)
            #expect(try await source() == #""-price" "user""#)
            let setting = "/v1/me/settings/stores/s/shelves/x/sort"
            #expect(try await send(client, .put, setting, #"{"value":"price"}"#, as: ann).status == 200)
            #expect(try await send(client, .get, Self.sort, as: ann).json["sort"] == .string("price"))
            // A cursor continues in its original order.
            let first = try await send(client, .get, Self.shelf + "/products?limit=2", as: ann)
            let cursor = try #require(first.json["page"]?["next_cursor"]?.text.dropFirst().dropLast())
            #expect(try await send(client, .put, setting, #"{"value":"name"}"#, as: ann).status == 200)
            let second = try await send(client, .get, Self.shelf + "/products?limit=2&cursor=\(cursor)", as: ann)
            #expect(second.json["sort"]?.text == #"{"keys":"price","source":"user"}"#)
        }
    }

    private static let invalidSettings: [(path: String, body: String, status: Int)] = [
        (sort, #"{"sort":"prize"}"#, 400), (sort, #"{"sort":7}"#, 400), (sort, "{}", 422),
        (sort, #"{"sort":"price","limit":2}"#, 400),
        (sort, #"{"sort":"price","transition_limit":0}"#, 422),
        (sort, "[]", 400), (sort, "", 400),
        ("/v1/me/stores/s/shelves/none/sort", #"{"sort":"price"}"#, 404),
        ("/v1/me/stores/none/shelves/x/sort", #"{"sort":"price"}"#, 404),
        ("/v1/me/settings/k", #"{"value":null}"#, 422), ("/v1/me/settings/k", #"{}"#, 422),
        ("/v1/me/settings/k", #"{"value":[1]}"#, 422), ("/v1/me/settings/k", #"{"value":1,"x":2}"#, 400),
        ("/v1/me/settings/stores/s/sort", #"{"value":"prize"}"#, 400),
        ("/v1/me/settings/stores/s/sort", #"{"value":7}"#, 422), ("/v1/me/settings/a//b", #"{"value":1}"#, 400),
        ("/v1/me/settings/../b", #"{"value":1}"#, 400), ("/v1/me/settings/a%00", #"{"value":1}"#, 400),
        ("/v1/me/settings/a%0A", #"{"value":1}"#, 400), ("/v1/me/settings/", #"{"value":1}"#, 400),
        ("/v1/me/settings", #"{"settings":{}}"#, 400), ("/v1/me/settings", #"{"settings":[7]}"#, 400),
        ("/v1/me/settings", #"{"settings":[{"key":"k","value":1}]}"#, 422),
        ("/v1/me/settings", #"{"settings":[{"key":"k","value":1,"modified_at":"today"}]}"#, 422),
        ("/v1/me/settings", #"{"settings":[{"key":"k","modified_at":"2026-01-01T00:00:00Z"}]}"#, 422),
        (
            "/v1/me/settings",
            #"{"settings":[{"key":"k","value":1,"deleted":true,"modified_at":"2026-01-01T00:00:00Z"}]}"#, 422
        ),
        (
            "/v1/me/settings",
            #"{"settings":[{"key":"k","value":1,"modified_at":"2026-01-01T00:00:00Z"},{"key":"k","value":2,"modified_at":"2026-01-01T00:00:00Z"}]}"#,
            422
        ),
    ]

    @Test("An invalid setting is rejected, and changes nothing")
    func rejectsInvalidSettings() async throws {
        try await withServer { client, catalog in
            for (path, body, status) in Self.invalidSettings {
                let response = try await send(client, .put, path, body, as: try await bearer("ann"))
                #expect(response.status == status, "\(path) \(body): \(response.json.text)")
                #expect(response.headers[.contentType] == "application/problem+json", "\(path) \(body)")
                let revisions = try await catalog.versions.revisions(of: [UserID("ann")!])
                #expect(revisions == [UserID("ann")!: 0], "\(path) \(body)")
            }
        }
    }

    @Test("The sizes of settings are limited")
    func limitsSettingSizes() async throws {
        try await withServer { client, _ in
            let ann = try await bearer("ann")
            func put(_ length: Int) async throws -> Int {
                let text = String(repeating: "x", count: length - 2)
                return try await send(client, .put, "/v1/me/settings/k", #"{"value":"\#(text)"}"#, as: ann).status
            }
            #expect(try await put(4096) == 200)
            #expect(try await put(4097) == 422)
            let key = String(repeating: "k", count: 256)
            #expect(try await send(client, .put, "/v1/me/settings/\(key)", #"{"value":1}"#, as: ann).status == 200)
            #expect(try await send(client, .put, "/v1/me/settings/\(key)k", #"{"value":1}"#, as: ann).status == 400)
        }
    }

    /// The sort of a user's lists is an ordinary setting.
    @Test("An application can store its own settings")
    func storesApplicationSettings() async throws {
        try await withServer { client, _ in
            let ann = try await bearer("ann")
            let path = "/v1/me/settings/lists."
            for name in ["sort", "sink_checked"] {
                #expect(try await send(client, .get, path + name, as: ann).status == 404)
            }
            for value in [#""name""#, #""manual""#, #""last-modified""#] {
                #expect(try await send(client, .put, path + "sort", #"{"value":\#(value)}"#, as: ann).status == 200)
                #expect(try await send(client, .get, path + "sort", as: ann).json["value"]?.text == value)
            }
            let before = try await send(client, .get, "/v1/me/settings", as: ann)
            let since = try #require(before.json["revision"]?.text)
            #expect(try await send(client, .put, path + "sink_checked", #"{"value":true}"#, as: ann).status == 200)
            #expect(try await send(client, .put, path + "sink_checked", #"{"value":false}"#, as: ann).status == 200)
            #expect(try await send(client, .delete, path + "sort", as: ann).status == 204)
            let changed = try await send(client, .get, "/v1/me/settings?since=\(since)", as: ann)
            let settings = try #require(changed.json["settings"]?.elements)
            #expect(settings.map { $0["key"] } == [.string("lists.sink_checked"), .string("lists.sort")])
            #expect(settings[0]["value"] == .bool(false))
            #expect(settings[1]["deleted"] == .bool(true))
            #expect(changed.json["resync"] == nil)
            let tag = try #require(changed.headers[.eTag])
            let path2 = "/v1/me/settings?since=\(since)"
            #expect(try await send(client, .get, path2, as: ann, ["If-None-Match": tag]).status == 304)
            // A value that was read can be sent back: it is not newer than the stored one.
            let echo = try await send(client, .put, "/v1/me/settings", changed.json.text, as: ann)
            let standing = try #require(echo.json["settings"]?.elements)
            #expect(standing.allSatisfy { $0["applied"] == .bool(false) })
            let future =
                #"{"settings":[{"key":"lists.sort","value":"name","modified_at":"2999-01-01T00:00:00+02:00"}]}"#
            let accepted = try await send(client, .put, "/v1/me/settings", future, as: ann)
            let applied = try #require(accepted.json["settings"]?.elements)
            #expect(applied[0]["applied"] == .bool(true))
            #expect(applied[0]["modified_at"]?.text.contains("2999") == false)
            #expect(
                try await send(client, .get, "/v1/me/settings?since=99999999999999999", as: ann).json["resync"]
                    == .bool(true)
            )
            for wrong in ["x", "-1", "", "1.5"] {
                #expect(try await send(client, .get, "/v1/me/settings?since=\(wrong)", as: ann).status == 400)
            }
        }
    }

    @Test("Merging a guest moves the guest's settings to the account")
    func mergesGuestSettings() async throws {
        try await withServer { client, _ in
            let (ann, guest) = (try await bearer("ann"), try await bearer("guest:7"))
            let token = guest.dropFirst(7)
            #expect(try await send(client, .put, Self.sort, #"{"sort":"-price"}"#, as: guest).status == 200)
            let body = #"{"guest_token":"\#(token)"}"#
            #expect(try await send(client, .post, "/v1/me/merge", body, as: guest).status == 403)
            let key = ["Idempotency-Key": "m1"]
            let merged = try await send(client, .post, "/v1/me/merge", body, as: ann, key)
            #expect(merged.status == 200)
            #expect(merged.json["merged"] == .number("1"))
            #expect(try await send(client, .post, "/v1/me/merge", body, as: ann, key).json == merged.json)
            #expect(try await send(client, .get, Self.sort, as: ann).json["sort"] == .string("-price"))
            #expect(try await send(client, .get, Self.sort, as: guest).status == 404)
            let other = try await bearer("bob")
            for wrong in [
                #"{"guest_token":"\#(other.dropFirst(7))"}"#, #"{"guest_token":"x"}"#, "{}",
                #"{"guest_token":"\#(try await bearer("guest:8", expiresIn: -60).dropFirst(7))"}"#,
            ] {
                #expect(try await send(client, .post, "/v1/me/merge", wrong, as: ann).status == 422, "\(wrong)")
            }
            let export = try await send(client, .get, "/v1/me/export", as: ann)
            #expect(export.json["user"] == .string("ann"))
            #expect(export.json.text.contains("-price"))
            #expect(try await send(client, .delete, "/v1/me", as: ann).status == 204)
            #expect(try await send(client, .delete, "/v1/me", as: ann).status == 204)
            #expect(try await send(client, .get, "/v1/me/export", as: ann).json["settings"] == .array([]))
        }
    }

    @Test("A user exports and erases the purchases of the token's customer, not of a customer with the user's name")
    func purchasesBelongToCustomers() async throws {
        try await withServer { client, _ in
            let till = try await bearer("till", [.purchasesWrite])
            let purchases = ["ann", "card 7"].enumerated().map { index, customer in
                """
                {"event_id":"00000000-0000-4000-8000-00000000000\(index)","sku":"\(index == 0 ? "a" : "b")","quantity":1,
                "at":"\(Timestamp.now().rfc3339)","customer":"\(customer)"}
                """
            }
            let body = "[\(purchases.joined(separator: ","))]"
            let counted = try await send(client, .post, "/v1/stores/s/purchases", body, as: till)
            #expect(counted.status == 202, "\(counted.json.text)")
            let ann = "Bearer " + (try await TestAPI.token("ann", customer: "card 7"))
            func bought(_ authorization: String) async throws -> [JSONValue?] {
                let export = try await send(client, .get, "/v1/me/export", as: authorization)
                guard case .array(let rows)? = export.json["purchases"] else { return [.null] }
                return rows.map { $0["sku"] }
            }
            #expect(try await bought(ann) == [.string("b")])
            #expect(try await send(client, .delete, "/v1/me", as: ann).status == 204)
            #expect(try await bought(ann) == [])
            #expect(try await bought(bearer("ann")) == [.string("a")])
        }
    }

    @Test("The history of an order names the user who made each change")
    func historyNamesUsers() async throws {
        try await withServer { client, catalog in
            let writer = try await bearer("mia", [.catalogWrite])
            let body = #"{"moves":[{"ids":["d"],"place":"first"}]}"#
            let key = ["Idempotency-Key": "same"]
            #expect(try await send(client, .post, Self.shelf + "/order/moves", body, as: writer, key).status == 200)
            let history = try await catalog.manualOrder.orderHistory(CatalogKey("s")!, CatalogKey("x")!)
            #expect(history.map(\.subject) == ["mia"])
            // Other users have their own keys and recorded responses.
            let other = try await bearer("tim", [.catalogWrite])
            let first = try await send(client, .post, Self.shelf + "/order/moves", body, as: other, key)
            #expect(first.status == 200)
            #expect(first.json["diff"]?["moves"]?.text == "[]")
            let another = #"{"moves":[{"ids":["c"],"place":"first"}]}"#
            for token in [writer, other] {
                let reused = try await send(client, .post, Self.shelf + "/order/moves", another, as: token, key)
                #expect(reused.status == 422)
            }
        }
    }
}
