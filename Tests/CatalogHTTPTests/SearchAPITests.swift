import Catalog
import HTTPTypes
import InMemoryCatalog
import JSON
import TestSupport
import Testing

@testable import CatalogHTTP

/// Searches through the API, on the in-memory catalog.
@Suite(.timeLimit(.minutes(2))) struct SearchAPITests {
    private static let store = "/v1/stores/s"
    private static let shelf = store + "/shelves/dairy"
    private static let pages = shelf + "/products"

    /// Returns a catalog with milk, oat milk and curd on the shelf `dairy`, and butter on a shelf below it.
    private static func api() async throws -> MemoryAPI {
        let api = try await MemoryAPI.withShelf()
        for (sku, body, shelf) in [
            ("oat", #"{"name":"Oat milk","brand":"Milkland","price_minor":199,"tags":["vegan","no milk"]}"#, "dairy"),
            ("drink", #"{"name":"Buttermilk drink","price_minor":99}"#, "dairy"),
            ("butter", #"{"name":"Butter","price_minor":299,"tags":["milk"]}"#, "butter"),
        ] {
            if shelf == "butter" {
                let body = #"{"title":"Butter","parent":"dairy"}"#
                _ = try await api.send(.put, store + "/shelves/butter", body)
            }
            #expect(try await api.send(.put, store + "/products/\(sku)", body).status == 201)
            #expect(try await api.send(.put, store + "/shelves/\(shelf)/products/\(sku)").status == 201)
        }
        return api
    }

    @Test("A page shows the products that a search finds, the best matches first, with the parts that match")
    func page() async throws {
        let api = try await Self.api()
        let found = try await api.send(.get, Self.pages + "?q=%20MILK+&total=true")
        #expect(found.status == 200)
        // Milk begins with the word, oat milk has it in its name, and buttermilk as a part of a word.
        #expect(found.texts("products", "sku") == ["milk", "oat", "drink"])
        #expect(found.json["q"]?.text == #"{"text":"MILK","class":"typo"}"#)
        #expect(found.json["sort"]?.text == #"{"keys":"-relevance","source":"search"}"#)
        #expect(found.json["page"]?["total"] == .integer(3))
        #expect(
            found.texts("products", "matches") == [
                #"[{"field":"name","from":0,"to":4},{"field":"sku","from":0,"to":4}]"#,
                #"[{"field":"name","from":4,"to":8},{"field":"brand","from":0,"to":4},"#
                    + #"{"field":"tags","index":1,"from":3,"to":7}]"#,
                #"[{"field":"name","from":6,"to":10}]"#,
            ]
        )
        // Fragments of products are shared with other pages.
        let plain = try await api.send(.get, Self.pages + "?sort=name")
        #expect(plain.json["q"] == nil && plain.texts("products", "sku").count == 5)
        #expect(plain.json["products"]?.elements?.allSatisfy { $0["matches"] == nil } == true)
        let again = try await api.send(.get, Self.pages + "?q=%20MILK+&total=true")
        #expect(again.body == found.body)
    }

    @Test("A search takes sorts, filters, facets and totals, before which its classes are chosen")
    func context() async throws {
        let api = try await Self.api()
        for (query, skus) in [
            ("sort=price", ["drink", "milk", "oat"]), ("sort=-price", ["oat", "milk", "drink"]),
            ("sort=-relevance,price", ["milk", "oat", "drink"]), ("price_max=1.50", ["milk", "drink"]),
            ("brand=Milkland&sort=name", ["oat"]), ("sort=position", ["drink", "milk", "oat"]),
        ] {
            let found = try await api.send(.get, Self.pages + "?q=milk&\(query)")
            #expect(Set(found.texts("products", "sku")) == Set(skus), "\(query)")
            if !query.hasSuffix("position") { #expect(found.texts("products", "sku") == skus, "\(query)") }
            #expect(found.json["q"]?["class"] == .string("typo"), "\(query)")
        }
        let counted = try await api.send(.get, Self.pages + "?q=milk&facets=brand,tag&brand=Milkland&total=true")
        #expect(counted.json["page"]?["total"] == .integer(1))
        #expect(
            counted.json["facets"]?["brand"]?["values"]?.elements?.compactMap { $0["value"]?.text }.sorted()
                == ["\"\"", "\"Milkland\"", "\"Ärla\""]
        )
    }

    @Test("A cursor keeps the search and its class, and belongs to no other search")
    func cursors() async throws {
        let api = try await Self.api()
        let first = try await api.send(.get, Self.pages + "?q=oat%20%20milk&limit=1")
        #expect(first.texts("products", "sku") == ["oat"] && first.json["page"]?["next_cursor"] == .null)
        let page = try await api.send(.get, Self.pages + "?q=milk&limit=1")
        let link = try #require(page.headers[.init("Link")!])
        #expect(link.contains("/products?q=milk&limit=1&cursor="))
        let next = String(link.split(separator: ">")[0].dropFirst())
        #expect(try await api.send(.get, next).texts("products", "sku") == ["oat"])
        let cursor = try #require(page.json["page"]?["next_cursor"]?.string)
        // A cursor has the search, so q may be left out.
        let rest = try await api.send(.get, Self.pages + "?cursor=\(cursor)")
        #expect(rest.texts("products", "sku") == ["oat", "drink"] && rest.json["q"]?["text"] == .string("milk"))
        for query in ["q=oat", "q=Milk", "q=milk&sort=price"] {
            let other = try await api.send(.get, Self.pages + "?\(query)&cursor=\(cursor)")
            #expect(other.status == 400 && other.text("type") == "/problems/invalid-cursor", "\(query)")
        }
        // Five products begin with the word by now, which would exclude parts of words on a first page.
        for number in 0..<5 {
            let path = Self.store + "/products/m\(number)"
            _ = try await api.send(.put, path, #"{"name":"Milk \#(number)"}"#)
            _ = try await api.send(.put, Self.pages + "/m\(number)")
        }
        let later = try await api.send(.get, Self.pages + "?cursor=\(cursor)&limit=100")
        #expect(later.texts("products", "sku").contains("drink") && later.json["q"]?["class"] == .string("typo"))
        let new = try await api.send(.get, Self.pages + "?q=milk&limit=100")
        #expect(!new.texts("products", "sku").contains("drink") && new.json["q"]?["class"] == .string("exact"))
    }

    @Test("Several shelves are searched as one, and all shelves of a store")
    func unions() async throws {
        let api = try await Self.api()
        let below = try await api.send(.get, Self.pages + "?q=milk&include=descendants")
        #expect(below.texts("products", "sku") == ["milk", "oat", "butter", "drink"])
        let all = try await api.send(.get, Self.store + "/products?q=milk&sort=price")
        #expect(all.texts("products", "sku") == ["drink", "milk", "oat", "butter"])
        #expect(all.json["q"]?["text"] == .string("milk") && all.json["version"] == nil)
        let named = try await api.send(.get, Self.store + "/products?q=milk&sku=oat")
        #expect(named.status == 400 && named.text("parameter") == "sku")
    }

    @Test("Orders, diffs and ranks have the products that a search finds")
    func orders() async throws {
        let api = try await Self.api()
        let order = try await api.send(.get, Self.shelf + "/order?q=milk")
        #expect(order.texts("ids") == ["milk", "oat", "drink"] && order.text("source") == "search")
        #expect(order.json["q"]?.text == #"{"text":"milk","class":"typo"}"#)
        let diff = try await api.send(.get, Self.shelf + "/order/diff?q=milk&from_sort=-relevance&to_sort=price")
        #expect(diff.json["new_count"] == .integer(3) && diff.json["q"]?["class"] == .string("typo"))
        let tag = try #require(diff.headers[.eTag])
        let again = try await api.send(
            .get,
            Self.shelf + "/order/diff?q=milk&from_sort=-relevance&to_sort=price",
            nil,
            ["If-None-Match": tag]
        )
        #expect(again.status == 304)
        let list = try await api.send(
            .post,
            Self.shelf + "/order/diff?q=milk",
            #"{"from":["oat","curd"],"to_sort":"-relevance"}"#
        )
        #expect(list.status == 200 && list.texts("deletes", "id") == ["curd"])
        let ranks = try await api.send(
            .post,
            Self.shelf + "/order/rank?q=milk&price_max=1.50",
            #"{"skus":["milk","oat","brie","curd","x"],"sort":"-relevance"}"#
        )
        #expect(
            ranks.texts("products", "reason") == ["shown", "filtered_out", "not_found", "not_found", "not_on_shelf"]
        )
        #expect(ranks.texts("products", "filters") == ["[]", #"["price_max"]"#, #"["price_max"]"#, "[]", "[]"])
        #expect(ranks.json["of"] == .integer(2) && ranks.json["q"]?["text"] == .string("milk"))
        let tuples = ranks.texts("products", "tuple")
        #expect(
            tuples[0].contains(#"{"key":"relevance","value":{"class":"exact","field":"name","begins_name":true}}"#)
                && tuples[1].contains(#"{"class":"exact","field":"name","begins_name":false}"#)
                && tuples[2].contains(#"{"key":"relevance","value":null}"#)
                && tuples[0].contains(#"{"key":"closeness","value":{"place":0,"name_words":"#)
                && tuples[2].contains(#"{"key":"closeness","value":null}"#)
                && tuples[0].contains(#""key":"popularity""#)
        )
    }

    @Test("A search without results names the words that find nothing, and the best correction")
    func emptyResults() async throws {
        let api = try await Self.api()
        let swapped = try await api.send(.get, Self.pages + "?q=brei")
        #expect(swapped.json["q"]?.text == #"{"text":"brei","class":"typo","missing":["brei"],"did_you_mean":"brie"}"#)
        let unknown = try await api.send(.get, Self.pages + "?q=milk%20zzzzzz")
        #expect(
            unknown.json["q"]?.text
                == #"{"text":"milk zzzzzz","class":"typo","missing":["zzzzzz"],"did_you_mean":null}"#
        )
        // A filter that excludes all matches is not a search without results.
        let filtered = try await api.send(.get, Self.pages + "?q=milk&price_min=900")
        #expect(filtered.texts("products").isEmpty && filtered.json["q"]?["missing"] == nil)
    }

    @Test("An invalid search names its limit, and the relevance needs a search, which settings cannot store")
    func errors() async throws {
        let api = try await Self.api()
        let long = String(repeating: "a", count: 101)
        for (query, parameter, detail) in [
            ("q=", "q", "q must have a letter or a digit; leave it out to see all products"),
            ("q=%21%3F", "q", "q must have a letter or a digit; leave it out to see all products"),
            ("q=\(long)", "q", "q must have at most 100 characters (got 101)"),
            ("q=1+2+3+4+5+6+7+8+9", "q", "q must have at most 8 words (got 9)"),
            ("q=a&q=b", "q", "q must be given only once"),
            (
                "sort=-relevance", "sort",
                "the relevance is the order of a search; add the parameter q, or sort by another key: “-relevance”"
            ),
            (
                "q=a&sort=relevance", "sort",
                "the relevance cannot be reversed, because the best matches come first: “relevance”"
            ),
            ("q=a&sort=price,-relevance", "sort", "-relevance must be the first sort key: “-relevance”"),
            ("q=a&sort=-relevence", "sort", "unknown sort key: “-relevence”"),
        ] {
            for path in [Self.pages, Self.store + "/products"] {
                let problem = try await api.send(.get, path + "?\(query)")
                #expect(problem.status == 400 && problem.text("parameter") == parameter, "\(path) \(query)")
                #expect(problem.text("detail") == detail, "\(path) \(query)")
            }
        }
        let diff = try await api.send(.get, Self.shelf + "/order/diff?from_sort=-relevance&to_sort=price")
        #expect(diff.status == 400 && diff.text("parameter") == "from_sort")
        for (method, path, body) in [
            (.put, "/v1/me/stores/s/shelves/dairy/sort", #"{"sort":"-relevance"}"#),
            (.put, "/v1/me/settings/stores/s/sort", #"{"value":"-relevance"}"#),
            (.patch, Self.shelf, #"{"default_sort":"-relevance"}"#),
            (.put, Self.store, #"{"currency":"EUR","default_sort":"-relevance"}"#),
            (.put, Self.shelf + "/order", #"{"from_sort":"-relevance"}"#),
        ] as [(HTTPRequest.Method, String, String)] {
            let refused = try await api.send(method, path, body)
            let detail = "the relevance exists only in a request with a search (q)"
            #expect(refused.status == 400 && refused.text("detail")?.contains(detail) == true, "\(path)")
        }
        let similar = try await api.send(.get, Self.pages + "?q=a&sort=-relevence")
        #expect(similar.text("hint") == "-relevance" && similar.texts("allowed").contains("-relevance"))
        let plain = try await api.send(.get, Self.pages + "?sort=-relevence")
        #expect(plain.status == 400 && !plain.texts("allowed").contains("-relevance"))
    }

    @Test("A page of a search has a tag that depends on the search and on synonyms, and is not shared")
    func tags() async throws {
        let api = try await Self.api()
        func tag(_ query: String) async throws -> String {
            try #require(try await api.send(.get, Self.pages + "?\(query)").headers[.eTag])
        }
        let first = try await tag("q=milk")
        #expect(try await tag("q=milk") == first)
        #expect(try await tag("q=oat") != first)
        let known = try await api.send(.get, Self.pages + "?q=milk", nil, ["If-None-Match": first])
        #expect(known.status == 304)
        for headers in [known.headers, try await api.send(.get, Self.pages + "?q=milk&sort=price").headers] {
            #expect(headers[.cacheControl] == "private, no-cache" && headers[.vary] == "Accept-Encoding")
        }
        let union = Self.store + "/products?q=milk"
        let unionTag = try #require(try await api.send(.get, union).headers[.eTag])
        #expect(try await api.send(.get, union, nil, ["If-None-Match": unionTag]).status == 304)
        let plain = try await tag("sort=name")
        for path in ["/v1/synonyms", Self.store + "/synonyms"] {
            let before = try await tag("q=milk")
            #expect(try await api.send(.put, path, #"{"synonyms":[["milk","brie"]]}"#).status == 201)
            #expect(try await tag("q=milk") != before, "\(path)")
            let changed = try await api.send(.get, union, nil, ["If-None-Match": unionTag])
            #expect(changed.status == 200 && changed.texts("products", "sku").contains("brie"), "\(path)")
            if path == "/v1/synonyms" { #expect(try await tag("sort=name") == plain) }
            #expect(try await api.send(.get, Self.pages + "?q=milk").texts("products", "sku").contains("brie"))
            #expect(try await api.send(.delete, path).status == 204)
        }
    }

    @Test("Users have the same page of a search, whatever they remember")
    func rememberedSorts() async throws {
        let api = try await Self.api()
        let body = #"{"sort":"price","filter":{"in_stock":false}}"#
        #expect(try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", body).status == 200)
        #expect(try await api.send(.get, Self.pages).texts("products", "sku") == ["curd"])
        let found = try await api.send(.get, Self.pages + "?q=milk")
        #expect(found.texts("products", "sku") == ["milk", "oat", "drink"] && found.json["filter"] == .null)
        #expect(found.json["sort"]?["source"] == .string("search"))
    }

    @Test("Searchable attributes are found and highlighted, and others are not")
    func attributes() async throws {
        let api = try await Self.api()
        let origin = Self.store + "/attributes/origin"
        #expect(try await api.send(.put, origin, #"{"type":"text"}"#).status == 201)
        let allergens = #"{"type":"set","searchable":true}"#
        #expect(try await api.send(.put, Self.store + "/attributes/allergens", allergens).status == 201)
        let values = #"{"attributes":{"origin":"Istria","allergens":["nuts","lactose"]}}"#
        #expect(try await api.send(.patch, Self.store + "/products/milk", values).status == 200)
        let set = try await api.send(.get, Self.pages + "?q=lacto")
        #expect(set.texts("products", "matches") == [#"[{"field":"attributes.allergens","index":1,"from":0,"to":5}]"#])
        #expect(try await api.send(.get, Self.pages + "?q=istria").texts("products", "sku").isEmpty)
        #expect(try await api.send(.put, origin, #"{"type":"text","searchable":true}"#).status == 200)
        let text = try await api.send(.get, Self.pages + "?q=istria")
        #expect(text.texts("products", "matches") == [#"[{"field":"attributes.origin","from":0,"to":6}]"#])
    }

    /// Returns a catalog whose clients have 100 points, with milk and oat milk on the shelf `dairy`.
    private static func limitedAPI() async throws -> MemoryAPI {
        let now = ContinuousClock.now
        let api = await MemoryAPI {
            $0.rateLimit = RateLimitPolicy("100/1")
            $0.clock = { now }
        }
        _ = try await api.catalog.put(Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!))
        _ = try await api.catalog.put(Shelf(key: CatalogKey("dairy")!, title: "D"), in: CatalogKey("s")!)
        for name in ["Milk", "Oat milk"] {
            let product = Product(sku: SKU(String(name.prefix(3)))!, name: name)
            _ = try await api.catalog.put(product, in: CatalogKey("s")!)
            _ = try await api.catalog.place(product.sku, on: CatalogKey("dairy")!, in: CatalogKey("s")!)
        }
        return api
    }

    /// Returns the points that a client has left after a response.
    private static func left(_ response: MemoryAPI.Response) throws -> Int? {
        let quota = try #require(response.headers[.init("RateLimit")!])
        return quota.split(separator: ";").lazy.compactMap { $0.hasPrefix("r=") ? Int($0.dropFirst(2)) : nil }.first
    }

    @Test("A search costs five points more than a page, and one without results ten more for its correction")
    func cost() async throws {
        let api = try await Self.limitedAPI()
        for (search, left) in [("milk", 94), ("bread", 78)] {
            let found = try await api.send(.get, Self.pages + "?q=\(search)")
            #expect(found.status == 200)
            #expect(try Self.left(found) == left)
        }
    }

    @Test("A page that continues a search costs as much without q as with it")
    func costOfCursors() async throws {
        for query in ["", "q=milk&"] {
            let api = try await Self.limitedAPI()
            let first = try await api.send(.get, Self.pages + "?q=milk&limit=1")
            let cursor = try #require(first.json["page"]?["next_cursor"]?.string)
            let next = try await api.send(.get, Self.pages + "?\(query)cursor=\(cursor)")
            #expect(next.texts("products", "sku") == ["Oat"])
            #expect(try Self.left(next) == 88, "\(query)")
        }
    }

    @Test("Orders, diffs and ranks with a search cost five points more, and ten more without results")
    func costOfOrders() async throws {
        let skus = #"{"skus":["Mil"]}"#
        for (method, path, body, cost) in [
            (.get, "/order?sort=name", nil, 10), (.get, "/order/diff?from_sort=name&to_sort=price", nil, 10),
            (.post, "/order/diff?mode=moves", #"{"from":[]}"#, 20), (.post, "/order/rank?in_stock=true", skus, 10),
        ] as [(HTTPRequest.Method, String, String?, Int)] {
            for (search, extra) in [("", 0), ("&q=milk", 5), ("&q=bread", 15)] {
                let api = try await Self.limitedAPI()
                let found = try await api.send(method, Self.shelf + path + search, body)
                #expect(found.status == 200, "\(path)\(search)")
                #expect(try Self.left(found) == 100 - cost - extra, "\(path)\(search)")
            }
        }
    }
}
