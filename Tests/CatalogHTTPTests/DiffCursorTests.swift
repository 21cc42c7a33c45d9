import HTTPTypes
import JSON
import Ordering
import TestSupport
import Testing

/// Pages that continue where the window of a diff ends, on the in-memory catalog.
@Suite(.timeLimit(.minutes(2))) struct DiffCursorTests {
    private static let shelf = "/v1/stores/s/shelves/dairy"
    private static let diff = shelf + "/order/diff"

    /// Returns a catalog with 19 products on a shelf and on one below it, some of them in groups and some sold out.
    private static func api(using generator: inout SeededGenerator) async throws -> MemoryAPI {
        let api = try await MemoryAPI.withShelf()
        _ = try await api.send(.put, "/v1/stores/s/shelves/below", #"{"title":"Below","parent":"dairy"}"#)
        for number in 0..<16 {
            let name = ["Milk", "Oat milk", "Milky bar", "Bread"].randomElement(using: &generator)!
            let price = Int.random(in: 1...4, using: &generator) * 100
            let group = number % 3 == 0 ? #","group":"g\#(number % 2)""# : ""
            let body = """
                {"name":"\(name)","brand":"B\(number % 3)","price_minor":\(price),"in_stock":\(number % 5 > 0)\(group)}
                """
            #expect(try await api.send(.put, "/v1/stores/s/products/p\(number)", body).status == 201)
            let shelf = number % 4 == 0 ? "below" : "dairy"
            _ = try await api.send(.put, "/v1/stores/s/shelves/\(shelf)/products/p\(number)")
        }
        return api
    }

    /// The ids of a page in orders.
    private static func ids(_ page: MemoryAPI.Response, collapsed: Bool) -> [String] {
        zip(page.texts("products", "sku"), page.texts("products", "group")).map { sku, group in
            collapsed && group != "null" ? "group/" + group : sku
        }
    }

    @Test(
        "Pages continue the new order after the window of a diff, whatever its context is",
        arguments: [UInt64(1), 2, 3]
    )
    func continues(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let api = try await Self.api(using: &generator)
        func any(_ texts: [String]) -> String { texts.randomElement(using: &generator)! }
        var (continued, ended) = (0, 0)
        for _ in 0..<40 {
            let collapsed = any(["", "collapse=true"])
            let union = any(["", "include=descendants"])
            let context = [
                collapsed, union, any(["", "", "q=milk", "q=oat"]),
                any(["", "in_stock=true", "price_max=2.00", "brand=B1"]),
            ]
            let manual = union.isEmpty ? "position" : "-name"
            let sort = any(["", "price", "-price", "name", "brand,-price", "-popularity", manual])
            let limit = Int.random(in: 1...12, using: &generator)
            func path(_ end: String, _ query: [String]) -> String {
                Self.shelf + end + "?" + (query + context).filter { !$0.isEmpty }.joined(separator: "&")
            }
            let (named, target) = (sort.isEmpty ? "" : "sort=\(sort)", sort.isEmpty ? "" : "to_sort=\(sort)")
            let order = try await api.send(.get, path("/order", [named])).texts("ids")
            let first = try await api.send(.get, path("/products", [named, "limit=\(limit)"]))
            let next = try #require(first.json["page"]?["next_cursor"])
            #expect((next == .null) == (order.count <= limit))
            let query = path("/order/diff", [target, "from_sort=name", "limit=\(limit)"])
            let whole = try await api.send(.get, query + "&mode=order")
            let member = sort.isEmpty ? "" : #","to_sort":"\#(sort)""#
            let listed = try await api.send(
                .post,
                path("/order/diff", ["mode=order"]),
                #"{"from":["milk","gone"],"limit":\#(limit)\#(member)}"#
            )
            for diff in [try await api.send(.get, query), whole, listed] {
                #expect(diff.json["next_cursor"] == next, "\(query)")
            }
            var ids = whole.texts("ids")
            #expect(ids == Array(order.prefix(limit)) && listed.texts("ids") == ids, "\(query)")
            var cursor = whole.json["next_cursor"]?.string
            while let after = cursor, ids.count <= order.count {
                let page = try await api.send(.get, path("/products", [named, "limit=3", "cursor=\(after)"]))
                ids += Self.ids(page, collapsed: !collapsed.isEmpty)
                cursor = page.json["page"]?["next_cursor"]?.string
                continued += 1
            }
            #expect(ids == order, "\(query)")
            ended += next == .null ? 1 : 0
        }
        #expect(continued > 0 && ended > 0)
    }

    @Test("Only a diff of a shelf with a limit has a cursor, which is null at the end of the order")
    func limits() async throws {
        let api = try await MemoryAPI.withShelf()
        let sorts = Self.diff + "?from_sort=price&to_sort=-price"
        let lists = #"{"from":["a","b"],"to":["b","a"]}"#
        for (method, path, body) in [
            (.get, sorts, nil), (.post, Self.diff, #"{"from":["milk"]}"#),
            (.post, Self.diff, #"{"from":["milk"],"limit":null}"#), (.post, "/v1/order/diff", lists),
        ] as [(HTTPRequest.Method, String, String?)] {
            let diff = try await api.send(method, path, body)
            #expect(diff.status == 200 && diff.json["mode"] == .string("moves"))
            #expect(diff.json["next_cursor"] == nil, "\(path)")
        }
        for limit in [3, 4, 10_000] {
            let listed = try await api.send(.post, Self.diff, #"{"from":["milk"],"limit":\#(limit)}"#)
            #expect(listed.json["next_cursor"] == .null)
            #expect(try await api.send(.get, sorts + "&limit=\(limit)").json["next_cursor"] == .null)
        }
        let empty = try await api.send(.get, sorts + "&limit=1&brand=none")
        #expect(empty.json["new_count"] == .number("0") && empty.json["next_cursor"] == .null)
        #expect(try await api.send(.get, sorts + "&limit=2").json["next_cursor"]?.string != nil)
        let patch = try await api.send(.get, sorts + "&limit=1", nil, ["Accept": "application/json-patch+json"])
        #expect(patch.status == 200 && !patch.json.text.contains("next_cursor"))
    }

    @Test("The cursor of a diff continues the view that the user remembers, and no other view")
    func remembered() async throws {
        let api = try await MemoryAPI.withShelf()
        let body = #"{"sort":"-price","filter":{"in_stock":true},"transition_limit":1}"#
        let set = try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", body)
        let pages = Self.shelf + "/products"
        let first = try await api.send(.get, pages + "?limit=1")
        let cursor = try #require(first.json["page"]?["next_cursor"]?.string)
        #expect(first.texts("products", "sku") == ["brie"])
        #expect(set.json["transition"]?["next_cursor"]?.string == cursor)
        let sorted = try await api.send(.get, Self.diff + "?from_sort=name&limit=1")
        let listed = try await api.send(.post, Self.diff, #"{"from":[],"limit":1}"#)
        for diff in [sorted, listed] { #expect(diff.text("next_cursor") == cursor) }
        let second = try await api.send(.get, pages + "?cursor=\(cursor)")
        #expect(second.texts("products", "sku") == ["milk"] && second.json["page"]?["next_cursor"] == .null)
        #expect(second.json["sort"]?["source"] == .string("user"))
        #expect(second.json["filter"]?["source"] == .string("user"))
        for other in ["sort=name", "in_stock=false", "collapse=true", "q=milk"] {
            let refused = try await api.send(.get, pages + "?cursor=\(cursor)&\(other)")
            #expect(refused.status == 400, "\(other)")
        }
        let whole = try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", body.replacing(":1}", with: ":2}"))
        #expect(whole.json["transition"]?["next_cursor"] == .null)
    }

    @Test(
        "All formats link to the page after the window",
        arguments: ["application/json", "application/json-patch+json", "application/vnd.aisle.diff"]
    )
    func links(_ format: String) async throws {
        var generator = SeededGenerator(seed: 4)
        let api = try await Self.api(using: &generator)
        let (link, accept) = (HTTPField.Name("Link")!, ["Accept": format])
        func diffs(_ context: String, _ limit: Int) async throws -> [MemoryAPI.Response] {
            let body = #"{"from":["gone"],"to_sort":"price","limit":\#(limit)}"#
            return [
                try await api.send(
                    .get,
                    Self.diff + "?from_sort=name&to_sort=price&limit=\(limit)\(context)",
                    nil,
                    accept
                ),
                try await api.send(.post, Self.diff + "?mode=moves\(context)", body, accept),
            ]
        }
        for context in ["", "&include=descendants", "&collapse=true", "&in_stock=true", "&q=milk"] {
            let order = try await api.send(.get, Self.shelf + "/order?sort=price\(context)").texts("ids")
            for diff in try await diffs(context, 2) {
                let text = try #require(diff.headers[link])
                #expect(text.hasPrefix("<\(Self.shelf)/products?limit=2&") && text.hasSuffix(">; rel=\"next\""))
                let page = try await api.send(.get, String(text.dropFirst().prefix { $0 != ">" }))
                let ids = Self.ids(page, collapsed: context.contains("collapse"))
                #expect(!ids.isEmpty && ids == Array(order.dropFirst(2).prefix(2)), "\(context)")
            }
            for diff in try await diffs(context, 100) {
                #expect(diff.status == 200 && diff.headers[link] == nil, "\(context)")
            }
        }
        let whole = try await api.send(.get, Self.diff + "?from_sort=name&to_sort=price", nil, accept)
        #expect(whole.status == 200 && whole.headers[link] == nil)
    }

    /// A view of a shelf before and after a sort is remembered for it.
    struct Transition: Sendable {
        let shelf: String
        /// The remembered view of the whole store; nil without one.
        var view: String?
        let remembered: String
        let from: (sort: String, source: String)
        let to: (sort: String, source: String)
    }

    private static let single = #"{"title":"Dairy","default_sort":"-name"}"#
    private static let union = #"{"title":"Dairy","default_sort":"-name","includes_descendants":true}"#
    private static let view = #"{"sort":"-price","filter":{"in_stock":true},"collapse":true}"#

    @Test(
        "The cursor of a transition continues what the user sees",
        arguments: [
            // The manual order.
            Transition(shelf: single, remembered: #""position""#, from: ("-name", "shelf"), to: ("position", "user")),
            // A view of the whole store before.
            Transition(
                shelf: single,
                view: view,
                remembered: #""name""#,
                from: ("-price", "user"),
                to: ("name", "user")
            ),
            // A shelf with those below it.
            Transition(shelf: union, remembered: #""price""#, from: ("-name", "shelf"), to: ("price", "user")),
            // The manual order does not apply to several shelves, so that the view of the whole store does, or the default sort.
            Transition(
                shelf: union,
                view: view,
                remembered: #""position""#,
                from: ("-price", "user"),
                to: ("-price", "user")
            ),
            Transition(shelf: union, remembered: #""position""#, from: ("-name", "shelf"), to: ("-name", "shelf")),
        ]
    )
    func transitions(_ transition: Transition) async throws {
        var generator = SeededGenerator(seed: 5)
        let api = try await Self.api(using: &generator)
        #expect(try await api.send(.put, Self.shelf, transition.shelf).status == 200)
        if let view = transition.view {
            let set = try await api.send(.put, "/v1/me/settings/stores/s/sort", #"{"value":\#(view)}"#)
            #expect(set.status == 200)
        }
        let before = try await api.send(.get, Self.shelf + "/products?limit=2")
        #expect(before.json["sort"]?["keys"] == .string(transition.from.sort))
        #expect(before.json["sort"]?["source"] == .string(transition.from.source))
        let put = try await api.send(
            .put,
            "/v1/me/stores/s/shelves/dairy/sort",
            #"{"sort":\#(transition.remembered),"transition_limit":2}"#
        )
        let diff = try #require(put.json["transition"])
        #expect(diff["from_sort"] == .string(transition.from.sort))
        #expect(diff["to_sort"] == .string(transition.to.sort))
        let order = try await api.send(.get, Self.shelf + "/order").texts("ids")
        let after = try await api.send(.get, Self.shelf + "/products?limit=2")
        let collapses = after.json["collapse"] == .bool(true)
        #expect(diff["collapse"] == after.json["collapse"] && diff["filter"] ?? .null == after.json["filter"])
        #expect(diff["next_cursor"] == after.json["page"]?["next_cursor"])
        var (ids, cursor) = (Self.ids(after, collapsed: collapses), diff["next_cursor"]?.string)
        while let next = cursor, ids.count <= order.count {
            let page = try await api.send(.get, Self.shelf + "/products?limit=5&cursor=\(next)")
            #expect(page.json["sort"]?["keys"] == .string(transition.to.sort))
            #expect(page.json["sort"]?["source"] == .string(transition.to.source))
            #expect(page.json["filter"] == after.json["filter"])
            ids += Self.ids(page, collapsed: collapses)
            cursor = page.json["page"]?["next_cursor"]?.string
        }
        #expect(ids.count > 4 && ids == order)
    }
}
