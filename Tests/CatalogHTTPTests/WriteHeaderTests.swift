import Catalog
import CatalogJSON
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import CatalogHTTP

/// The statuses and headers of writes, and that the arguments of each reach the storage.
@Suite(.timeLimit(.minutes(15))) struct WriteHeaderTests {
    private static let shelf = "/v1/stores/s/shelves/dairy"
    private static let json = "application/json"

    private func check(
        _ response: MemoryAPI.Response,
        _ status: Int,
        cache: String? = "no-store",
        tag: String? = nil,
        location: String? = nil,
        vary: String? = nil,
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(response.status == status, sourceLocation: sourceLocation)
        #expect(response.headers[.contentType] == (cache == nil ? nil : Self.json), sourceLocation: sourceLocation)
        #expect(response.headers[.cacheControl] == cache, sourceLocation: sourceLocation)
        #expect(response.headers[.eTag] == tag, sourceLocation: sourceLocation)
        #expect(response.headers[.location] == location, sourceLocation: sourceLocation)
        #expect(response.headers[.vary] == vary, sourceLocation: sourceLocation)
        #expect(response.body.isEmpty == (cache == nil), sourceLocation: sourceLocation)
    }

    @Test("A store, a shelf and a product are created with 201 and their address, and then replaced with 200")
    func catalogWrites() async throws {
        let api = try await MemoryAPI.withShelf()
        for (path, body) in [
            ("/v1/stores/t", #"{"title":"T","currency":"EUR"}"#), ("/v1/stores/s/shelves/new", #"{"title":"N"}"#),
            ("/v1/stores/s/products/new", #"{"name":"N"}"#),
        ] {
            let created = try await api.send(.put, path, body)
            let tag = try #require(try await api.send(.get, path).headers[.eTag])
            check(created, 201, cache: "no-cache", tag: tag, location: path)
            let replaced = try await api.send(.put, path, body)
            check(replaced, 200, cache: "no-cache", tag: try await api.send(.get, path).headers[.eTag])
        }
        for (path, body) in [
            ("/v1/stores/s/shelves/new", #"{"title":"M"}"#), ("/v1/stores/s/products/new", #"{"name":"M"}"#),
        ] {
            for type in ["application/merge-patch+json", "application/json"] {
                let patched = try await api.send(.patch, path, body, ["Content-Type": type])
                let read = try await api.send(.get, path)
                check(patched, 200, cache: "no-cache", tag: read.headers[.eTag])
                #expect(patched.body == read.body)
            }
            #expect(
                try await api.send(.put, path, body, ["Content-Type": "application/merge-patch+json"]).status == 415
            )
            check(try await api.send(.delete, path), 204, cache: nil)
        }
        check(try await api.send(.delete, "/v1/stores/t?confirm=t"), 204, cache: nil)
    }

    @Test("A store is deleted only with its key, and the error says what was sent")
    func confirmations() async throws {
        let api = try await MemoryAPI.withShelf()
        let long = String(repeating: "x", count: 65)
        for (query, found) in [
            ("", "missing"), ("?confirm=", "got “”"), ("?confirm=\(long)", "got “\(long.prefix(64))”"),
        ] {
            let response = try await api.send(.delete, "/v1/stores/s" + query)
            #expect(response.status == 422 && response.text("parameter") == "confirm")
            #expect(
                response.text("detail")
                    == "confirm must be the key of the store, “s” (\(found)): its products, shelves, orders and purchases are deleted"
            )
        }
        #expect(try await api.send(.get, "/v1/stores/s").status == 200)
    }

    @Test("A product is placed with 201, again with 204, whatever the type of an empty body")
    func placements() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = Self.shelf + "/products/new"
        _ = try await api.send(.put, "/v1/stores/s/products/new", #"{"name":"N"}"#)
        check(try await api.send(.put, path, "", ["Content-Type": "text/plain"]), 201, cache: nil)
        check(try await api.send(.put, path, "{}"), 204, cache: nil)
        for (body, status) in [("{", 400), (#"{"x":1}"#, 400), ("[]", 400)] {
            #expect(try await api.send(.put, path, body).status == status, "\(body)")
        }
        #expect(try await api.send(.get, "/v1/stores/s/products/new").texts("shelves") == ["dairy"])
        check(try await api.send(.delete, path), 204, cache: nil)
        #expect(try await api.send(.get, "/v1/stores/s/products/new").texts("shelves") == [])
    }

    @Test("An edit of an order returns the order's new tag, and its indexes only if they are wanted")
    func orders() async throws {
        let api = try await MemoryAPI.withShelf()
        let order = Self.shelf + "/order"
        for (method, path, body) in [
            (.post, "\(order)/moves", #"{"moves":[{"ids":["milk"],"place":"first"}]}"#),
            (.put, order, #"{"ids":["curd","milk","brie"]}"#), (.post, "\(order)/undo", ""),
            (.post, "/v1/stores/s/shelves/order/moves", #"{"moves":[{"ids":["dairy"],"place":"first"}]}"#),
        ] as [(HTTPRequest.Method, String, String)] {
            let edited = try await api.send(method, path, body)
            let version = try #require(edited.text("order_version"))
            check(edited, 200, tag: "\"order-\(version)\"")
        }
        let plain = try await api.send(.post, "\(order)/moves", #"{"moves":[{"ids":["brie"],"place":"last"}]}"#)
        #expect(plain.json["diff"]?["moves"]?.elements?.allSatisfy { $0["from"] == nil } == true)
        let indexed = try await api.send(
            .post,
            order + "/moves?indexes=true",
            #"{"moves":[{"ids":["brie"],"place":"first"}]}"#
        )
        #expect(indexed.json["diff"]?["moves"]?.elements?.contains { $0["from"] != nil } == true)
        let history = try await api.send(.get, order + "/changes")
        #expect(history.texts("changes", "subject").allSatisfy { $0 == "ann" })
    }

    @Test("A setting returns its revision as its tag, several return none, and a deletion nothing")
    func settings() async throws {
        let api = try await MemoryAPI.withShelf()
        for (path, body) in [
            ("/v1/me/settings/theme", #"{"value":"dark"}"#),
            ("/v1/me/stores/s/shelves/dairy/sort", #"{"sort":"name"}"#),
        ] {
            let written = try await api.send(.put, path, body)
            let revision = try #require(written.text("revision"))
            check(written, 200, cache: "private, no-cache", tag: "\"\(revision)\"", vary: "Authorization")
            #expect(written.body == (try await api.send(.get, path)).body)
            check(try await api.send(.delete, path), 204, cache: nil)
        }
        let many = #"{"settings":[{"key":"a","value":1,"modified_at":"2020-01-01T00:00:00Z"}]}"#
        check(try await api.send(.put, "/v1/me/settings", many), 200)
    }

    @Test("A remembered sort has a transition only if it is asked for, from the sort that applied before")
    func transitions() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = "/v1/me/stores/s/shelves/dairy/sort"
        #expect(try await api.send(.put, path, #"{"sort":"name"}"#).json["transition"] == nil)
        let next = try await api.send(.put, path, #"{"sort":"-price","transition_limit":2}"#)
        let transition = try #require(next.json["transition"])
        #expect(transition["from_sort"] == .string("name") && transition["to_sort"] == .string("-price"))
        // By name: brie curd milk, but curd is sold out. By price, descending: brie milk.
        #expect(transition["old_count"] == .number("2") && transition["new_count"] == .number("2"))
        // Without its own sort, the shelf shows the one for the whole store.
        #expect(try await api.send(.delete, path).status == 204)
        _ = try await api.send(.put, "/v1/me/settings/stores/s/sort", #"{"value":"price"}"#)
        let third = try await api.send(.put, path, #"{"sort":"name","transition_limit":2}"#)
        #expect(third.json["transition"]?["from_sort"] == .string("price"))
        let brands = (0..<9).map { "\"\($0)\(String(repeating: "x", count: 480))\"" }.joined(separator: ",")
        let filter = try await api.send(.put, path, #"{"sort":"name","filter":{"brand":[\#(brands)]}}"#)
        #expect(filter.status == 400 && filter.text("parameter") == "filter.brand")
    }

    @Test("A list is created with 201 and its address, and found again with 200; edits answer its tag")
    func lists() async throws {
        let api = try await MemoryAPI.withShelf()
        let id = "018f0000-0000-7000-8000-000000000000"
        let path = "/v1/me/lists/\(id)"
        let body = #"{"id":"\#(id)","name":"a"}"#
        func tag() async throws -> String { try #require(try await api.send(.get, path).headers[.eTag]) }
        let made = try await api.send(.post, "/v1/me/lists", body)
        check(made, 201, tag: try await tag(), location: path)
        check(try await api.send(.post, "/v1/me/lists", body), 200, tag: try await tag())
        let item = "018f0000-0000-7000-8000-000000000001"
        let items = #"{"items":[{"id":"\#(item)","text":"Bread"}]}"#
        check(try await api.send(.post, "\(path)/items", items), 201, tag: try await tag())
        check(try await api.send(.post, "\(path)/items", items), 200, tag: try await tag())
        let change = #"{"items":[{"id":"\#(item)","checked":true}]}"#
        for (method, path, body) in [
            (.patch, path, #"{"name":"b"}"#), (.patch, "\(path)/items", change),
            (.patch, "\(path)/items/\(item)", #"{"note":"n"}"#),
            (.post, "\(path)/order/moves", #"{"moves":[{"ids":["\#(item)"],"place":"first"}]}"#),
            (.delete, "\(path)/items/\(item)", nil),
        ] as [(HTTPRequest.Method, String, String?)] {
            check(try await api.send(method, path, body), 200, tag: try await tag())
        }
        check(
            try await api.send(.post, "/v1/me/lists/order/moves", #"{"moves":[{"ids":["\#(id)"],"place":"first"}]}"#),
            200
        )
        let share = try await api.send(.post, "\(path)/shares", "")
        check(share, 201)
        let token = try #require(share.text("token"))
        let joined = try await api.send(.post, "/v1/me/lists/join", #"{"token":"\#(token)"}"#, as: "bob")
        check(joined, 200, tag: try await api.send(.get, path, as: "bob").headers[.eTag])
        let shareID = try #require(share.text("id"))
        check(try await api.send(.delete, path + "/shares/\(shareID)"), 204, cache: nil)
        check(try await api.send(.delete, path), 204, cache: nil)
    }

    @Test("A PATCH takes no idempotency key, and reads a merge patch; a POST reads JSON only")
    func keysAndTypes() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).headers[.location])
        let headers = ["Idempotency-Key": "k", "Content-Type": "application/merge-patch+json"]
        #expect(try await api.send(.patch, path, #"{"name":"b"}"#, headers).status == 200)
        #expect(try await api.send(.patch, path, #"{"name":"c"}"#, headers).status == 200)
        #expect(try await api.send(.get, path).text("name") == "c")
        let post = try await api.send(.post, "\(path)/items", #"{"text":"a"}"#, headers)
        #expect(post.status == 415 && post.texts("allowed") == ["application/json"])
        let patch = try await api.send(.patch, path, "{}", ["Content-Type": "text/plain"])
        #expect(patch.status == 415)
        #expect(patch.texts("allowed") == ["application/merge-patch+json", "application/json"])
        for (path, body) in [("/v1/me/lists", ""), ("/v1/stores/s/prices", ""), ("/v1/me/lists/join", "")] {
            let response = try await api.send(.post, path, body)
            #expect(response.status == 400 && response.text("detail")?.hasPrefix("invalid JSON at byte 0") == true)
        }
    }

    @Test("A list is joined with a token of up to 64 bytes, and a malformed one is as unknown as any other")
    func joins() async throws {
        let api = await MemoryAPI()
        let missing = try await api.send(.post, "/v1/me/lists/join", "{}")
        #expect(missing.status == 422 && missing.text("parameter") == "token")
        #expect(missing.text("detail") == "token is required; ask the user who shares the list for it")
        for token in ["!", "AAAA", String(repeating: "A", count: 64)] {
            #expect(try await api.send(.post, "/v1/me/lists/join", #"{"token":"\#(token)"}"#).status == 404)
        }
        let long = String(repeating: "A", count: 65)
        let refused = try await api.send(.post, "/v1/me/lists/join", #"{"token":"\#(long)"}"#)
        #expect([400, 422].contains(refused.status))
        #expect(try await api.send(.post, "/v1/me/lists/join", #"{"token":"AAAA","x":1}"#).status == 400)
    }

    @Test("Purchases are accepted with 202, prices set with 200, and neither answer is cached")
    func bulkWrites() async throws {
        let api = try await MemoryAPI.withShelf()
        check(try await api.send(.post, "/v1/stores/s/prices", #"[{"sku":"milk","price_minor":1}]"#), 200)
        #expect(try await api.send(.get, "/v1/stores/s/products/milk").text("price_minor") == "1")
        let event = #"[{"event_id":"1","sku":"milk","quantity":1,"at":"2026-03-01T09:30:00Z"}]"#
        check(try await api.send(.post, "/v1/stores/s/purchases", event), 202)
    }

    @Test("A ticket is created with 201, a guest merged with 200, and an account erased with 204")
    func accounts() async throws {
        let api = try await MemoryAPI.withShelf()
        let ticket = try await api.send(.post, "/v1/me/tickets", "")
        check(ticket, 201)
        #expect(ticket.text("ticket").flatMap { Base64URL.decode($0) }?.count == 32)
        check(try await api.send(.post, "/v1/me/tickets", "{}"), 201)
        #expect(try await api.send(.post, "/v1/me/tickets", #"{"x":1}"#).status == 400)
        let guest = api.token(of: "guest:1")
        check(try await api.send(.post, "/v1/me/merge", #"{"guest_token":"\#(guest)"}"#), 200)
        for (user, body, status, detail) in [
            ("ann", "{}", 422, "guest_token is required"),
            ("ann", #"{"guest_token":"\#(api.token(of: "bob"))"}"#, 422, "guest_token must belong to a guest"),
            ("ann", #"{"guest_token":"x"}"#, 422, "guest_token: the token is not a JSON Web Token"),
            (
                "guest:2", #"{"guest_token":"\#(guest)"}"#, 403,
                "a guest cannot merge another guest; sign in first"
            ),
        ] {
            let response = try await api.send(.post, "/v1/me/merge", body, as: user)
            #expect(response.status == status && response.text("detail") == detail)
            #expect(response.text("parameter") == (status == 422 ? "guest_token" : nil))
        }
        check(try await api.send(.delete, "/v1/me"), 204, cache: nil)
    }

    @Test("An import profile is created with 201, replaced with 200 and deleted with 204; a built-in one stays")
    func profiles() async throws {
        let api = await MemoryAPI()
        let path = "/v1/import-profiles/supplier"
        let body = #"{"columns":{"sku":"Code"}}"#
        let created = try await api.send(.put, path, body)
        let read = try await api.send(.get, path)
        check(created, 201, cache: "no-cache", tag: read.headers[.eTag], location: path)
        #expect(created.body == read.body)
        check(try await api.send(.put, path, body), 200, cache: "no-cache", tag: read.headers[.eTag])
        let list = try await api.send(.get, "/v1/import-profiles")
        let builtIn = ImportProfile.builtIn.map(\.name)
        #expect(list.texts("profiles", "name") == builtIn + ["supplier"])
        #expect(list.texts("profiles", "built_in") == builtIn.map { _ in "true" } + ["false"])
        let name = try #require(builtIn.first)
        let refused = try await api.send(.delete, "/v1/import-profiles/\(name)")
        #expect(refused.status == 409 && refused.text("detail") == "import profile “\(name)” is built in")
        #expect(try await api.send(.put, "/v1/import-profiles/\(name)", body).status == 409)
        check(try await api.send(.delete, path), 204, cache: nil)
        #expect(try await api.send(.get, path).status == 404)
        #expect(try await api.send(.delete, path).status == 404)
    }

    @Test(
        "An attribute is declared with 201, changed with 200, and deleted with 204",
        arguments: ["/v1", "/v1/stores/s"]
    )
    func attributes(_ owner: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let path = owner + "/attributes/rating"
        let body = #"{"type":"number","decimals":1,"title":{"en":"Rating"}}"#
        let created = try await api.send(.put, path, body)
        let read = try await api.send(.get, path)
        check(created, 201, cache: "no-cache", tag: read.headers[.eTag], location: path)
        #expect(created.text("unreadable_products") == "0" && created.text("decimals") == "1")
        #expect(read.json["unreadable_products"] == nil && read.headers[.eTag] != nil)
        // A client sends back what it has read. The type is the same, so nothing is counted.
        let same = try await api.send(.put, path, String(decoding: created.body, as: UTF8.self))
        check(same, 200, cache: "no-cache", tag: read.headers[.eTag])
        #expect(same.json["unreadable_products"] == .null)
        #expect(try await api.send(.get, path).headers[.eTag] == read.headers[.eTag])
        let value = #"{"name":"Milk","attributes":{"rating":4.5}}"#
        #expect(try await api.send(.put, "/v1/stores/s/products/milk", value).status == 200)
        let retyped = try await api.send(.put, path, #"{"type":"boolean"}"#)
        let tag = try await api.send(.get, path).headers[.eTag]
        check(retyped, 200, cache: "no-cache", tag: tag)
        #expect(retyped.text("unreadable_products") == "1" && tag != read.headers[.eTag])
        #expect(try await api.send(.get, owner + "/attributes").texts("attributes", "name") == ["rating"])
        check(try await api.send(.delete, path), 204, cache: nil)
        #expect(try await api.send(.get, path).status == 404)
        #expect(try await api.send(.delete, path).status == 404)
    }

    @Test(
        "If-Match prevents a change of an attribute that is not as expected",
        arguments: ["/v1", "/v1/stores/s"]
    )
    func expectedAttributes(_ owner: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let path = owner + "/attributes/rating"
        func put(_ type: String, _ tag: String) async throws -> MemoryAPI.Response {
            try await api.send(.put, path, #"{"type":"\#(type)"}"#, ["If-Match": tag])
        }
        let missing = try await put("text", "*")
        #expect(missing.status == 412 && missing.text("type") == "/problems/stale")
        #expect(missing.headers[.eTag] == nil)
        #expect(try await api.send(.get, path).status == 404)
        let first = try #require(try await api.send(.put, path, #"{"type":"text"}"#).headers[.eTag])
        let stale = try await put("date", #""x""#)
        #expect(stale.status == 412 && stale.headers[.eTag] == first)
        let second = try #require(try await put("number", first).headers[.eTag])
        #expect(second != first)
        #expect(try await put("date", first).status == 412)
        let kept = try await api.send(.delete, path, nil, ["If-Match": first])
        #expect(kept.status == 412 && kept.headers[.eTag] == second)
        #expect(try await api.send(.get, path).text("type") == "number")
        for tag in ["W/" + second, "x", "\"\""] { #expect(try await put("date", tag).status == 400) }
        #expect(try await put("number", "*").status == 200)
        check(try await api.send(.delete, path, nil, ["If-Match": #""x", \#(second)"#]), 204, cache: nil)
    }

    @Test(
        "An attribute that something uses is deleted, or gets another type, only if its name confirms it",
        arguments: ["/v1", "/v1/stores/s"]
    )
    func usedAttributes(_ owner: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let path = owner + "/attributes/rating"
        let profile = try await api.send(.put, "/v1/import-profiles/supplier", #"{"attributes":{"rating":"Stars"}}"#)
        #expect(profile.status == 201)
        #expect(try await api.send(.put, path, #"{"type":"number"}"#).status == 201)
        #expect(try await api.send(.put, path, #"{"type":"number","decimals":1}"#).status == 200)
        let text = #"{"type":"text"}"#
        for response in [try await api.send(.put, path, text), try await api.send(.delete, path)] {
            #expect(response.status == 409 && response.text("type") == "/problems/in-use")
            #expect(response.json["uses"]?["profiles"] == .array([.string("supplier")]))
            #expect(response.json["uses"]?["settings"] == .number("0"))
            #expect(response.text("detail")?.hasSuffix("with confirm=rating; these uses are then ignored") == true)
        }
        for query in ["?confirm=", "?confirm=true", "?confirm=Rating"] {
            for response in [try await api.send(.put, path + query, text), try await api.send(.delete, path + query)] {
                #expect(response.status == 422 && response.text("parameter") == "confirm", "\(query)")
            }
        }
        #expect(try await api.send(.get, path).text("type") == "number")
        #expect(try await api.send(.put, path + "?confirm=rating", text).status == 200)
        #expect(try await api.send(.delete, path + "?confirm=rating").status == 204)
        // The confirmation of what needs none does no harm.
        #expect(try await api.send(.put, path + "?confirm=rating", text).status == 201)
    }

    @Test("The tag of a store's attribute changes with the deployment's declaration")
    func tagsOfStores() async throws {
        let api = try await MemoryAPI.withShelf()
        let (shared, own) = ("/v1/attributes/rating", "/v1/stores/s/attributes/rating")
        _ = try await api.send(.put, shared, #"{"type":"text"}"#)
        let tag = try #require(try await api.send(.put, own, #"{"title":{"en":"Stars"}}"#).headers[.eTag])
        #expect(try await api.send(.get, own).headers[.eTag] == tag)
        _ = try await api.send(.put, shared, #"{"type":"text","title":{"hr":"Ocjena"}}"#)
        #expect(try await api.send(.delete, own, nil, ["If-Match": tag]).status == 412)
    }

    @Test("Synonyms are set with 201, replaced with 200, and deleted with 204", arguments: ["/v1", "/v1/stores/s"])
    func synonyms(_ owner: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let path = owner + "/synonyms"
        let body = #"{"synonyms":[["pop","soda"]],"one_way":[]}"#
        #expect(try await api.send(.get, path).status == 404)
        let created = try await api.send(.put, path, body)
        check(created, 201, cache: "no-cache", tag: created.headers[.eTag], location: path)
        let read = try await api.send(.get, path)
        #expect(String(decoding: read.body, as: UTF8.self) == body && read.headers[.eTag] == created.headers[.eTag])
        let tag = try #require(read.headers[.eTag])
        let replaced = try await api.send(.put, path, "{}", ["If-Match": tag])
        check(replaced, 200, cache: "no-cache", tag: replaced.headers[.eTag])
        #expect(replaced.headers[.eTag] != tag)
        let stale = try await api.send(.put, path, body, ["If-Match": tag])
        #expect(stale.status == 412 && stale.headers[.eTag] == replaced.headers[.eTag])
        #expect(try await api.send(.delete, path, nil, ["If-Match": tag]).status == 412)
        for (invalid, status) in [("[]", 400), (#"{"a":1}"#, 400), (#"{"synonyms":[["a"]]}"#, 422)] {
            #expect(try await api.send(.put, path, invalid).status == status, "\(invalid)")
        }
        check(try await api.send(.delete, path), 204, cache: nil)
        #expect(try await api.send(.delete, path).status == 404)
        #expect(try await api.send(.get, "/v1/stores/none/synonyms").status == 404)
    }

    @Test("A value of another type than declared is 422 with the field, also in a PATCH")
    func attributeValues() async throws {
        let api = try await MemoryAPI.withShelf()
        let declaration = #"{"type":"enum","values":[{"key":"a"},{"key":"b"}]}"#
        #expect(try await api.send(.put, "/v1/attributes/score", declaration).status == 201)
        let product = "/v1/stores/s/products/milk"
        for (method, body) in [
            (HTTPRequest.Method.put, #"{"name":"Milk","attributes":{"score":"c"}}"#),
            (.patch, #"{"attributes":{"score":1}}"#),
        ] {
            let response = try await api.send(method, product, body)
            #expect(response.status == 422 && response.text("parameter") == "attributes.score")
            #expect(response.text("detail")?.contains("a, b") == true)
        }
        #expect(try await api.send(.patch, product, #"{"attributes":{"score":"b","other":1}}"#).status == 200)
        #expect(try await api.send(.patch, product, #"{"attributes":{"score":null}}"#).status == 200)
    }

    @Test("Invalid and reserved names, other types and unknown stores are refused")
    func refusedAttributes() async throws {
        let api = try await MemoryAPI.withShelf()
        let text = #"{"type":"text"}"#
        for (path, body, status) in [
            ("/v1/attributes/Rating", text, 400), ("/v1/attributes/price", text, 422),
            ("/v1/attributes/rating_min", text, 422), ("/v1/attributes/rating", "{}", 422),
            ("/v1/attributes/rating", #"{"type":"text","size":1}"#, 400),
            ("/v1/stores/none/attributes/rating", text, 404), ("/v1/attributes/rating", text, 201),
            ("/v1/stores/s/attributes/rating", #"{"type":"number"}"#, 409),
            ("/v1/stores/s/attributes/rating", #"{"title":{"en":"Stars"}}"#, 201),
        ] {
            #expect(try await api.send(.put, path, body).status == status, "\(path) \(body)")
        }
        #expect(try await api.send(.get, "/v1/attributes/rating").json["title"] == .object([]))
        let own = try await api.send(.get, "/v1/stores/s/attributes/rating")
        #expect(own.json["title"]?["en"] == .string("Stars") && own.text("declared_by") == "deployment")
        #expect(try await api.send(.get, "/v1/attributes/a-b").status == 400)
        #expect(try await api.send(.get, "/v1/stores/none/attributes").status == 404)
    }

    @Test("The names of all query parameters are reserved, so that filters by attributes can have their names")
    func reservedParameters() async {
        let names = Set(await MemoryAPI().api.table.endpoints.flatMap { $0.queryNames ?? [] })
        #expect(names.count > 40)
        for name in names {
            #expect(throws: CatalogError.self, "\(name)") { try AttributeName(name)!.checkAvailable() }
        }
    }

    @Test("The names of all properties in requests and responses are reserved")
    func reservedProperties() throws {
        func names(_ value: JSONValue) -> Set<String> {
            switch value {
            case .array(let elements): return elements.reduce(into: []) { $0.formUnion(names($1)) }
            case .object(let members):
                return members.reduce(into: []) { found, member in
                    if ["example", "examples"].contains(member.name) { return }
                    found.formUnion(names(member.value))
                    if member.name == "properties", case .object(let properties) = member.value {
                        found.formUnion(properties.map(\.name))
                    }
                }
            default: return []
            }
        }
        let found = names(try JSONReader.parse(OpenAPI.document))
        #expect(found.count > 200)
        for name in found.compactMap({ AttributeName($0) }) {
            #expect(throws: CatalogError.self, "add \(name) to AttributeName.words") { try name.checkAvailable() }
        }
    }

    // MARK: - Diffs with a key

    @Test("A repeated diff of a list returns the first response in its format, and a long one is computed again")
    func recordedDiffs() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = Self.shelf + "/order/diff"
        let short = #"{"from":["milk"],"to_sort":"name"}"#
        let headers = ["Idempotency-Key": "a", "Accept": "application/json-patch+json"]
        let first = try await api.send(.post, path, short, headers)
        #expect(first.status == 200 && first.headers[.contentType] == "application/json-patch+json")
        _ = try await api.send(.patch, "/v1/stores/s/products/brie", #"{"name":"Zebra"}"#)
        let again = try await api.send(.post, path, short, ["Idempotency-Key": "a"])
        #expect(again.body == first.body)
        check(again, 200, ofType: "application/json-patch+json")
        #expect(try await api.send(.post, path, #"{"from":["curd"]}"#, headers).status == 422)
        // 16 KiB of deletes are not recorded, but the key is.
        let ids = (0..<2000).map { "\"gone-\($0)\"" }.joined(separator: ",")
        let long = #"{"from":[\#(ids)],"to_sort":"name"}"#
        let before = try await api.send(.post, path, long, ["Idempotency-Key": "b"])
        #expect(before.status == 200 && before.body.count > 16 << 10)
        _ = try await api.send(.patch, "/v1/stores/s/products/brie", #"{"name":"Brie"}"#)
        let after = try await api.send(.post, path, long, ["Idempotency-Key": "b"])
        #expect(after.status == 200 && after.body != before.body)
        #expect(try await api.send(.post, path, short, ["Idempotency-Key": "b"]).status == 422)
    }

    private func check(_ response: MemoryAPI.Response, _ status: Int, ofType type: String) {
        #expect(response.status == status)
        #expect(response.headers[.contentType] == type && response.headers[.cacheControl] == "no-store")
    }

    @Test("A repeated diff of two lists is computed again in the format that the repeat accepts")
    func repeatedListDiffs() async throws {
        let api = await MemoryAPI()
        let body = #"{"from":["a","b"],"to":["b","a"]}"#
        let first = try await api.send(.post, "/v1/order/diff", body, ["Idempotency-Key": "a"])
        let again = try await api.send(
            .post,
            "/v1/order/diff",
            body,
            ["Idempotency-Key": "a", "Accept": "application/vnd.aisle.diff"]
        )
        #expect(first.status == 200 && first.headers[.contentType] == "application/json")
        #expect(again.status == 200 && again.headers[.contentType] == "application/vnd.aisle.diff")
        let other = try await api.send(.post, "/v1/order/diff", #"{"from":[],"to":[]}"#, ["Idempotency-Key": "a"])
        #expect(other.status == 422 && other.text("type") == "/problems/idempotency-key-reused")
    }
}
