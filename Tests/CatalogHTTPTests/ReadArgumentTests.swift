import Catalog
import HTTPTypes
import JSON
import TestSupport
import Testing

/// The arguments of reads reach the storage: revisions, sorts, pages and identities.
@Suite(.timeLimit(.minutes(15))) struct ReadArgumentTests {
    private static let shelf = "/v1/stores/s/shelves/dairy"

    @Test("Reads since a revision return only what changed after it")
    func revisions() async throws {
        let api = try await MemoryAPI.withShelf()
        let first = try #require(try await api.send(.put, "/v1/me/settings/a", #"{"value":1}"#).text("revision"))
        _ = try await api.send(.put, "/v1/me/settings/b", #"{"value":1}"#)
        #expect(try await api.send(.get, "/v1/me/settings").texts("settings", "key") == ["a", "b"])
        #expect(try await api.send(.get, "/v1/me/settings?since=\(first)").texts("settings", "key") == ["b"])
        var paths: [String] = []
        for name in ["one", "two"] {
            let made = try await api.send(.post, "/v1/me/lists", #"{"name":"\#(name)"}"#)
            paths.append(try #require(made.headers[.location]))
        }
        let list = try await api.send(.get, paths[0])
        let revision = try #require(list.text("revision"))
        #expect(try await api.send(.get, "/v1/me/lists?since=\(revision)").texts("lists", "name") == ["two"])
        _ = try await api.send(.post, paths[0] + "/items", #"{"text":"old"}"#)
        let version = try #require(try await api.send(.get, paths[0]).text("version"))
        _ = try await api.send(.post, paths[0] + "/items", #"{"text":"new"}"#)
        #expect(try await api.send(.get, paths[0] + "/items?since=\(version)").texts("items", "text") == ["new"])
        for path in ["/v1/me/settings", "/v1/me/lists", paths[0] + "/items"] {
            #expect(try await api.send(.get, path + "?since=x").text("parameter") == "since")
        }
        for path in ["/v1/me/lists?sort=newest", paths[0] + "/items?sort=newest"] {
            #expect(try await api.send(.get, path).text("parameter") == "sort")
        }
    }

    @Test("A shelf shows the picker of its caller, in the caller's language")
    func pickers() async throws {
        let api = try await MemoryAPI.withShelf()
        func selected(as user: String?, _ headers: [String: String] = [:]) async throws -> JSONValue? {
            let response = try await api.send(.get, Self.shelf, as: user, headers)
            return response.json["sort_options"]?.elements?.first { $0["selected"] == .bool(true) }
        }
        let before = try await selected(as: nil)
        #expect(before?["sort"] == .string("-popularity"))
        _ = try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", #"{"sort":"-price"}"#)
        #expect(try await selected(as: "ann")?["sort"] == .string("-price"))
        #expect(try await selected(as: "bob") == before)
        #expect(try await selected(as: nil) == before)
        let russian = try await selected(as: nil, ["Accept-Language": "ru"])
        #expect(russian?["sort"] == before?["sort"] && russian?["title"] != before?["title"])
    }

    @Test("Pages, orders and diffs use the caller's remembered sort only if the request names none")
    func rememberedSorts() async throws {
        let api = try await MemoryAPI.withShelf()
        let body = #"{"sort":"-price","filter":{"in_stock":true}}"#
        _ = try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", body)
        let order = Self.shelf + "/order"
        #expect(try await api.send(.get, order).texts("ids") == ["brie", "milk"])
        #expect(try await api.send(.get, order, as: "bob").texts("ids").count == 3)
        #expect(try await api.send(.get, order + "?sort=name").texts("ids") == ["brie", "milk", "curd"])
        let diff = order + "/diff"
        #expect(try await api.send(.get, diff + "?from_sort=name").text("to_sort") == "-price")
        #expect(try await api.send(.get, diff + "?to_sort=name").text("from_sort") == "-price")
        #expect(try await api.send(.get, diff + "?from_sort=name", as: "bob").text("to_sort") == "-popularity")
        let list = #"{"from":["milk"]}"#
        #expect(try await api.send(.post, diff, list).text("to_sort") == "-price")
        #expect(try await api.send(.post, diff, list, as: "bob").text("to_sort") == "-popularity")
        let named = try await api.send(.post, diff, #"{"from":["milk"],"to_sort":"name"}"#)
        #expect(named.text("to_sort") == "name")
        let one = try await api.send(.post, diff + "?mode=order", #"{"from":[],"to_sort":"name","limit":1}"#)
        #expect(one.texts("ids") == ["brie"])
        let filtered = try await api.send(.post, diff + "?mode=order&in_stock=false", #"{"from":[],"to_sort":"name"}"#)
        #expect(filtered.texts("ids") == ["curd"])
        #expect(try await api.send(.post, diff, #"{"from":["a"],"limit":"x"}"#).text("parameter") == "limit")
    }

    @Test("With descendants, pages, orders and diffs show the shelves below")
    func descendants() async throws {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.put, "/v1/stores/s/shelves/below", #"{"title":"B","parent":"dairy"}"#)
        _ = try await api.send(.put, "/v1/stores/s/products/yogurt", #"{"name":"Yogurt","price_minor":1}"#)
        _ = try await api.send(.put, "/v1/stores/s/shelves/below/products/yogurt")
        for path in ["/products?sort=price", "/order?sort=price"] {
            let list = path.hasPrefix("/products") ? "products" : "ids"
            let (alone, all) = (
                try await api.send(.get, Self.shelf + path),
                try await api.send(.get, Self.shelf + path + "&include=descendants")
            )
            #expect(alone.texts(list).count == 3 && all.texts(list).count == 4)
        }
        let diff = Self.shelf + "/order/diff"
        let query = "?from_sort=price&to_sort=name&mode=order"
        #expect(try await api.send(.get, diff + query).texts("ids").count == 3)
        #expect(try await api.send(.get, diff + query + "&include=descendants").texts("ids").count == 4)
        let body = #"{"from":[],"to_sort":"price"}"#
        #expect(try await api.send(.post, diff + "?mode=order", body).texts("ids").count == 3)
        #expect(try await api.send(.post, diff + "?mode=order&include=descendants", body).texts("ids").count == 4)
    }

    @Test("A user reads, changes and erases only their own data")
    func identities() async throws {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.put, "/v1/me/settings/a", #"{"value":1}"#)
        let list = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).headers[.location])
        let added = try await api.send(.post, "\(list)/items", #"{"text":"a"}"#)
        let item = try #require(added.texts("items", "id").first)
        let share = try #require(try await api.send(.post, "\(list)/shares", "").text("id"))
        for (method, path, body) in [
            (.get, "/v1/me/settings/a", nil), (.delete, "/v1/me/settings/a", nil), (.get, list, nil),
            (.patch, list, #"{"name":"b"}"#), (.delete, list, nil), (.get, "\(list)/items", nil),
            (.post, "\(list)/items", #"{"text":"b"}"#), (.get, "\(list)/items/\(item)", nil),
            (.patch, "\(list)/items/\(item)", #"{"checked":true}"#), (.delete, "\(list)/items/\(item)", nil),
            (.post, "\(list)/order/moves", #"{"moves":[{"ids":["\#(item)"],"place":"first"}]}"#),
            (.get, "\(list)/shares", nil), (.post, "\(list)/shares", ""), (.delete, "\(list)/shares/\(share)", nil),
        ] as [(HTTPRequest.Method, String, String?)] {
            #expect(try await api.send(method, path, body, as: "bob").status == 404, "\(method) \(path)")
        }
        #expect(try await api.send(.get, "/v1/me/lists", as: "bob").texts("lists") == [])
        #expect(try await api.send(.get, "/v1/me/export", as: "bob").text("user") == "bob")
        #expect(try await api.send(.delete, "/v1/me", as: "bob").status == 204)
        let export = try await api.send(.get, "/v1/me/export")
        #expect(export.text("user") == "ann" && export.texts("settings", "key") == ["a"])
        #expect(try await api.send(.get, list + "/items").texts("items", "text") == ["a"])
        #expect(try await api.send(.get, list + "/shares").texts("shares", "id") == [share])
    }
}
