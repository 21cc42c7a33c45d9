import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import TestSupport

/// Users' lists over a real socket, on a real database.
@Suite(.timeLimit(.minutes(15))) struct ListAPITests {
    private struct Response: Sendable {
        var status: Int
        var json: JSONValue
        var headers: HTTPFields

        func text(_ path: String...) -> String {
            var value: JSONValue? = json
            for name in path { value = value?[name] }
            if case .string(let text)? = value { return text }
            return value?.text ?? "nothing"
        }

        func values(_ name: String) -> [JSONValue] { if case .array(let values)? = json[name] { values } else { [] } }
        func texts(_ name: String, _ member: String) -> [String] {
            values(name).map { if case .string(let text)? = $0[member] { text } else { "nothing" } }
        }
    }

    private static let lists = "/v1/me/lists"

    private func withServer(
        _ body: @escaping @Sendable (any TestClient, PostgresCatalog) async throws -> Void
    ) async throws {
        try await TestAPI.withServer { client, catalog in
            let store = CatalogKey("s")!
            _ = try await catalog.shelves.put(Store(key: store, title: "S", currency: Currency("EUR")!))
            for (shelf, products) in [("fruit", ["pear", "apple"]), ("dairy", ["milk", "butter"])] {
                _ = try await catalog.shelves.put(Shelf(key: CatalogKey(shelf)!, title: shelf), in: store)
                for (index, id) in products.enumerated() {
                    let size = try Size(amount: ExactDecimal(500), unit: .g, packs: 1)
                    let product = Product(sku: SKU(id)!, name: id, priceMinor: Int64(300 - 100 * index), size: size)
                    _ = try await catalog.products.put(product, in: store)
                    _ = try await catalog.products.place(product.sku, on: CatalogKey(shelf)!, in: store)
                }
            }
            try await body(client, catalog)
        }
    }

    private func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as user: String = "ann",
        _ headers: [String: String] = [:]
    ) async throws -> Response {
        var fields: HTTPFields = [.contentType: "application/json"]
        fields[.authorization] = "Bearer " + (try await TestAPI.token(user))
        for (name, value) in headers { fields[.init(name)!] = value }
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: fields,
            body: method == .get ? nil : ByteBuffer(string: body ?? "")
        )
        let json = (try? JSONReader.parse(Array(buffer: response.body))) ?? .null
        return Response(status: response.status.code, json: json, headers: response.headers)
    }

    /// Creates a list; returns its path.
    private func list(_ client: any TestClient, _ name: String, as user: String = "ann") async throws -> String {
        let made = try await send(client, .post, Self.lists, "{\"name\":\"\(name)\"}", as: user)
        #expect(made.status == 201)
        #expect(made.headers[.location] == Self.lists + "/" + made.text("id"))
        return Self.lists + "/" + made.text("id")
    }

    /// Creates a free-text item; returns its id.
    private func item(_ client: any TestClient, _ path: String, _ text: String, as user: String = "ann")
        async throws
        -> String
    {
        let made = try await send(client, .post, path + "/items", "{\"text\":\"\(text)\"}", as: user)
        #expect(made.status == 201)
        return made.texts("items", "id").first ?? ""
    }

    private func shown(_ client: any TestClient, _ path: String, _ query: String = "") async throws -> [String] {
        try await send(client, .get, path + "/items" + query).texts("items", "name")
    }

    @Test("Checked items move to the end, and return to their position when unchecked")
    func checkedItemsMoveToEnd()
        async throws
    {
        try await withServer { client, _ in
            let path = try await list(client, "Week")
            var ids: [String] = []
            for name in ["a", "b", "c", "d"] { ids.append(try await item(client, path, name)) }
            let checked = try await send(client, .patch, "\(path)/items/\(ids[1])", #"{"checked":true}"#)
            #expect(try await shown(client, path) == ["a", "c", "d", "b"])
            // The minimal diff, with changed content reported separately from moves.
            #expect(
                checked.json["diff"]?["moves"]?.text == #"[{"id":"\#(ids[1])","from":1,"to":3,"after":"\#(ids[3])"}]"#
            )
            #expect(checked.json["diff"]?["changed"]?.text == #"[{"id":"\#(ids[1])","at":3}]"#)
            _ = try await send(client, .patch, "\(path)/items/\(ids[0])", #"{"checked":true}"#)
            #expect(try await shown(client, path) == ["c", "d", "a", "b"])
            _ = try await send(client, .patch, "\(path)/items/\(ids[1])", #"{"checked":false}"#)
            #expect(try await shown(client, path) == ["b", "c", "d", "a"])
            // Without auto-sort, all items are back in their positions.
            let off = try await send(client, .patch, path, #"{"auto_sort":false}"#)
            #expect(off.text("list", "auto_sort") == "false")
            #expect(off.json["diff"]?["moves"]?.text.contains(ids[0]) == true)
            #expect(try await shown(client, path) == ["a", "b", "c", "d"])
            // A no-op changes nothing.
            let version = off.text("version")
            let same = try await send(client, .patch, path, #"{"auto_sort":false}"#)
            #expect(same.text("version") == version)
            #expect(same.json["diff"]?["moves"]?.text == "[]")
        }
    }

    @Test("Items are products or texts, and sort by the store's layout")
    func itemsSortByStoreLayout() async throws {
        try await withServer { client, catalog in
            let path = try await list(client, "Week")
            for body in [
                #"{"store":"s","sku":"milk","quantity":"2","note":"low fat"}"#, #"{"text":"Candles"}"#,
                #"{"items":[{"store":"s","sku":"apple"},{"store":"s","sku":"pear","quantity":0.5}]}"#,
            ] { #expect(try await send(client, .post, path + "/items", body).status == 201) }
            #expect(try await shown(client, path) == ["milk", "Candles", "apple", "pear"])
            #expect(try await shown(client, path, "?sort=name") == ["apple", "Candles", "milk", "pear"])
            #expect(try await shown(client, path, "?sort=-name") == ["pear", "milk", "Candles", "apple"])
            #expect(try await shown(client, path, "?sort=shelf") == ["pear", "apple", "milk", "Candles"])
            #expect(try await shown(client, path, "?sort=price") == ["apple", "milk", "pear", "Candles"])
            #expect(try await shown(client, path, "?sort=-unit_price") == ["milk", "pear", "apple", "Candles"])
            // Moving the shelves changes the item order.
            let moves = [OrderMove(["dairy"], .first)]
            _ = try await catalog.shelves.moveShelves(moves, in: CatalogKey("s")!, expected: nil, once: nil)
            #expect(try await shown(client, path, "?sort=shelf") == ["milk", "pear", "apple", "Candles"])
            let items = try await send(client, .get, path + "/items")
            #expect(items.values("items")[0]["product"]?["price_minor"] == .number("300"))
            #expect(items.values("items")[0]["quantity"] == .string("2"))
            #expect(items.values("items")[1]["product"] == .null)
            // A deleted product keeps its name.
            try await catalog.products.remove(product: SKU("milk")!, from: CatalogKey("s")!)
            let left = try await send(client, .get, path + "/items")
            #expect(left.values("items")[0]["name"] == .string("milk"))
            #expect(left.values("items")[0]["product"] == .null)
            for (body, field) in [
                (#"{"store":"s","sku":"none"}"#, "sku"), (#"{"store":"s"}"#, "sku"), ("{}", "text"),
                (#"{"text":"  "}"#, "text"),
                (#"{"text":"x","quantity":0}"#, "quantity"), (#"{"text":"x","quantity":"1.2345"}"#, "quantity"),
                (#"{"text":"x","quantity":1000000}"#, "quantity"), (#"{"text":"x","id":"7"}"#, "id"),
                (#"{"items":[{"text":"x"},{"note":"y"}]}"#, "items[1].text"), (#"{"items":[]}"#, "items"),
            ] {
                let response = try await send(client, .post, path + "/items", body)
                #expect(response.status == 422, "\(body): \(response.json.text)")
                #expect(response.text("parameter") == field, "\(body): \(response.json.text)")
            }
            #expect(try await send(client, .get, path + "/items?sort=color").status == 400)
        }
    }

    @Test("Deleted lists and items can be restored")
    func restoresListsAndItems() async throws {
        try await withServer { client, _ in
            let path = try await list(client, "Week")
            let (a, b) = (try await item(client, path, "a"), try await item(client, path, "b"))
            let gone = try await send(client, .delete, "\(path)/items/\(a)")
            #expect(gone.status == 200)
            #expect(gone.json["diff"]?["deletes"]?.text == #"[{"id":"\#(a)","from":0}]"#)
            #expect(try await send(client, .delete, "\(path)/items/\(a)").status == 404)
            #expect(try await send(client, .get, "\(path)/items/\(a)").status == 404)
            let version = try await send(client, .get, path).text("version")
            let back = try await send(client, .patch, "\(path)/items/\(a)", #"{"deleted":false}"#)
            #expect(back.json["diff"]?["inserts"]?.text == #"[{"id":"\#(a)","to":0,"after":null}]"#)
            #expect(try await shown(client, path) == ["a", "b"])
            // A reconnecting device gets the changes and the order.
            let since = try await send(client, .get, "\(path)/items?since=\(version)")
            #expect(since.texts("items", "id") == [a])
            #expect(since.json["order"]?.text == #"["\#(a)","\#(b)"]"#)
            #expect(try await send(client, .delete, path).status == 204)
            #expect(try await send(client, .delete, path).status == 404)
            #expect(try await send(client, .get, path + "/items").status == 404)
            #expect(try await send(client, .post, path + "/items", #"{"text":"c"}"#).status == 404)
            #expect(try await send(client, .get, Self.lists).values("lists").isEmpty)
            let tombstone = try await send(client, .get, Self.lists + "?since=1").values("lists")
            #expect(tombstone.map { $0["deleted"] } == [.bool(true)])
            #expect(try await send(client, .patch, path, #"{"deleted":false}"#).status == 200)
            #expect(try await shown(client, path) == ["a", "b"])
        }
    }

    @Test("Lists are sorted and moved per user")
    func listsSortPerUser() async throws {
        try await withServer { client, _ in
            var paths: [String: String] = [:]
            for name in ["Zoo", "Apples", "Market"] { paths[name] = try await list(client, name) }
            _ = try await item(client, paths["Apples"]!, "x")
            func names(_ query: String = "") async throws -> [String] {
                try await send(client, .get, Self.lists + query).texts("lists", "name")
            }
            #expect(try await names() == ["Apples", "Market", "Zoo"])
            #expect(try await names("?sort=manual") == ["Zoo", "Apples", "Market"])
            #expect(try await names("?sort=name") == ["Apples", "Market", "Zoo"])
            #expect(try await send(client, .get, Self.lists + "?sort=position").status == 400)
            let id = paths["Market"]!.split(separator: "/").last!
            let moved = try await send(
                client,
                .post,
                Self.lists + "/order/moves",
                #"{"moves":[{"ids":["\#(id)"],"place":"first"}]}"#
            )
            #expect(moved.status == 200)
            #expect(moved.json["diff"]?["moves"]?.text == #"[{"id":"\#(id)","after":null}]"#)
            #expect(try await names("?sort=manual") == ["Market", "Zoo", "Apples"])
            let set = try await send(client, .put, "/v1/me/settings/lists.sort", #"{"value":"manual"}"#)
            #expect(set.status == 200)
            #expect(try await names() == ["Market", "Zoo", "Apples"])
            _ = try await send(client, .put, "/v1/me/settings/lists.sink_checked", #"{"value":false}"#)
            let quiet = try await send(client, .post, Self.lists, #"{"name":"Quiet"}"#)
            #expect(quiet.text("auto_sort") == "false")
            for (key, value) in [("lists.sort", "\"colour\""), ("lists.sort", "1"), ("lists.sink_checked", "\"no\"")] {
                let response = try await send(client, .put, "/v1/me/settings/\(key)", "{\"value\":\(value)}")
                #expect([400, 422].contains(response.status), "\(key) \(value)")
            }
            let unknown = UniqueID.random()
            let stray = #"{"moves":[{"ids":["\#(unknown)"],"place":"first"}]}"#
            #expect(try await send(client, .post, Self.lists + "/order/moves", stray).status == 422)
        }
    }

    @Test("Moves, repeats and stale versions of lists behave as on shelves")
    func listMovesMatchShelfMoves() async throws {
        try await withServer { client, _ in
            let path = try await list(client, "Week")
            var ids: [String] = []
            for name in ["a", "b", "c", "d"] { ids.append(try await item(client, path, name)) }
            let tag = try await send(client, .get, path).headers[.eTag]!
            let body = #"{"moves":[{"ids":["\#(ids[3])","\#(ids[0])"],"before":"\#(ids[2])"}]}"#
            let key = ["Idempotency-Key": "once", "If-Match": tag]
            let moved = try await send(client, .post, path + "/order/moves", body, as: "ann", key)
            #expect(moved.status == 200)
            #expect(moved.json["diff"]?["new_count"] == .number("4"))
            #expect(try await shown(client, path) == ["b", "d", "a", "c"])
            #expect(try await send(client, .post, path + "/order/moves", body, as: "ann", key).json == moved.json)
            let stale = try await send(client, .post, path + "/order/moves", body, as: "ann", ["If-Match": tag])
            #expect(stale.status == 412)
            #expect(stale.text("version") == moved.text("version"))
            #expect(try await send(client, .patch, path, #"{"name":"x"}"#, as: "ann", ["If-Match": tag]).status == 412)
            #expect(try await send(client, .delete, path, nil, as: "ann", ["If-Match": tag]).status == 412)
            // A change's own tag, too, is one to send with the next change.
            #expect(moved.headers[.eTag] == (try await send(client, .get, path)).headers[.eTag])
            let other = try await send(client, .delete, path, nil, as: "ann", ["If-Match": "\"order-1\""])
            #expect(other.status == 400)
            let fresh = stale.headers[.eTag]!
            #expect(
                try await send(client, .patch, path, #"{"name":"x"}"#, as: "ann", ["If-Match": fresh]).status == 200
            )
            let unknown = #"{"moves":[{"ids":["\#(ids[0])"],"after":"nobody"}]}"#
            #expect(try await send(client, .post, path + "/order/moves", unknown).status == 422)
            #expect(try await shown(client, path) == ["b", "d", "a", "c"])
            // With client-generated ids, a repeated item is created once.
            let own = UniqueID.random()
            let again = #"{"id":"\#(own)","text":"e"}"#
            #expect(try await send(client, .post, path + "/items", again).status == 201)
            let second = try await send(client, .post, path + "/items", again)
            #expect(second.status == 200)
            #expect(second.json["diff"]?["inserts"]?.text == "[]")
            let listID = UniqueID.random()
            let made = #"{"id":"\#(listID)","name":"Own"}"#
            #expect(try await send(client, .post, Self.lists, made).status == 201)
            #expect(try await send(client, .post, Self.lists, made).status == 200)
            _ = try await send(client, .delete, Self.lists + "/\(listID)")
            #expect(try await send(client, .post, Self.lists, made).status == 409)
        }
    }

    @Test("Another user's list returns 404 from every endpoint")
    func otherUsersListReturns404() async throws {
        try await withServer { client, _ in
            let path = try await list(client, "Ann's")
            let item = try await item(client, path, "a")
            let share = try await send(client, .post, path + "/shares").text("id")
            let calls: [(HTTPRequest.Method, String, String?)] = [
                (.get, path, nil), (.patch, path, #"{"name":"x"}"#), (.patch, path, #"{"deleted":false}"#),
                (.delete, path, nil),
                (.get, path + "/items", nil), (.get, path + "/items?since=0", nil),
                (.post, path + "/items", #"{"text":"b"}"#),
                (.patch, path + "/items", #"{"items":[{"id":"\#(item)","checked":true}]}"#),
                (.get, "\(path)/items/\(item)", nil), (.patch, "\(path)/items/\(item)", #"{"checked":true}"#),
                (.delete, "\(path)/items/\(item)", nil),
                (.post, path + "/order/moves", #"{"moves":[{"ids":["\#(item)"],"place":"first"}]}"#),
                (.get, path + "/shares", nil), (.post, path + "/shares", nil),
                (.delete, "\(path)/shares/\(share)", nil),
            ]
            let none = Self.lists + "/\(UniqueID.random())"
            for (method, call, body) in calls {
                let answer = try await send(client, method, call, body, as: "bob")
                #expect(answer.status == 404, "\(method) \(call): \(answer.status)")
                // The response is the same as for a list that does not exist.
                let other = try await send(client, method, call.replacing(path, with: none), body, as: "bob")
                #expect(other.status == 404)
                #expect(other.text("title") == answer.text("title"))
                let response = try await client.execute(
                    uri: call,
                    method: method,
                    headers: [.init("X-Anonymous")!: "1"],
                    body: method == .get ? nil : ByteBuffer()
                )
                #expect(response.status == .unauthorized)
            }
            let stray = #"{"moves":[{"ids":["\#(path.split(separator: "/").last!)"],"place":"first"}]}"#
            #expect(try await send(client, .post, Self.lists + "/order/moves", stray, as: "bob").status == 422)
            #expect(try await shown(client, path) == ["a"])
            #expect(try await send(client, .get, path).text("name") == "Ann's")
        }
    }

    @Test("A list is shared, joined and revoked")
    func sharesJoinsAndRevokes() async throws {
        try await withServer { client, _ in
            let path = try await list(client, "Ours")
            let first = try await item(client, path, "a")
            let reader = try await send(client, .post, path + "/shares")
            let editor = try await send(client, .post, path + "/shares", #"{"role":"editor"}"#)
            #expect(reader.status == 201)
            #expect(reader.text("role") == "reader")
            #expect(editor.text("role") == "editor")
            func join(_ share: Response, as user: String) async throws -> Response {
                try await send(client, .post, Self.lists + "/join", "{\"token\":\"\(share.text("token"))\"}", as: user)
            }
            #expect(try await join(reader, as: "bob").text("role") == "reader")
            #expect(try await send(client, .get, path + "/items", as: "bob").texts("items", "id") == [first])
            #expect(try await send(client, .get, Self.lists, as: "bob").texts("lists", "role") == ["reader"])
            for (method, call, body) in [
                (HTTPRequest.Method.post, path + "/items", #"{"text":"b"}"#),
                (.patch, "\(path)/items/\(first)", #"{"checked":true}"#),
                (.patch, path, #"{"name":"x"}"#), (.get, path + "/shares", nil as String?),
                (.post, path + "/shares", nil),
                (.delete, "\(path)/items/\(first)", nil),
            ] {
                #expect(try await send(client, method, call, body, as: "bob").status == 403, "\(method) \(call)")
            }
            // Joining twice keeps the higher role.
            #expect(try await join(editor, as: "bob").text("role") == "editor")
            #expect(try await join(reader, as: "bob").text("role") == "editor")
            #expect(try await join(editor, as: "ann").text("role") == "owner")
            let added = try await item(client, path, "b", as: "bob")
            #expect(try await shown(client, path) == ["a", "b"])
            #expect(try await send(client, .delete, path, as: "eve").status == 404)
            #expect(try await send(client, .patch, path, #"{"deleted":true}"#, as: "bob").status == 403)
            let shares = try await send(client, .get, path + "/shares")
            #expect(shares.values("shares").map { $0["members"] } == [.number("0"), .number("1")])
            #expect(shares.values("shares").allSatisfy { $0["token"] == nil })
            // After a revocation, the list is gone immediately.
            #expect(try await send(client, .delete, "\(path)/shares/\(editor.text("id"))").status == 204)
            #expect(try await send(client, .delete, "\(path)/shares/\(editor.text("id"))").status == 404)
            for (method, call, body) in [
                (HTTPRequest.Method.get, path, nil as String?), (.get, path + "/items", nil),
                (.post, path + "/items", #"{"text":"c"}"#),
                (.patch, "\(path)/items/\(added)", #"{"checked":true}"#),
            ] {
                #expect(try await send(client, method, call, body, as: "bob").status == 404, "\(method) \(call)")
            }
            #expect(try await join(editor, as: "bob").status == 404)
            #expect(try await send(client, .get, Self.lists, as: "bob").values("lists").isEmpty)
            #expect(
                try await send(client, .get, Self.lists + "?since=1", as: "bob").values("lists").map { $0["deleted"] }
                    == [.bool(true)]
            )
            for wrong in [#"{"token":"x"}"#, #"{"token":""}"#] {
                #expect(try await send(client, .post, Self.lists + "/join", wrong, as: "bob").status == 404)
            }
            #expect(try await send(client, .post, Self.lists + "/join", "{}", as: "bob").status == 422)
            // A removed member can join by another share, and members can leave.
            #expect(try await join(reader, as: "bob").status == 200)
            #expect(try await send(client, .delete, path, as: "bob").status == 204)
            #expect(try await send(client, .get, path, as: "bob").status == 404)
            #expect(try await send(client, .get, path).status == 200)
        }
    }

    @Test("A removed member receives no further events, exports or responses")
    func removedMemberReceivesNothing()
        async throws
    {
        try await withServer { client, catalog in
            let path = try await list(client, "Ours")
            let share = try await send(client, .post, path + "/shares", #"{"role":"editor"}"#)
            let token = "{\"token\":\"\(share.text("token"))\"}"
            let joined = try await send(client, .post, Self.lists + "/join", token, as: "bob", ["Idempotency-Key": "j"])
            let start = try #require(Int64(joined.text("revision")))
            let key = ["Idempotency-Key": "once"]
            let secret = try await item(client, path, "secret", as: "bob")
            let add = #"{"text":"theirs"}"#
            #expect(try await send(client, .post, path + "/items", add, as: "bob", key).status == 201)
            #expect(try await send(client, .delete, "\(path)/shares/\(share.text("id"))").status == 204)
            _ = try await send(client, .patch, path, #"{"name":"Renamed"}"#)
            _ = try await item(client, path, "later")
            // Neither the export, the tombstone, earlier events nor a recorded response contains it.
            let export = try await send(client, .get, "/v1/me/export", as: "bob").json.text
            let tombstone = try await send(client, .get, Self.lists + "?since=1", as: "bob").values("lists")
            let announced = try await catalog.versions.changes(of: UserID("bob")!, since: start, limit: 100)
            let texts = [
                export, tombstone.map(\.text).joined(),
                announced.events.map { String(decoding: $0.data, as: UTF8.self) }.joined(),
            ]
            for text in texts {
                for word in ["secret", "theirs", "later", "Renamed", "item_count"] {
                    #expect(!text.contains(word), "\(word): \(text)")
                }
            }
            #expect(tombstone.count == 1)
            #expect(announced.events.count == 1)
            #expect(!announced.isResync)
            #expect(try await send(client, .post, path + "/items", add, as: "bob", key).status == 404)
            for (method, call, body) in [
                (
                    HTTPRequest.Method.post, path + "/order/moves",
                    #"{"moves":[{"ids":["\#(secret)"],"place":"first"}]}"# as String?
                ),
                (.patch, path, #"{"name":"x"}"#), (.delete, path, nil), (.get, path + "/shares", nil),
                (.post, path + "/shares", nil),
                (.delete, "\(path)/items/\(secret)", nil), (.patch, path, #"{"deleted":false}"#),
            ] { #expect(try await send(client, method, call, body, as: "bob").status == 404, "\(method) \(call)") }
        }
    }

    @Test("Client-generated ids are case-insensitive and unique")
    func acceptsClientIDs()
        async throws
    {
        try await withServer { client, catalog in
            let path = try await list(client, "Week")
            let ids = (0..<3).map { _ in UniqueID.random().text.uppercased() }
            for id in ids {
                #expect(
                    try await send(client, .post, path + "/items", #"{"id":"\#(id)","text":"\#(id.prefix(2))"}"#).status
                        == 201
                )
            }
            let moves = #"{"moves":[{"ids":["\#(ids[2])"],"before":"\#(ids[0])"}]}"#
            #expect(try await send(client, .post, path + "/order/moves", moves).status == 200)
            let shown = try await send(client, .get, path + "/items").texts("items", "id")
            #expect(shown == [ids[2], ids[0], ids[1]].map { $0.lowercased() })
            // A deleted item is not re-added silently: the response shows its current state.
            _ = try await send(client, .delete, "\(path)/items/\(ids[0])")
            let again = try await send(client, .post, path + "/items", #"{"id":"\#(ids[0])","text":"x"}"#)
            #expect(again.status == 200)
            #expect(again.values("items").map { $0["deleted"] } == [.bool(true)])
            // In a batch, changes of missing items are skipped and reported.
            let gone = UniqueID.random()
            let many = #"{"items":[{"id":"\#(ids[1])","checked":true},{"id":"\#(gone)","checked":true}]}"#
            let changed = try await send(client, .patch, path + "/items", many)
            #expect(changed.json["missing"]?.text == "[\"\(gone)\"]")
            #expect(changed.values("items").count == 1)
            #expect(try await send(client, .patch, "\(path)/items/\(gone)", #"{"checked":true}"#).status == 404)
            // Eight concurrent requests for the same list create one.
            _ = try await send(client, .put, "/v1/me/settings/x", #"{"value":1}"#)
            for _ in 0..<6 {
                let own = UniqueID.random()
                let made = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                    for number in 0..<8 {
                        group.addTask {
                            let answer = try await send(
                                client,
                                .post,
                                Self.lists,
                                #"{"id":"\#(own)","name":"own\#(number)"}"#
                            )
                            if number % 2 == 0 {
                                _ = try await send(client, .post, Self.lists + "/\(own)/items", #"{"text":"i"}"#)
                            }
                            return (answer.status, answer.text("name"))
                        }
                    }
                    return try await group.reduce(into: [(Int, String)]()) { $0.append($1) }
                }
                #expect(made.count { $0.0 == 201 } == 1, "\(made)")
                #expect(made.count { $0.0 == 200 } == 7, "\(made)")
                let first = made.first { $0.0 == 201 }?.1
                #expect(made.allSatisfy { $0.1 == first })
                let found = try await send(client, .get, Self.lists + "/\(own)")
                #expect(found.text("name") == first)
                #expect(found.text("item_count") == "4")
            }
            let keyed = try await send(client, .post, Self.lists, #"{"name":"K"}"#, as: "ann", ["Idempotency-Key": "k"])
            let repeated = try await send(
                client,
                .post,
                Self.lists,
                #"{"name":"K"}"#,
                as: "ann",
                ["Idempotency-Key": "k"]
            )
            #expect(repeated.headers[.location] == keyed.headers[.location])
            #expect(repeated.json == keyed.json)
        }
    }

    @Test("A list sorted by price announces a change of order when prices change")
    func priceChangesReorderLists() async throws {
        try await withServer { client, catalog in
            let path = try await list(client, "Cheap first")
            _ = try await send(client, .patch, path, #"{"sort":"price"}"#)
            let body = #"{"items":[{"store":"s","sku":"pear"},{"store":"s","sku":"apple"}]}"#
            let ids = try await send(client, .post, path + "/items", body).texts("items", "id")
            // Prices change without the list: the order that a device shows may be stale.
            _ = try await catalog.prices.setPrices(
                [PriceChange(sku: SKU("pear")!, priceMinor: 1)],
                in: CatalogKey("s")!
            )
            let changed = try await send(client, .patch, "\(path)/items/\(ids[0])", #"{"note":"ripe"}"#)
            #expect(changed.json["diff"]?["mode"] == .string("order"))
            #expect(changed.json["diff"]?["ids"]?.text == "[\"\(ids[0])\",\"\(ids[1])\"]")
        }
    }

    @Test("Erasing and merging users is safe during concurrent writes")
    func erasingAndMergingAreConcurrencySafe()
        async throws
    {
        try await withServer { client, _ in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for worker in 0..<6 {
                    group.addTask {
                        var worst = 0
                        for number in 0..<12 {
                            var status = 503
                            // A busy server asks for a retry.
                            for _ in 0..<20 where status == 503 {
                                let answer =
                                    switch (worker + number) % 4 {
                                    case 0: try await send(client, .delete, "/v1/me")
                                    case 1:
                                        try await send(client, .put, "/v1/me/settings/k\(worker)", #"{"value":1}"#)
                                    default: try await send(client, .post, Self.lists, #"{"name":"q"}"#)
                                    }
                                status = answer.status
                            }
                            worst = max(worst, status)
                        }
                        return worst
                    }
                }
                for try await worst in group { #expect(worst < 500) }
            }
            // Both users have a list with the same id: both lists are kept.
            let (id, guest) = (UniqueID.random(), try await TestAPI.token("guest:7"))
            for user in ["ann", "guest:7"] {
                let made = try await send(client, .post, Self.lists, #"{"id":"\#(id)","name":"\#(user)"}"#, as: user)
                #expect(made.status == 201)
                #expect(
                    try await send(client, .post, Self.lists + "/\(id)/items", #"{"text":"of \#(user)"}"#, as: user)
                        .status == 201
                )
            }
            let merged = try await send(client, .post, "/v1/me/merge", "{\"guest_token\":\"\(guest)\"}")
            #expect(merged.status == 200, "\(merged.json.text)")
            let lists = try await send(client, .get, Self.lists)
            #expect(Set(lists.texts("lists", "name")).isSuperset(of: ["ann", "guest:7"]))
            #expect(try await shown(client, Self.lists + "/\(id)") == ["of ann"])
            #expect(try await send(client, .get, "/v1/me/export", as: "guest:7").values("lists").isEmpty)
            // A member of a list whose owner was erased can be merged too.
            let path = try await list(client, "Eve's", as: "eve")
            let share = try await send(client, .post, path + "/shares", nil, as: "eve")
            let token = "{\"token\":\"\(share.text("token"))\"}"
            #expect(try await send(client, .post, Self.lists + "/join", token, as: "guest:8").status == 200)
            #expect(try await send(client, .delete, "/v1/me", as: "eve").status == 204)
            let other = try await TestAPI.token("guest:8")
            #expect(try await send(client, .post, "/v1/me/merge", "{\"guest_token\":\"\(other)\"}").status == 200)
        }
    }

    /// Adds items, up to 500 at once, which no request may do.
    private func fill(_ path: String, _ count: Int, of user: UserID, _ catalog: PostgresCatalog) async throws {
        let id = try #require(UniqueID(path.dropFirst(Self.lists.utf8.count + 1)))
        for start in stride(from: 0, to: count, by: 500) {
            let items = (start..<min(start + 500, count)).map { NewListItem(text: "\($0)") }
            _ = try await catalog.lists.editList(id, of: user, .add(items), expected: nil, once: nil)
        }
    }

    @Test("The numbers of lists and items are limited")
    func limitsListsAndItems() async throws {
        try await withServer { client, catalog in
            let path = try await list(client, "Long")
            let one = #"{"text":"x"}"#
            try await fill(path, UserList.itemLimit - UserList.addLimit, of: UserID("ann")!, catalog)
            let last = "{\"items\":[" + Array(repeating: one, count: UserList.addLimit).joined(separator: ",") + "]}"
            #expect(try await send(client, .post, path + "/items", last).status == 201)
            let full = try await send(client, .post, path + "/items", one)
            #expect(full.status == 422)
            #expect(full.text("detail").contains("2000"))
            let shown = try await send(client, .get, path + "/items")
            #expect(shown.values("items").count == UserList.itemLimit)
            let first = shown.texts("items", "id")[0]
            _ = try await send(client, .delete, "\(path)/items/\(first)")
            #expect(try await send(client, .post, path + "/items", one).status == 201)
            #expect(try await send(client, .patch, "\(path)/items/\(first)", #"{"deleted":false}"#).status == 422)
            let many =
                "{\"items\":[" + Array(repeating: one, count: UserList.addLimit + 1).joined(separator: ",") + "]}"
            #expect(try await send(client, .post, path + "/items", many).status == 422)
            let bob = UserID("bob")!
            for number in 0..<UserList.countLimit {
                _ = try await catalog.lists.createList(NewList(name: "\(number)"), of: bob, once: nil)
            }
            let surplus = try await send(client, .post, Self.lists, #"{"name":"x"}"#, as: "bob")
            #expect(surplus.status == 422)
            #expect(surplus.text("detail").contains("500"))
            #expect(try await send(client, .get, Self.lists, as: "bob").values("lists").count == UserList.countLimit)
        }
    }

    @Test("The items of all lists of a user are limited, and a guest's lists count when they are merged")
    func limitsItemsOfAllLists() async throws {
        try await withServer { client, catalog in
            let (ann, guest) = (UserID("ann")!, UserID("guest:9")!)
            let lists = UserList.allItemsLimit / UserList.itemLimit
            for number in 0..<lists {
                let path = try await list(client, "\(number)")
                try await fill(path, UserList.itemLimit - (number < lists - 1 ? 0 : 1), of: ann, catalog)
            }
            let path = try await list(client, "Surplus")
            _ = try await item(client, path, "last")
            let surplus = try await send(client, .post, path + "/items", #"{"items":[{"text":"x"}]}"#)
            #expect(surplus.status == 422)
            #expect(surplus.text("detail").contains("20000 items in total"))
            // The guest's items would exceed the limit.
            let theirs = try await list(client, "Guest's", as: guest.text)
            _ = try await item(client, theirs, "a", as: guest.text)
            let token = try await TestAPI.token(guest.text)
            let merged = try await send(client, .post, "/v1/me/merge", "{\"guest_token\":\"\(token)\"}", as: ann.text)
            #expect(merged.status == 422, "\(merged.json.text)")
            // Nothing was moved.
            #expect(try await send(client, .get, theirs, as: guest.text).text("role") == "owner")
        }
    }

    @Test("Merging a guest moves the guest's lists, and erasing the account deletes them")
    func mergesAndErasesLists() async throws {
        try await withServer { client, _ in
            let path = try await list(client, "Guest's", as: "guest:1")
            _ = try await item(client, path, "a", as: "guest:1")
            let shared = try await send(client, .post, path + "/shares", #"{"role":"editor"}"#, as: "guest:1")
            let token = "{\"token\":\"\(shared.text("token"))\"}"
            #expect(try await send(client, .post, Self.lists + "/join", token, as: "bob").status == 200)
            let others = try await list(client, "Bob's", as: "bob")
            let invitation = try await send(client, .post, others + "/shares", nil, as: "bob")
            let second = "{\"token\":\"\(invitation.text("token"))\"}"
            #expect(try await send(client, .post, Self.lists + "/join", second, as: "guest:1").status == 200)
            let guest = try await TestAPI.token("guest:1")
            let merged = try await send(client, .post, "/v1/me/merge", "{\"guest_token\":\"\(guest)\"}")
            #expect(merged.status == 200, "\(merged.json.text)")
            #expect(try await Set(send(client, .get, Self.lists).texts("lists", "name")) == ["Guest's", "Bob's"])
            #expect(try await shown(client, path) == ["a"])
            #expect(try await send(client, .get, path).text("role") == "owner")
            #expect(try await send(client, .get, path, as: "guest:1").status == 404)
            // Members keep their access, and the share remains valid.
            #expect(try await send(client, .get, path, as: "bob").text("role") == "editor")
            #expect(try await send(client, .delete, "\(path)/shares/\(shared.text("id"))").status == 204)
            #expect(try await send(client, .get, path, as: "bob").status == 404)
            #expect(
                try await send(client, .delete, "\(others)/shares/\(invitation.text("id"))", as: "bob").status == 204
            )
            #expect(try await send(client, .get, others).status == 404)
            let export = try await send(client, .get, "/v1/me/export")
            // Except for the revoked share.
            #expect(export.values("lists").count == 1)
            #expect(export.json["lists"]?.text.contains("Guest's") == true)
            let own = try await send(client, .post, path + "/shares")
            #expect(
                try await send(client, .post, Self.lists + "/join", "{\"token\":\"\(own.text("token"))\"}", as: "bob")
                    .status == 200
            )
            #expect(try await send(client, .delete, "/v1/me").status == 204)
            #expect(try await send(client, .get, path, as: "bob").status == 404)
            #expect(try await send(client, .get, Self.lists, as: "bob").texts("lists", "name") == ["Bob's"])
            let left = try await send(client, .get, Self.lists + "?since=1", as: "bob").values("lists")
            #expect(left.contains { $0["deleted"] == .bool(true) })
            #expect(!left.contains { $0["name"] == .string("Guest's") })
            #expect(try await send(client, .get, Self.lists).values("lists").isEmpty)
        }
    }
}
