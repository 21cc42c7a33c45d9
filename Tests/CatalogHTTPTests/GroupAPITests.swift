import HTTPTypes
import JSON
import TestSupport
import Testing

/// Groups through the API, on the in-memory catalog.
@Suite(.timeLimit(.minutes(2))) struct GroupAPITests {
    private static let shelf = "/v1/stores/s/shelves/dairy"
    private static let pages = shelf + "/products"

    /// Returns a catalog in which milk, and curd that is sold out and cheaper, are a group. Brie has none.
    private static func api() async throws -> MemoryAPI {
        let api = try await MemoryAPI.withShelf()
        for sku in ["milk", "curd"] {
            let response = try await api.send(.patch, "/v1/stores/s/products/\(sku)", #"{"group":"milk/1"}"#)
            #expect(response.status == 200 && response.text("group") == "milk/1")
        }
        return api
    }

    private static func counts(_ response: MemoryAPI.Response) -> [String] {
        zip(response.texts("products", "members_matching"), response.texts("products", "members_total"))
            .map { "\($0)/\($1)" }
    }

    @Test("A group is set, kept by a patch of something else, removed, and limited")
    func products() async throws {
        let api = try await Self.api()
        let path = "/v1/stores/s/products/milk"
        #expect(try await api.send(.patch, path, #"{"name":"Whole milk"}"#).text("group") == "milk/1")
        #expect(try await api.send(.get, path).text("group") == "milk/1")
        #expect(try await api.send(.patch, path, #"{"group":null}"#).json["group"] == .null)
        let long = String(repeating: "g", count: 251)
        #expect(try await api.send(.patch, path, #"{"group":"\#(long)"}"#).status == 422)
        #expect(try await api.send(.patch, path, #"{"group":"\#(long.dropLast())"}"#).status == 200)
        // So the id of a group is never that of a product.
        #expect(try await api.send(.put, "/v1/stores/s/products/group%2Fmilk", #"{"name":"A"}"#).status == 400)
    }

    @Test("A page of cards has the representatives, their counts, and the members if they are asked for")
    func cards() async throws {
        let api = try await Self.api()
        let page = try await api.send(.get, Self.pages + "?sort=price&collapse=true&total=true&facets=in_stock,price")
        #expect(page.texts("products", "sku") == ["milk", "brie"] && Self.counts(page) == ["2/2", "1/1"])
        #expect(page.texts("products", "group") == ["milk/1", "null"])
        #expect(page.json["collapse"] == .bool(true) && page.json["page"]?["total"] == .integer(2))
        #expect(page.json["facets"]?["total"] == .integer(2))
        #expect(!page.json.text.contains(#""members":"#))
        guard case .array(let stock)? = page.json["facets"]?["in_stock"]?["values"] else {
            Issue.record("no facet: \(page.json.text)")
            return
        }
        #expect(stock.map { $0["count"] } == [.integer(2), .integer(1)])
        let mirror = try await api.send(.get, Self.pages + "?sort=-price&collapse=true")
        #expect(mirror.texts("products", "sku") == ["brie", "milk"])
        let cheap = try await api.send(.get, Self.pages + "?sort=price&collapse=true&price_max=1.00")
        #expect(cheap.texts("products", "sku") == ["curd"] && Self.counts(cheap) == ["1/2"])

        let members = try await api.send(.get, Self.pages + "?sort=price&collapse=true&members=true")
        guard case .array(let products)? = members.json["products"], case .array(let found)? = products[0]["members"]
        else {
            Issue.record("no members: \(members.json.text)")
            return
        }
        #expect(found.map { $0["sku"] } == [.string("milk"), .string("curd")])
        #expect(found[0]["members_total"] == nil && found[0]["name"] == products[0]["name"])
        let plainCards = try await api.send(.get, Self.pages + "?sort=price&collapse=true")
        #expect(plainCards.headers[.eTag] != members.headers[.eTag], "the pages differ only in their members")
        // Without groups, the page is as it was.
        let plain = try await api.send(.get, Self.pages + "?sort=price&members=true")
        #expect(plain.texts("products", "sku") == ["milk", "brie", "curd"] && plain.json["collapse"] == nil)
        #expect(!plain.json.text.contains("members_"))
    }

    @Test("A card has the first twenty members of a larger group, in the natural direction of the sort")
    func manyMembers() async throws {
        let api = try await Self.api()
        for number in 10..<31 {
            let body = #"{"name":"Oat \#(number)","price_minor":\#(number),"group":"oats"}"#
            #expect(try await api.send(.put, "/v1/stores/s/products/oat\(number)", body).status == 201)
            #expect(try await api.send(.put, Self.pages + "/oat\(number)").status == 201)
        }
        for sort in ["price", "-price"] {
            let page = try await api.send(.get, Self.pages + "?sort=\(sort)&collapse=true&members=true")
            let cards = page.json["products"]?.elements ?? []
            let card = try #require(cards.first { $0["group"] == .string("oats") })
            #expect(card["members_matching"] == .integer(21) && card["members_total"] == .integer(21))
            let members = card["members"]?.elements?.compactMap { $0["sku"] }
            #expect(members == (10..<30).map { JSONValue.string("oat\($0)") }, "\(sort)")
        }
    }

    @Test("Links and cursors have the groups of their page, and a page that has not changed is not sent again")
    func cursors() async throws {
        let api = try await Self.api()
        let query = "?sort=price&limit=1&collapse=true&members=true"
        let page = try await api.send(.get, Self.pages + query)
        let next = String(try #require(page.headers[.init("Link")!]).split(separator: ">")[0].dropFirst())
        #expect(next.contains("collapse=true") && next.contains("members=true"))
        let second = try await api.send(.get, next)
        #expect(second.texts("products", "sku") == ["brie"] && second.json["page"]?["next_cursor"] == .null)
        let cursor = try #require(page.json["page"].flatMap { $0["next_cursor"] }).text.dropFirst().dropLast()
        #expect(try await api.send(.get, Self.pages + "?cursor=\(cursor)").texts("products", "sku") == ["brie"])
        #expect(try await api.send(.get, Self.pages + "?collapse=false&cursor=\(cursor)").status == 400)
        let tag = try #require(page.headers[.eTag])
        #expect(try await api.send(.get, Self.pages + query, nil, ["If-None-Match": tag]).status == 304)
        let other = query.replacing("&members=true", with: "")
        #expect(try await api.send(.get, Self.pages + other, nil, ["If-None-Match": tag]).status == 200)
        for query in ["collapse=maybe", "members=2"] {
            #expect(try await api.send(.get, Self.pages + "?\(query)").status == 400, "\(query)")
        }
    }

    @Test("Orders and diffs have the ids of groups, with the products of those that enter")
    func orders() async throws {
        let api = try await Self.api()
        let order = try await api.send(.get, Self.shelf + "/order?sort=price&collapse=true")
        #expect(order.texts("ids") == ["group/milk/1", "brie"] && order.json["collapse"] == .bool(true))
        let diff = try await api.send(
            .get,
            Self.shelf + "/order/diff?from_sort=price&to_sort=-price&collapse=true&limit=1"
        )
        #expect(diff.texts("deletes", "id") == ["group/milk/1"] && diff.texts("inserts", "id") == ["brie"])
        guard case .array(let inserts)? = diff.json["inserts"] else {
            Issue.record("no inserts: \(diff.json.text)")
            return
        }
        #expect(inserts[0]["product"]?["members_total"] == .integer(1))
        let listed = try await api.send(
            .post,
            Self.shelf + "/order/diff?collapse=true",
            #"{"from":["brie","group/gone"],"to_sort":"price","limit":10}"#
        )
        #expect(listed.texts("deletes", "id") == ["group/gone"] && listed.texts("inserts", "id") == ["group/milk/1"])
        #expect(listed.json.text.contains(#""product":{"sku":"milk""#))
    }

    @Test("The rank of a product is that of its group")
    func ranks() async throws {
        let api = try await Self.api()
        let path = Self.shelf + "/order/rank?collapse=true&price_max=3.00"
        let found = try await api.send(.post, path, #"{"skus":["curd","milk","brie"],"sort":"price"}"#)
        #expect(
            found.json["of"] == .integer(1) && found.texts("products", "reason") == ["shown", "shown", "filtered_out"]
        )
        guard case .array(let products)? = found.json["products"] else {
            Issue.record("no products: \(found.json.text)")
            return
        }
        for product in products.prefix(2) {
            #expect(product["rank"] == .integer(0) && product["id"] == .string("group/milk/1"))
            #expect(product["representative"] == .string("milk"))
            #expect(product["tuple"]?.text.contains(#"{"key":"sku","value":"milk"}"#) == true)
        }
        #expect(products[2]["id"] == nil && products[2]["representative"] == nil)
        let cheap = try await api.send(
            .post,
            Self.shelf + "/order/rank?collapse=true&price_max=1.00",
            #"{"skus":["milk","curd"],"sort":"price"}"#
        )
        #expect(cheap.texts("products", "reason") == ["filtered_out", "shown"])
    }

    @Test("A shelf can collapse groups by default, except in the manual order, and requests overrule it")
    func defaults() async throws {
        let api = try await Self.api()
        let body = #"{"title":"Dairy","collapses_groups":true}"#
        #expect(try await api.send(.put, Self.shelf, body).json["collapses_groups"] == .bool(true))
        for (query, count) in [("", 2), ("?sort=price", 2), ("?collapse=false", 3), ("?sort=position", 3)] {
            #expect(try await api.send(.get, Self.pages + query).texts("products", "sku").count == count, "\(query)")
            #expect(try await api.send(.get, Self.shelf + "/order" + query).texts("ids").count == count, "\(query)")
        }
        let manual = try await api.send(.get, Self.shelf + "/order?sort=position")
        #expect(manual.headers[.eTag]?.hasPrefix("\"order-") == true)
        let patched = try await api.send(.patch, Self.shelf, #"{"title":"Milk"}"#)
        #expect(patched.json["collapses_groups"] == .bool(true))
        let off = try await api.send(.patch, Self.shelf, #"{"collapses_groups":null}"#)
        #expect(off.json["collapses_groups"] == .bool(false))
        #expect(try await api.send(.get, Self.pages).texts("products", "sku").count == 3)
    }

    @Test("A remembered view has its groups, and its transition leads to them")
    func remembered() async throws {
        let api = try await Self.api()
        let path = "/v1/me/stores/s/shelves/dairy/sort"
        let body = #"{"sort":"price","collapse":true,"transition_limit":10}"#
        let stored = try await api.send(.put, path, body)
        #expect(stored.status == 200 && stored.json["collapse"] == .bool(true))
        #expect(stored.json["transition"]?.text.contains(#""id":"group/milk/1""#) == true)
        #expect(try await api.send(.get, path).json["collapse"] == .bool(true))
        let own = try await api.send(.get, Self.pages)
        #expect(own.texts("products", "sku") == ["milk", "brie"] && own.json["sort"]?["source"] == .string("user"))
        #expect(try await api.send(.get, Self.pages + "?collapse=false").texts("products", "sku").count == 3)
        #expect(try await api.send(.get, Self.pages, nil, as: nil).texts("products", "sku").count == 3)
        #expect(try await api.send(.get, Self.pages + "?sort=price").texts("products", "sku").count == 3)
        #expect(try await api.send(.put, path, #"{"sort":"price","collapse":1}"#).status == 400)
    }

    @Test("All shelves of a store have cards, too")
    func store() async throws {
        let api = try await Self.api()
        let page = try await api.send(.get, "/v1/stores/s/products?collapse=true")
        #expect(Set(page.texts("products", "sku")) == ["milk", "brie"] && page.json["collapse"] == .bool(true))
        // The list by SKU has all products.
        for query in ["", "?collapse=false"] {
            let list = try await api.send(.get, "/v1/stores/s/products\(query)")
            #expect(list.texts("products", "sku") == ["brie", "curd", "milk"] && list.json["sort"] == nil)
        }
        let named = try await api.send(.get, "/v1/stores/s/products?sku=milk&collapse=true")
        #expect(named.status == 400)
        #expect(try await api.send(.get, "/v1/stores/s/products?sku=milk&collapse=x").status == 400)
    }

    @Test("A search finds groups by their members")
    func searches() async throws {
        let api = try await Self.api()
        let page = try await api.send(.get, Self.pages + "?q=curd&collapse=true")
        #expect(page.texts("products", "sku") == ["curd"] && Self.counts(page) == ["1/2"])
        #expect(page.texts("products", "matches").count == 1)
    }
}
