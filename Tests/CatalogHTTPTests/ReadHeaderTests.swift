import Catalog
import HTTPTypes
import JSON
import TestSupport
import Testing

@testable import CatalogHTTP

/// The headers of reads: media type, caching, entity tag and links.
@Suite(.timeLimit(.minutes(15))) struct ReadHeaderTests {
    private static let shelf = "/v1/stores/s/shelves/dairy"
    private static let link = HTTPField.Name("Link")!
    private static let (shared, own) = ("public, no-cache", "private, no-cache")

    /// A read, and the headers of its response.
    struct Read: Sendable, CustomTestStringConvertible {
        let path: String
        var user: String? = "ann"
        let cache: String
        var vary: String?
        /// Whether it has an entity tag.
        var isTagged = true

        var testDescription: String { "\(path) \(user ?? "")" }
    }

    static let reads: [Read] = [
        Read(path: "/v1/stores", cache: shared), Read(path: "/v1/stores/s", cache: shared),
        Read(path: "/v1/stores/s/shelves", cache: shared),
        Read(path: shelf, cache: own, vary: "Accept-Language, Authorization"),
        Read(path: shelf, user: nil, cache: shared, vary: "Accept-Language, Authorization"),
        Read(path: "\(shelf)/products", cache: own, vary: "Authorization, Accept-Encoding"),
        Read(path: "\(shelf)/products", user: nil, cache: own, vary: "Authorization, Accept-Encoding"),
        Read(path: "\(shelf)/products?sort=name", cache: shared, vary: "Accept-Encoding"),
        Read(path: "\(shelf)/products?in_stock=true", cache: own, vary: "Authorization, Accept-Encoding"),
        Read(path: "/v1/stores/s/products?sort=name", cache: shared, vary: "Accept-Encoding"),
        Read(path: "/v1/stores/s/products?facets=brand", cache: own, vary: "Authorization, Accept-Encoding"),
        Read(path: "/v1/stores/s/products", cache: shared), Read(path: "/v1/stores/s/products?sku=milk", cache: shared),
        Read(path: "/v1/stores/s/products?barcode=4006381333931", cache: shared),
        Read(path: "/v1/stores/s/products/milk", cache: shared),
        Read(path: "/v1/attributes", cache: shared), Read(path: "/v1/attributes/rating", cache: shared),
        Read(path: "/v1/stores/s/attributes", cache: shared),
        Read(path: "/v1/stores/s/attributes/rating", cache: shared),
        Read(path: "/v1/synonyms", cache: shared), Read(path: "/v1/stores/s/synonyms", cache: shared),
        Read(path: "/v1/stores/s/suggest?q=mil", cache: "no-store", isTagged: false),
        Read(path: "\(shelf)/order", cache: own, vary: "Authorization"),
        Read(path: "\(shelf)/order?sort=name", cache: shared),
        Read(path: "\(shelf)/order?sort=position", cache: shared),
        Read(path: "\(shelf)/order?sort=position&in_stock=true", cache: shared),
        Read(path: "\(shelf)/order/changes", cache: "no-store", isTagged: false),
        Read(path: "\(shelf)/order/diff?from_sort=name&to_sort=price", cache: shared, vary: "Accept"),
        Read(path: "\(shelf)/order/diff?from_sort=name", cache: own, vary: "Accept, Authorization"),
        Read(path: "\(shelf)/order/diff?to_sort=name", cache: own, vary: "Accept, Authorization"),
        Read(path: "/v1/stores/s/audit", cache: "no-store", isTagged: false),
        Read(path: "/v1/me/settings", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/settings?since=0", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/settings/theme", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/stores/s/shelves/dairy/sort", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/lists", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/lists/{list}", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/lists/{list}/items", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/lists/{list}/items/{item}", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/lists/{list}/shares", cache: own, vary: "Authorization"),
        Read(path: "/v1/me/export", cache: own, vary: "Authorization"),
        Read(path: "/v1/import-profiles", cache: "no-store", isTagged: false),
        Read(path: "/v1/import-profiles/supplier", cache: own), Read(path: "/demo", cache: "no-store", isTagged: false),
    ]

    @Test("A read has its media type, cache rules and entity tag, and a client with the tag gets 304", arguments: reads)
    func headersOfReads(read: Read) async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).text("id"))
        let added = try await api.send(.post, "/v1/me/lists/\(list)/items", #"{"text":"a"}"#)
        let item = try #require(added.texts("items", "id").first)
        _ = try await api.send(.put, "/v1/me/settings/theme", #"{"value":"dark"}"#)
        _ = try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", #"{"sort":"name"}"#)
        _ = try await api.send(.put, "/v1/import-profiles/supplier", #"{"columns":{"sku":"Code"}}"#)
        _ = try await api.send(.put, "/v1/attributes/rating", #"{"type":"text"}"#)
        for owner in ["/v1", "/v1/stores/s"] {
            _ = try await api.send(.put, owner + "/synonyms", #"{"synonyms":[["pop","soda"]]}"#)
        }
        let path = read.path.replacing("{list}", with: list).replacing("{item}", with: item)
        let response = try await api.send(.get, path, as: read.user)
        #expect(response.status == 200)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == read.cache)
        #expect(response.headers[.vary] == read.vary)
        #expect((response.headers[.eTag] != nil) == read.isTagged)
        #expect(response.json != .null)
        // Each export names its time.
        guard let tag = response.headers[.eTag], read.path != "/v1/me/export" else { return }
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 2)
        let known = try await api.send(.get, path, as: read.user, ["If-None-Match": tag])
        #expect(known.status == 304 && known.body.isEmpty)
        #expect(known.headers[.eTag] == tag)
        #expect(known.headers[.cacheControl] == read.cache)
        #expect(known.headers[.vary] == read.vary)
        #expect(try await api.send(.get, path, as: read.user, ["If-None-Match": "\"x\""]).status == 200)
    }

    @Test("The tag of a manual order has its version, and that of a filtered one its content, too")
    func orderTags() async throws {
        let api = try await MemoryAPI.withShelf()
        let order = Self.shelf + "/order"
        let manual = try await api.send(.get, order + "?sort=position")
        let version = try #require(manual.text("order_version"))
        #expect(manual.headers[.eTag] == "\"order-\(version)\"")
        let filtered = try await api.send(.get, order + "?sort=position&in_stock=true")
        #expect(filtered.headers[.eTag]?.hasPrefix("\"order-\(version)-") == true)
        let other = try await api.send(.get, order + "?sort=position&in_stock=false")
        #expect(other.headers[.eTag] != filtered.headers[.eTag])
        let byName = try await api.send(.get, order + "?sort=name")
        #expect(byName.headers[.eTag]?.contains("order-") == false)
        #expect(try await api.send(.get, order + "?sort=-name").headers[.eTag] != byName.headers[.eTag])
        let body = #"{"moves":[{"ids":["milk"],"place":"first"}]}"#
        let known = try #require(filtered.headers[.eTag])
        let moved = try await api.send(.post, order + "/moves", body, ["If-Match": known])
        #expect(moved.status == 200)
        #expect(try await api.send(.get, order + "?sort=position").headers[.eTag] == moved.headers[.eTag])
        // A price is not part of the manual order, but of another one.
        _ = try await api.send(.patch, "/v1/stores/s/products/milk", #"{"price_minor":1}"#)
        #expect(try await api.send(.get, order + "?sort=position").headers[.eTag] == moved.headers[.eTag])
        #expect(try await api.send(.get, order + "?sort=name").headers[.eTag] != byName.headers[.eTag])
    }

    @Test("The tag of settings has the revision and the part that was asked for")
    func settingTags() async throws {
        let api = try await MemoryAPI.withShelf()
        let revision = try #require(
            try await api.send(.put, "/v1/me/settings/theme", #"{"value":"dark"}"#).text("revision")
        )
        for (query, suffix) in [("", "all"), ("?since=0", "0"), ("?since=999999", "999999-resync")] {
            let response = try await api.send(.get, "/v1/me/settings" + query)
            #expect(response.headers[.eTag] == "\"\(revision)-\(suffix)\"", "\(query)")
            #expect(response.text("revision") == revision)
        }
        #expect(try await api.send(.get, "/v1/me/settings/theme").headers[.eTag] == "\"\(revision)\"")
    }

    @Test("The tag of a list has its version and the user's revision")
    func listTags() async throws {
        let api = try await MemoryAPI.withShelf()
        let made = try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#)
        let path = try #require(made.headers[.location])
        let read = try await api.send(.get, path)
        let (version, revision) = (try #require(read.text("version")), try #require(read.text("revision")))
        let tag = "\"\(version)-\(revision)\""
        #expect(read.headers[.eTag] == tag && made.headers[.eTag] == tag)
    }

    @Test(
        "A page links to the next one with the parameters of the request, and the last one does not",
        arguments: [
            ("/v1/stores/s/shelves/dairy/products?limit=2", "limit=2"),
            ("/v1/stores/s/shelves/dairy/products?sort=price&limit=2", "sort=price&limit=2"),
            ("/v1/stores/s/shelves/dairy/products?in_stock=true&limit=1", "in_stock=true&limit=1"),
            (
                "/v1/stores/s/shelves/dairy/products?sort=-name&limit=2&include=descendants",
                "sort=-name&limit=2&include=descendants"
            ),
            ("/v1/stores/s/products?limit=2", "limit=2"),
            ("/v1/stores/s/products?sort=name&limit=2", "sort=name&limit=2"),
            ("/v1/stores/s/shelves?limit=1", "sort=position&limit=1"),
            ("/v1/stores/s/shelves?sort=-modified&limit=1", "sort=-modified&limit=1"),
        ]
    )
    func links(path: String, query: String) async throws {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.put, "/v1/stores/s/shelves/bread", #"{"title":"Bread"}"#)
        let first = try await api.send(.get, path)
        let cursor = try #require(first.json["page"]?["next_cursor"]?.string)
        let address = "\(path.prefix { $0 != "?" })?\(query)&cursor=\(cursor)"
        #expect(first.headers[Self.link] == "<\(address)>; rel=\"next\"")
        let last = try await api.send(.get, address)
        #expect(last.status == 200)
        #expect(last.headers[Self.link] == nil && last.json["page"]?["next_cursor"] == .null)
        #expect(last.json["page"]?["limit"] == first.json["page"]?["limit"])
        #expect(last.body != first.body)
    }

    @Test("A diff says how long its parts took, in milliseconds, and is not cached if it is from a list")
    func diffs() async throws {
        let api = try await MemoryAPI.withShelf()
        let timing = HTTPField.Name("Server-Timing")!
        let milliseconds = /sql;dur=[0-9.e-]+, diff;dur=[0-9.e-]+, form;dur=[0-9.e-]+/
        let diff = Self.shelf + "/order/diff"
        let responses = [
            try await api.send(.get, diff + "?from_sort=name&to_sort=price", as: nil),
            try await api.send(.post, diff, #"{"from":["milk"],"to_sort":"price"}"#, as: nil),
            try await api.send(.post, "/v1/order/diff", #"{"from":["a"],"to":["b"]}"#, as: nil),
        ]
        for response in responses {
            #expect(response.status == 200)
            let text = try #require(response.headers[timing])
            #expect(text.wholeMatch(of: milliseconds) != nil, "\(text)")
            for part in text.split(separator: ", ") {
                // A minute would be far too long, so the unit is not wrong.
                #expect(Double(part.split(separator: "=")[1]).map { (0..<60_000).contains($0) } == true)
            }
        }
        for response in responses.dropFirst() {
            #expect(response.headers[.cacheControl] == "no-store" && response.headers[.vary] == "Accept")
            #expect(response.headers[.eTag] == nil)
        }
        // Each format has its own tag.
        var tags: Set<String> = []
        for type in ["application/json", "application/json-patch+json", "application/vnd.aisle.diff"] {
            let path = diff + "?from_sort=name&to_sort=price"
            let response = try await api.send(.get, path, as: nil, ["Accept": type])
            tags.insert(try #require(response.headers[.eTag]))
        }
        #expect(tags.count == 3)
    }

    @Test("Lists of shelves name the accepted sorts, and lists of products the largest number of SKUs")
    func invalidParameters() async throws {
        let api = try await MemoryAPI.withShelf()
        let shelves = try await api.send(.get, "/v1/stores/s/shelves?sort=\(String(repeating: "x", count: 65))")
        #expect(shelves.status == 400 && shelves.text("parameter") == "sort")
        #expect(shelves.text("detail") == "unknown sort “\(String(repeating: "x", count: 64))”")
        #expect(shelves.texts("allowed") == ShelfSort.allCases.map(\.rawValue))
        let names = (0...100).map { "sku=\($0)" }.joined(separator: "&")
        let products = try await api.send(.get, "/v1/stores/s/products?\(names)")
        #expect(products.status == 400 && products.text("parameter") == "sku")
        #expect(products.text("detail") == "sku has 101 values; the maximum is 100")
        let mixed = try await api.send(.get, "/v1/stores/s/products?sku=milk&sort=name")
        #expect(mixed.status == 400 && mixed.text("parameter") == "sku")
        #expect(mixed.text("detail")?.hasPrefix("sku names the products in the order to return; leave out") == true)
        let total = try await api.send(.get, "/v1/stores/s/products?total=maybe")
        #expect(total.status == 400 && total.text("parameter") == "total")
        let window = try await api.send(.get, Self.shelf + "/order/diff?from_sort=name&to_sort=price&limit=x")
        #expect(window.text("detail") == "limit must be an integer between 1 and 10000")
        let action = try await api.send(.get, "/v1/stores/s/audit?action=\(String(repeating: "x", count: 65))")
        #expect(action.text("detail") == "unknown action “\(String(repeating: "x", count: 64))”")
        #expect(action.texts("allowed") == AuditAction.ofStores.map(\.rawValue))
        for (query, name) in [("actor=", "actor"), ("subject=a%0Ab", "subject")] {
            let text = try await api.send(.get, "/v1/stores/s/audit?\(query)")
            #expect(text.text("detail") == "\(name) must be 1 to \(AuditRequest.textLimit) bytes of printable text")
        }
    }

    @Test("An item that a list does not have, and an invalid setting key, are named")
    func missingResources() async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).text("id"))
        let id = "018f0000-0000-7000-8000-000000000000"
        for method in [HTTPRequest.Method.get, .delete] {
            let response = try await api.send(method, "/v1/me/lists/\(list)/items/\(id)")
            #expect(response.status == 404 && response.text("detail") == "item “\(id)” does not exist")
        }
        let key = try await api.send(.get, "/v1/me/settings/a//b")
        #expect(key.status == 400 && key.text("parameter") == "key")
        #expect(key.text("detail") == "key must be \(SettingKey.rule)")
        let setting = try await api.send(.delete, "/v1/me/settings/theme")
        #expect(setting.status == 404 && setting.text("detail") == "setting “theme” does not exist")
        for (path, what) in [
            ("/v1/stores/s/products/none", "product “none”"), ("/v1/stores/s/shelves/none", "shelf “none”"),
        ] {
            let response = try await api.send(.patch, path, "{}")
            #expect(response.status == 404 && response.text("detail") == "\(what) does not exist")
        }
    }
}
