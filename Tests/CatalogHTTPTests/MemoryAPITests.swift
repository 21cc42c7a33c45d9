import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import HTTPTypes
import Testing

/// Calls each endpoint once on the in-memory catalog: statuses, bodies and headers that do not depend on storage.
@Suite(.timeLimit(.minutes(2))) struct MemoryAPITests {
    private static let shelf = "/v1/stores/s/shelves/dairy"

    @Test("Stores and shelves are created, read, patched, listed and deleted")
    func storesAndShelves() async throws {
        let api = try await MemoryAPI.withShelf()
        #expect(try await api.send(.get, "/v1/stores").texts("stores", "key") == ["s"])
        let store = try await api.send(.get, "/v1/stores/s")
        #expect(store.text("currency") == "EUR")
        #expect(try await api.send(.get, "/v1/stores/s", nil, ["If-None-Match": store.headers[.eTag]!]).status == 304)
        #expect(try await api.send(.put, "/v1/stores/s", #"{"title":"T","currency":"EUR"}"#).status == 200)
        let made = try await api.send(.put, "/v1/stores/s/shelves/bread", #"{"title":"Bread","parent":"dairy"}"#)
        #expect(made.status == 201)
        #expect(made.headers[.location] == "/v1/stores/s/shelves/bread")
        #expect(
            try await api.send(.get, "/v1/stores/s/shelves?sort=name").texts("shelves", "key") == ["bread", "dairy"]
        )
        let patched = try await api.send(.patch, "/v1/stores/s/shelves/bread", #"{"default_sort":"-price"}"#)
        #expect(patched.text("default_sort") == "-price")
        #expect(patched.text("title") == "Bread")
        let picker = try await api.send(.get, "/v1/stores/s/shelves/bread", nil, ["Accept-Language": "ru"])
        #expect(picker.texts("sort_options", "selected").count { $0 == "true" } == 1)
        #expect(picker.texts("filter_options", "filter").contains("brand"))
        let moved = try await api.send(
            .post,
            "/v1/stores/s/shelves/order/moves",
            #"{"moves":[{"ids":["bread"],"place":"first"}]}"#
        )
        #expect(moved.status == 200)
        #expect(try await api.send(.delete, "/v1/stores/s/shelves/bread").status == 204)
        #expect(try await api.send(.get, "/v1/stores/s/shelves/bread").status == 404)
    }

    @Test(
        "A target in absolute form must name the same host as the Host header",
        arguments: [
            ("http://localhost/v1/stores", 200), ("http://LOCALHOST/v1/stores", 200), ("/v1/stores", 200),
            ("http://other.example/v1/stores", 400), ("http://localhost:81/v1/stores", 400),
        ]
    )
    func absoluteTargetsNameTheHost(target: String, status: Int) async throws {
        let api = try await MemoryAPI.withShelf()
        #expect(try await api.send(.get, target).status == status)
    }

    @Test("A Link header that proxies would refuse is left out; the body has the cursor")
    func longLinksAreLeftOut() async throws {
        let api = try await MemoryAPI.withShelf()
        let short = try await api.send(.get, Self.shelf + "/products?limit=1&tag=none&tag=")
        #expect(short.headers[.init("Link")!] != nil)
        let tags = (0..<40).map { "&tag=\($0)" + String(repeating: "x", count: 60) }.joined()
        let long = try await api.send(.get, Self.shelf + "/products?limit=1&tag=\(tags)")
        #expect(long.status == 200)
        #expect(long.headers[.init("Link")!] == nil)
    }

    @Test("Products are created, read, patched, placed and deleted")
    func products() async throws {
        let api = try await MemoryAPI.withShelf()
        let milk = try await api.send(.get, "/v1/stores/s/products/milk")
        #expect(milk.text("name") == "Milk")
        #expect(milk.texts("shelves") == ["dairy"])
        #expect(milk.json["unit_price"]?["value"] == .string("1.29"))
        let patched = try await api.send(.patch, "/v1/stores/s/products/milk", #"{"price_minor":119,"brand":null}"#)
        #expect(patched.text("price_minor") == "119")
        #expect(patched.json["brand"] == .null)
        let named = try await api.send(.get, "/v1/stores/s/products?sku=milk&sku=none")
        #expect(named.texts("products", "sku") == ["milk"])
        #expect(named.texts("missing") == ["none"])
        let first = try await api.send(.get, "/v1/stores/s/products?limit=2")
        #expect(first.texts("products", "sku") == ["brie", "curd"])
        let cursor = try #require(first.json["page"]?["next_cursor"]).text.filter { $0 != "\"" }
        let second = try await api.send(.get, "/v1/stores/s/products?limit=2&cursor=\(cursor)")
        #expect(second.texts("products", "sku") == ["milk"])
        #expect(try await api.send(.delete, Self.shelf + "/products/milk").status == 204)
        #expect(try await api.send(.delete, "/v1/stores/s/products/milk").status == 204)
        #expect(try await api.send(.delete, "/v1/stores/s/products/milk").status == 404)
    }

    @Test("Products are found by their barcodes, with and without zeros before them")
    func barcodes() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = "/v1/stores/s/products"
        for (sku, barcode) in [
            ("upc", "036000291452"), ("ean", "0036000291452"), ("seed", "200000000001"), ("own", "X-1"),
        ] {
            let body = #"{"name":"N","barcode":"\#(barcode)"}"#
            #expect(try await api.send(.put, "\(path)/\(sku)", body).status == 201)
        }
        for barcode in ["036000291452", "0036000291452", "00036000291452"] {
            #expect(try await api.send(.get, "\(path)?barcode=\(barcode)").texts("products", "sku") == ["ean", "upc"])
        }
        #expect(try await api.send(.get, path + "?barcode=X-1").texts("products", "sku") == ["own"])
        let found = try await api.send(.get, path + "?barcode=00200000000001")
        #expect(found.texts("products", "sku") == ["seed"] && found.json["page"] == nil)
        #expect(found.headers[.eTag] != nil && found.headers[.cacheControl] == "public, no-cache")
        for barcode in ["4006381333931", "12", "x-1", "%07"] {
            let none = try await api.send(.get, "\(path)?barcode=\(barcode)")
            #expect(none.status == 200 && none.texts("products").isEmpty)
        }
        for (query, parameter, detail) in [
            ("barcode=", "barcode", "1 to 64 bytes"),
            ("barcode=\(String(repeating: "1", count: 65))", "barcode", "1 to 64 bytes"),
            ("barcode=96385074&barcode=96385074", "barcode", "once"),
            ("barcode=96385074&sku=seed", "sku", "leave out sku"),
            ("barcode=96385074&sort=name", "sort", "leave out sort"),
            ("barcode=96385074&limit=1", "limit", "leave out"),
        ] {
            let refused = try await api.send(.get, "\(path)?\(query)")
            #expect(refused.status == 400 && refused.text("parameter") == parameter, "\(query)")
            #expect(refused.text("detail")?.contains(detail) == true, "\(query)")
        }
        #expect(try await api.send(.get, "/v1/stores/none/products?barcode=96385074").status == 404)
    }

    @Test(
        "An invalid body is rejected with its field",
        arguments: [
            (#"{"price_minor":1}"#, "name"), (#"{"name":"x","price_minor":-1}"#, "price_minor"),
            (#"{"name":"x","price_minor":1.5}"#, "price_minor"), (#"{"name":"x","colour":"red"}"#, "colour"),
            (#"{"name":"x","size":{"amount":"1"}}"#, "size"), (#"{"name":"x","size":"1 kg"}"#, "size"),
            (#"{"name":"x","size":{"amount":"1","unit":"x"}}"#, "size"),
            (#"{"name":"x","tags":["a|b"]}"#, "tags"), (#"{"name":"x","image_url":"ftp://x"}"#, "image_url"),
            (#"{"name":"x","attributes":[1]}"#, "attributes"), (#"{"name":"x","currency":"USD"}"#, "currency"),
            (#"{"name":"x","regular_price_minor":5}"#, "regular_price_minor"),
            (#"{"name":"x","in_stock":1}"#, "in_stock"),
            (#"{"sku":"other","name":"x"}"#, "sku"),
        ]
    )
    func invalidProducts(_ body: String, _ field: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let response = try await api.send(.put, "/v1/stores/s/products/new", body)
        #expect([400, 422].contains(response.status))
        #expect(response.text("parameter") == field)
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(try await api.send(.get, "/v1/stores/s/products/new").status == 404)
    }

    @Test("Pages are sorted, filtered, faceted, paged and cached")
    func pages() async throws {
        let api = try await MemoryAPI.withShelf()
        let page = try await api.send(.get, Self.shelf + "/products?sort=price")
        #expect(page.texts("products", "sku") == ["milk", "brie", "curd"])
        #expect(page.headers[.cacheControl] == "public, no-cache")
        let again = try await api.send(.get, Self.shelf + "/products?sort=price")
        #expect(again.body == page.body)
        let tag = try #require(page.headers[.eTag])
        #expect(
            try await api.send(.get, Self.shelf + "/products?sort=price", nil, ["If-None-Match": tag]).status == 304
        )
        #expect(try await api.send(.head, Self.shelf + "/products?sort=price").body == [])
        let filtered = try await api.send(
            .get,
            Self.shelf + "/products?sort=price&in_stock=true&facets=brand,tag,price,in_stock"
        )
        #expect(filtered.texts("products", "sku") == ["milk", "brie"])
        #expect(filtered.json["facets"]?["total"] == .number("2"))
        let first = try await api.send(.get, Self.shelf + "/products?sort=-name&limit=1")
        let link = try #require(first.headers[.init("Link")!])
        let next = String(link.split(separator: ">")[0].dropFirst())
        #expect(try await api.send(.get, next).texts("products", "sku") == ["brie"])
        #expect(
            try await api.send(.get, Self.shelf + "/products?sort=cost").text("type") == "/problems/unknown-sort-key"
        )
        #expect(try await api.send(.get, Self.shelf + "/products?cursor=x").text("type") == "/problems/invalid-cursor")
        let order = try await api.send(.get, Self.shelf + "/order?sort=-price")
        #expect(order.texts("ids") == ["brie", "milk", "curd"])
    }

    @Test("The manual order is moved, set, copied from a sort, undone and listed; a repeat gets the same response")
    func manualOrder() async throws {
        let api = try await MemoryAPI.withShelf()
        let order = Self.shelf + "/order"
        #expect(try await api.send(.get, order + "?sort=position").texts("ids") == ["brie", "curd", "milk"])
        let body = #"{"moves":[{"ids":["milk"],"position":0}]}"#
        let moved = try await api.send(.post, order + "/moves?indexes=true", body, ["Idempotency-Key": "k"])
        #expect(moved.status == 200)
        #expect(moved.json["diff"]?["moves"]?.text.contains(#""id":"milk""#) == true)
        let repeated = try await api.send(.post, order + "/moves?indexes=true", body, ["Idempotency-Key": "k"])
        #expect(repeated.body == moved.body)
        #expect(try await api.send(.post, order + "/moves", body, ["Idempotency-Key": "k"]).status == 422)
        let stale = try await api.send(.post, order + "/moves", body, ["If-Match": "\"order-1\""])
        #expect(stale.status == 412)
        let copied = try await api.send(.put, order, #"{"from_sort":"-price"}"#)
        #expect(copied.status == 200)
        #expect(try await api.send(.get, order + "?sort=position").texts("ids") == ["brie", "milk", "curd"])
        #expect(try await api.send(.put, order, #"{"ids":["curd","milk","brie"]}"#).status == 200)
        #expect(try await api.send(.post, order + "/undo", "{}").status == 200)
        #expect(try await api.send(.get, order + "?sort=position").texts("ids") == ["brie", "milk", "curd"])
        #expect(try await api.send(.get, order + "/changes").texts("changes", "kind").count == 4)
    }

    @Test("Diffs between sorts, from a list and between lists have JSON, patch and wire formats")
    func diffs() async throws {
        let api = try await MemoryAPI.withShelf()
        let diff = Self.shelf + "/order/diff"
        let between = try await api.send(.get, diff + "?from_sort=price&to_sort=-price&limit=3")
        #expect(between.status == 200)
        let tag = try #require(between.headers[.eTag])
        let query = diff + "?from_sort=price&to_sort=-price&limit=3"
        #expect(try await api.send(.get, query, nil, ["If-None-Match": tag]).status == 304)
        for type in ["application/json-patch+json", "application/vnd.aisle.diff"] {
            let form = try await api.send(.get, query, nil, ["Accept": type])
            #expect(form.headers[.contentType] == type)
        }
        let body = #"{"from":["milk","gone"],"to_sort":"price","limit":3}"#
        let fromList = try await api.send(.post, diff, body, as: nil, ["Idempotency-Key": "d"])
        #expect(fromList.texts("deletes", "id") == ["gone"])
        #expect(try await api.send(.post, diff, body, as: nil, ["Idempotency-Key": "d"]).body == fromList.body)
        // Anonymous clients share no keys, because nothing is recorded for them.
        let other = try await api.send(.post, diff, #"{"from":["milk"]}"#, as: nil, ["Idempotency-Key": "d"])
        #expect(other.status == 200)
        #expect(try await api.send(.post, diff, body, as: nil, ["Idempotency-Key": ""]).status == 400)
        let lists = try await api.send(.post, "/v1/order/diff", #"{"from":["a","b"],"to":["b","a"]}"#, as: nil)
        #expect(lists.texts("moves", "id").count == 1)
        let whole = try await api.send(.post, "/v1/order/diff?mode=order", #"{"from":["a"],"to":["b"]}"#, as: nil)
        #expect(whole.texts("ids") == ["b"])
        #expect(try await api.send(.post, "/v1/order/diff", #"{"from":["a","a"],"to":[]}"#, as: nil).status == 422)
    }

    @Test("Settings are written, merged, read since a revision, checked against expectations and deleted")
    func settings() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = "/v1/me/settings/theme"
        let set = try await api.send(.put, path, #"{"value":"dark"}"#)
        #expect(set.status == 200)
        let tag = try #require(set.headers[.eTag])
        #expect(try await api.send(.get, path, nil, ["If-None-Match": tag]).status == 304)
        #expect(try await api.send(.put, path, #"{"value":"x"}"#, ["If-Match": "\"1\""]).status == 412)
        #expect(try await api.send(.put, path, #"{"value":"x"}"#, ["If-None-Match": "*"]).status == 412)
        #expect(try await api.send(.put, path, #"{"value":null}"#).status == 422)
        let device =
            #"{"settings":[{"key":"theme","value":"old","modified_at":"2020-01-01T00:00:00Z"},"#
            + #"{"key":"b","deleted":true,"modified_at":"2020-01-01T00:00:00Z"}]}"#
        let merged = try await api.send(.put, "/v1/me/settings", device)
        #expect(merged.texts("settings", "applied").first == "false")
        #expect(try await api.send(.get, "/v1/me/settings").texts("settings", "value") == ["dark"])
        #expect(try await api.send(.get, "/v1/me/settings?since=0").status == 200)
        #expect(try await api.send(.delete, path).status == 204)
        #expect(try await api.send(.delete, path).status == 404)
    }

    @Test("A remembered sort applies to the user's pages until it is deleted")
    func rememberedSorts() async throws {
        let api = try await MemoryAPI.withShelf()
        let path = "/v1/me/stores/s/shelves/dairy/sort"
        #expect(try await api.send(.get, path).status == 404)
        let body = #"{"sort":"-price","filter":{"in_stock":true},"transition_limit":3}"#
        let set = try await api.send(.put, path, body)
        #expect(set.text("sort") == "-price")
        #expect(set.json["transition"]?["mode"] == .string("moves"))
        let page = try await api.send(.get, Self.shelf + "/products")
        #expect(page.texts("products", "sku") == ["brie", "milk"])
        #expect(page.json["sort"]?["source"] == .string("user"))
        #expect(page.headers[.cacheControl] == "private, no-cache")
        #expect(
            try await api.send(.get, Self.shelf + "/products", as: nil).json["sort"]?["source"] == .string("system")
        )
        #expect(try await api.send(.get, Self.shelf + "/order").texts("ids") == ["brie", "milk"])
        #expect(try await api.send(.put, path, #"{"filter":{}}"#).status == 422)
        #expect(try await api.send(.put, path, #"{"sort":"price","transition_limit":0}"#).status == 422)
        #expect(try await api.send(.delete, path).status == 204)
    }

    @Test("Lists are created, edited, shared, joined, ordered and deleted")
    func lists() async throws {
        let api = try await MemoryAPI.withShelf()
        let made = try await api.send(.post, "/v1/me/lists", #"{"name":"Weekly"}"#, ["Idempotency-Key": "l"])
        #expect(made.status == 201)
        let path = try #require(made.headers[.location])
        let again = try await api.send(.post, "/v1/me/lists", #"{"name":"Weekly"}"#, ["Idempotency-Key": "l"])
        #expect(again.headers[.location] == path)
        let items = #"{"items":[{"text":"Bread","quantity":2},{"store":"s","sku":"milk","note":"cold"}]}"#
        let added = try await api.send(.post, path + "/items", items)
        #expect(added.status == 201)
        let ids = added.texts("items", "id")
        try #require(ids.count == 2)
        let checked = try await api.send(.patch, path + "/items/\(ids[0])", #"{"checked":true}"#)
        #expect(checked.status == 200)
        #expect(
            try await api.send(.patch, path + "/items", #"{"items":[{"id":"\#(ids[1])","quantity":"1.5"}]}"#).status
                == 200
        )
        #expect(try await api.send(.get, path + "/items").texts("items", "id") == [ids[1], ids[0]])
        #expect(try await api.send(.get, path + "/items?since=0&sort=name").status == 200)
        #expect(try await api.send(.get, path + "/items/\(ids[1])").text("quantity") == "1.5")
        let move = #"{"moves":[{"ids":["\#(ids[0])"],"position":0}]}"#
        #expect(try await api.send(.post, path + "/order/moves", move).status == 200)
        let share = try await api.send(.post, path + "/shares", #"{"role":"editor"}"#, ["Idempotency-Key": "s"])
        #expect(share.status == 201)
        let repeated = try await api.send(.post, path + "/shares", #"{"role":"editor"}"#, ["Idempotency-Key": "s"])
        #expect(repeated.text("token") == share.text("token"))
        let other = try await api.send(.post, path + "/shares", "")
        #expect(other.text("token") != share.text("token"))
        let token = try #require(share.text("token"))
        #expect(try await api.send(.post, "/v1/me/lists/join", #"{"token":"\#(token)"}"#, as: "bob").status == 200)
        #expect(try await api.send(.post, "/v1/me/lists/join", #"{"token":"wrong"}"#, as: "bob").status == 404)
        #expect(try await api.send(.patch, path, #"{"name":"Ours"}"#, as: "bob").status == 200)
        #expect(try await api.send(.get, path + "/shares", as: "bob").status == 403)
        let shares = try await api.send(.get, path + "/shares")
        #expect(shares.texts("shares", "members") == ["1", "0"])
        let id = try #require(share.text("id"))
        #expect(try await api.send(.delete, path + "/shares/\(id)").status == 204)
        #expect(try await api.send(.get, path, as: "bob").status == 404)
        #expect(try await api.send(.delete, path + "/items/\(ids[0])").status == 200)
        #expect(try await api.send(.delete, path + "/items/\(ids[0])").status == 404)
        #expect(try await api.send(.get, "/v1/me/lists?since=0").status == 200)
        #expect(try await api.send(.delete, path, nil, ["If-Match": "\"1\""]).status == 412)
        #expect(try await api.send(.delete, path).status == 204)
        #expect(try await api.send(.get, "/v1/me/lists").texts("lists", "id") == [])
    }

    @Test("Prices and purchases are recorded once")
    func storms() async throws {
        let api = try await MemoryAPI.withShelf()
        let prices = #"[{"sku":"milk","price_minor":111},{"sku":"brie","price_minor":399}]"#
        let set = try await api.send(.post, "/v1/stores/s/prices", prices, ["Idempotency-Key": "p"])
        #expect(set.text("changed") == "1")
        #expect(try await api.send(.post, "/v1/stores/s/prices", prices, ["Idempotency-Key": "p"]).body == set.body)
        #expect(try await api.send(.post, "/v1/stores/s/prices", #"[{"sku":"none","price_minor":1}]"#).status == 422)
        #expect(try await api.send(.post, "/v1/stores/s/prices", #"[{"sku":"milk"}]"#).status == 422)
        let event = #"[{"event_id":"\#(UniqueID.random())","sku":"milk","quantity":1,"at":"2026-03-01T09:30:00Z"}]"#
        let purchases = try await api.send(.post, "/v1/stores/s/purchases", event)
        #expect(purchases.status == 202)
        #expect(purchases.text("accepted") == "1")
        #expect(try await api.send(.post, "/v1/stores/s/purchases", event).text("repeated") == "1")
        #expect(try await api.send(.post, "/v1/stores/s/purchases", #"[{"sku":"milk"}]"#).status == 422)
    }

    @Test("Guests are merged, users exported and erased, and tickets created")
    func users() async throws {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.put, "/v1/me/settings/theme", #"{"value":"dark"}"#)
        let export = try await api.send(.get, "/v1/me/export")
        #expect(export.texts("settings", "key") == ["theme"])
        let ticket = try await api.send(.post, "/v1/me/tickets", "", ["Idempotency-Key": "t"])
        #expect(ticket.status == 201)
        let again = try await api.send(.post, "/v1/me/tickets", "", ["Idempotency-Key": "t"])
        #expect(again.text("ticket") == ticket.text("ticket"))
        #expect(try await api.send(.post, "/v1/me/merge", #"{"guest_token":"x"}"#).status == 422)
        #expect(try await api.send(.post, "/v1/me/merge", "{}").status == 422)
        #expect(try await api.send(.delete, "/v1/me").status == 204)
        #expect(try await api.send(.get, "/v1/me/settings").texts("settings", "key") == [])
    }

    @Test("An endpoint that requires a user or a scope rejects other requests")
    func access() async throws {
        let api = try await MemoryAPI.withShelf()
        let anonymous = try await api.send(.get, "/v1/me/settings", as: nil)
        #expect(anonymous.status == 401)
        #expect(anonymous.headers[.wwwAuthenticate] == "Bearer realm=\"aisle\"")
        let reader = try await api.send(.put, "/v1/stores/s", #"{"title":"x","currency":"EUR"}"#, writes: false)
        #expect(reader.status == 403)
        #expect(reader.headers[.wwwAuthenticate]?.contains("insufficient_scope") == true)
        let wrong = try await api.send(.get, "/v1/stores", nil, as: nil, ["Authorization": "Bearer x"])
        #expect(wrong.status == 401)
        #expect(try await api.send(.get, "/livez", nil, as: nil, ["Authorization": "Bearer x"]).status == 200)
    }

    @Test("An unknown path returns 404, another method 405 with Allow, and a preflight the allowed methods")
    func routing() async throws {
        let api = await MemoryAPI { $0.origins = ["https://shop.example"] }
        #expect(try await api.send(.get, "/v1/nothing").status == 404)
        let other = try await api.send(.delete, "/v1/stores")
        #expect(other.status == 405)
        #expect(other.headers[.allow] == "HEAD, GET, OPTIONS")
        let origin = ["Origin": "https://shop.example", "Access-Control-Request-Method": "PUT"]
        let preflight = try await api.send(.options, "/v1/stores/s", nil, as: nil, origin)
        #expect(preflight.status == 204)
        #expect(preflight.headers[.allow] == "HEAD, GET, PUT, DELETE, OPTIONS")
        #expect(preflight.headers[.accessControlAllowOrigin] == "https://shop.example")
        let stranger = try await api.send(.get, "/livez", nil, as: nil, ["Origin": "https://other.example"])
        #expect(stranger.headers[.accessControlAllowOrigin] == nil)
        #expect(stranger.headers[.vary] == "Origin")
        #expect(try await api.send(.put, "/v1/stores/s/products/a%2Fb", "{}").status == 400)
        #expect(try await api.send(.get, "/v1/stores/s/products/a%2Fb").status == 404)
    }

    @Test("A browser gets a page for an address that does not exist, and a client of the API a problem document")
    func missingPages() async throws {
        let api = await MemoryAPI()
        let browser = ["Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"]
        for path in ["/nowhere", "/docs/none", "/problems/none", "/pictures/none.svg", "/%3Cscript%3E", "/a&b"] {
            let page = try await api.send(.get, path, nil, as: nil, browser)
            let html = String(decoding: page.body, as: UTF8.self)
            #expect(page.status == 404)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(page.headers[.vary]?.contains("Accept") == true)
            #expect(
                html.contains("<h1>Page not found</h1>") && html.contains("href=\"/docs\"")
                    && !html.contains("<script>")
            )
            #expect(html.contains("a&amp;b") == (path == "/a&b"))
            let problem = try await api.send(.get, path, nil, as: nil, ["Accept": "*/*"])
            #expect(problem.status == 404 && problem.text("type") == "/problems/not-found")
        }
        let head = try await api.send(.head, "/nowhere", nil, as: nil, browser)
        #expect(head.status == 404 && head.body.isEmpty)
        for (method, path) in [(HTTPRequest.Method.get, "/v1/nothing"), (.get, "/v1/stores/none"), (.post, "/nowhere")]
        {
            let problem = try await api.send(method, path, nil, as: nil, browser)
            #expect(problem.status == 404 && problem.text("type") == "/problems/not-found")
        }
    }

    @Test("A body that is not JSON, has another type or is too large is rejected")
    func bodies() async throws {
        let api = await MemoryAPI { $0.bodyLimit = 200 }
        let path = "/v1/stores/s"
        #expect(try await api.send(.put, path, "{").text("detail")?.contains("at byte 1") == true)
        #expect(try await api.send(.put, path, "{}", ["Content-Type": "text/plain"]).status == 415)
        #expect(try await api.send(.put, path, "{}", ["Content-Encoding": "gzip"]).status == 415)
        #expect(try await api.send(.put, path, #"{"title":"\#(String(repeating: "x", count: 300))"}"#).status == 413)
        #expect(try await api.send(.put, path + "?x=1", "{}").status == 400)
        let key = ["Idempotency-Key": String(repeating: "k", count: 300)]
        #expect(try await api.send(.post, path + "/prices", "[]", key).status == 400)
    }

    @Test("The pages, the problems and the description are served with an entity tag")
    func documents() async throws {
        let api = await MemoryAPI()
        for path in ["/", "/docs", "/aisle.js", "/style.css", "/icon.svg", "/problems/stale", "/openapi.json"] {
            let response = try await api.send(.get, path, as: nil)
            #expect(response.status == 200, "\(path)")
            let tag = try #require(response.headers[.eTag])
            #expect(try await api.send(.get, path, nil, as: nil, ["If-None-Match": tag]).status == 304, "\(path)")
        }
        #expect(try await api.send(.get, "/problems/none").status == 404)
        #expect(try await api.send(.get, "/readyz?for=reads").status == 200)
        #expect(try await api.send(.get, "/readyz?for=lunch").status == 400)
        #expect(try await api.send(.get, "/demo").text("sessions") == "false")
        #expect(try await api.send(.post, "/demo/tokens", #"{"user":"x"}"#).status == 404)
        #expect(try await api.send(.get, "/livez").body == Array("ok\n".utf8))
    }
}
