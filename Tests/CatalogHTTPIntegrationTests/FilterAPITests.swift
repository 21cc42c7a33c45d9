import JSON
import Catalog
import CatalogJSON
import CatalogPostgres
import HTTPTypes
import Hummingbird
import NIOCore
import Testing
import TestSupport

/// Filters and facets over a real socket, for every endpoint that lists or diffs a shelf.
@Suite(.timeLimit(.minutes(15))) struct FilterAPITests {
    private static let shelf = "/v1/stores/s/shelves/x"

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
            for (id, price, brand, isInStock) in [
                ("a", 300, "Arla", true), ("b", 100, "Arla", false), ("c", 200, "Zott", true), ("d", 400, nil, true),
            ] {
                let product = Product(
                    sku: SKU(id)!,
                    name: id,
                    brand: brand,
                    priceMinor: Int64(price),
                    size: try Size(amount: ExactDecimal(500), unit: .g, packs: 1),
                    inStock: isInStock,
                    tags: id == "a" ? ["organic"] : []
                )
                _ = try await catalog.products.put(product, in: store)
                _ = try await catalog.products.place(SKU(id)!, on: shelf, in: store)
            }
            try await body(client, catalog)
        }
    }

    private func get(
        _ client: any TestClient,
        _ path: String,
        as user: String? = nil,
        _ headers: HTTPFields = [:]
    ) async throws -> (status: Int, json: JSONValue, headers: HTTPFields) {
        var headers = headers
        if let user { headers[.authorization] = "Bearer " + (try await TestAPI.token(user)) }
        let response = try await client.execute(uri: path, method: .get, headers: headers)
        return (
            response.status.code, (try? JSONReader.parse(Array(buffer: response.body))) ?? .null, response.headers
        )
    }

    private func send(
        _ client: any TestClient,
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String,
        as user: String
    ) async throws -> (status: Int, json: JSONValue) {
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: [.contentType: "application/json", .authorization: "Bearer " + (try await TestAPI.token(user))],
            body: ByteBuffer(string: body)
        )
        return (response.status.code, (try? JSONReader.parse(Array(buffer: response.body))) ?? .null)
    }

    private func skus(_ json: JSONValue) -> [String] {
        guard case .array(let products)? = json["products"] else { return ["no products"] }
        return products.map { if case .string(let sku)? = $0["sku"] { sku } else { "no sku" } }
    }

    private func strings(_ json: JSONValue?) -> [String] {
        guard case .array(let values)? = json else { return ["no array"] }
        return values.map { if case .string(let text) = $0 { text } else { $0.text } }
    }

    @Test("A filtered page returns the applied filter")
    func pageReturnsItsFilter() async throws {
        try await withServer { client, _ in
            let path = Self.shelf + "/products"
            for (query, expected) in [
                ("?in_stock=true", ["a", "c", "d"]), ("?in_stock=false", ["b"]),
                ("?brand=Arla&sort=price", ["a", "b"]),
                ("?brand=Arla&brand=", ["a", "d", "b"]), ("?tag=organic", ["a"]), ("?tag=", ["c", "d", "b"]),
                ("?price_min=2&price_max=3.00", ["a", "c"]), ("?unit_price_max=0.40/100g", ["c", "b"]),
                ("?dimension=volume", []), ("?dimension=mass&in_stock=true&price_max=2.5", ["c"]),
                ("?created_before=2000-01-01", []), ("?modified_after=2000-01-01", ["a", "c", "d", "b"]),
                ("?brand=arla", []),
            ] {
                let response = try await get(client, path + query)
                #expect(response.status == 200, "\(query): \(response.json.text)")
                #expect(skus(response.json) == expected, "\(query): \(response.json.text)")
            }
            let filtered = try await get(client, path + "?in_stock=true&brand=Arla&sort=price")
            #expect(filtered.json["filter"]?.text == #"{"terms":{"brand":["Arla"],"in_stock":true},"source":"query"}"#)
            #expect(try await get(client, path).json["filter"] == .null)
            for (query, parameter) in [
                ("?price_min=5&price_max=4", "price_max"), ("?created_after=monday", "created_after"),
                ("?colour=red", "colour"),
                ("?in_stock=1", "in_stock"), ("?facets=colour", "facets"), ("?facets=brand,brand", "facets"),
                ("?price_max=1&price_max=2", "price_max"), ("?dimension=weight", "dimension"),
            ] {
                let answer = try await get(client, path + query)
                #expect(answer.status == 400, "\(query): \(answer.json.text)")
                #expect(answer.json["parameter"] == .string(parameter), "\(query): \(answer.json.text)")
            }
        }
    }

    @Test("The next link and the entity tag depend on the filter")
    func nextLinkAndTagIncludeFilter()
        async throws
    {
        try await withServer { client, _ in
            var path: String? = Self.shelf + "/products?in_stock=true&limit=1&sort=price"
            var seen: [String] = []
            var tags: Set<String> = []
            while let next = path {
                let response = try await get(client, next)
                seen += skus(response.json)
                tags.insert(response.headers[.eTag]!)
                path = response.headers[.init("Link")!].map { String($0.dropFirst().prefix { $0 != ">" }) }
                let same = try await get(client, next, as: nil, [.ifNoneMatch: response.headers[.eTag]!])
                #expect(same.status == 304)
            }
            #expect(seen == ["c", "a", "d"])
            #expect(tags.count == 3)
            let other = try await get(client, Self.shelf + "/products?in_stock=true&limit=1&sort=price&price_max=99")
            #expect(!tags.contains(other.headers[.eTag]!))
            let cursor = try await get(client, Self.shelf + "/products?brand=Arla&limit=1&sort=price").json["page"]
            let token = try #require(cursor?["next_cursor"]?.string)
            #expect(try await skus(get(client, Self.shelf + "/products?limit=5&cursor=\(token)").json) == ["b"])
            let otherFilter = try await get(client, Self.shelf + "/products?brand=Zott&cursor=\(token)")
            #expect(otherFilter.status == 400)
            #expect(otherFilter.json["type"] == .string("/problems/invalid-cursor"))
        }
    }

    @Test("A total counts all products that match the filter, on every page, with a cached page apart")
    func totals() async throws {
        try await withServer { client, _ in
            let products = Self.shelf + "/products?limit=1"
            for _ in 0..<2 {
                for (query, total) in [
                    ("&total=true", 4), ("&total=true&in_stock=true", 3), ("&total=true&brand=Arla&price_max=2.00", 1),
                    ("&total=true&brand=Milka", 0), ("&total=true&sort=price", 4), ("&total", 4),
                ] {
                    let page = try await get(client, products + query)
                    #expect(page.status == 200)
                    #expect(page.json["page"]?["total"] == .number("\(total)"), "\(query)")
                }
                for query in ["", "&total=false", "&sort=price"] {
                    let page = try await get(client, products + query)
                    #expect(page.json["page"]?["total"] == nil, "\(query)")
                }
            }
            let first = try await get(client, products + "&total=true&in_stock=true")
            guard case .string(let cursor)? = first.json["page"]?["next_cursor"] else {
                Issue.record("no cursor")
                return
            }
            let second = try await get(client, products + "&total=true&cursor=\(cursor)")
            #expect(second.json["page"]?["total"] == .number("3"))
            let invalid = try await get(client, products + "&total=yes")
            #expect(invalid.status == 400)
        }
    }

    /// Follows the links of pages of several shelves, which have no version, and returns the products; each page is read again and again.
    private func pagesOfSeveral(_ client: any TestClient, _ first: String) async throws -> [String] {
        var path: String? = first
        var seen: [String] = []
        while let next = path {
            // The first answer reads the products, the second has them, and the third comes from the cache.
            for _ in 0..<3 {
                let again = try await get(client, next)
                #expect(again.status == 200)
                #expect(again.json["version"] == nil)
            }
            let response = try await get(client, next)
            seen += skus(response.json)
            path = response.headers[.init("Link")!].map { String($0.dropFirst().prefix { $0 != ">" }) }
            let same = try await get(client, next, as: nil, [.ifNoneMatch: response.headers[.eTag]!])
            #expect(same.status == 304)
        }
        return seen
    }

    @Test("A page with descendants shows the shelves below, without a version, and its links keep them")
    func descendants() async throws {
        try await withServer { client, catalog in
            let (store, below) = (CatalogKey("s")!, CatalogKey("y")!)
            _ = try await catalog.shelves.put(Shelf(key: below, title: "Y", parent: CatalogKey("x")!), in: store)
            for id in ["a", "e"] {
                if id == "e" {
                    _ = try await catalog.products.put(Product(sku: SKU("e")!, name: "e", priceMinor: 50), in: store)
                }
                _ = try await catalog.products.place(SKU(id)!, on: below, in: store)
            }
            let seen = try await pagesOfSeveral(
                client,
                Self.shelf + "/products?include=descendants&sort=price&limit=2&total=true"
            )
            #expect(seen == ["e", "c", "a", "d", "b"])
            let page = Self.shelf + "/products?include=descendants&sort=price&facets=brand&total=true"
            let before = try await get(client, page)
            #expect(before.json["page"]?["total"] == .number("5"))
            #expect(before.json["facets"]?["total"] == .number("5"))
            _ = try await catalog.products.unplace(SKU("e")!, from: below, in: store)
            let after = try await get(client, page, as: nil, [.ifNoneMatch: before.headers[.eTag]!])
            #expect(after.status == 200)
            #expect(skus(after.json) == ["c", "a", "d", "b"])
            #expect(try await skus(get(client, Self.shelf + "/products?sort=price").json) == ["c", "a", "d", "b"])
            let own = try await get(client, "/v1/stores/s/shelves/y/products?sort=price")
            #expect(own.json["version"] != nil)
            let manual = try await get(client, Self.shelf + "/products?include=descendants&sort=position")
            #expect(manual.status == 400)
            #expect(manual.json["detail"]?.string?.contains("position") == true)
            let whole = try await get(client, Self.shelf + "/order?include=descendants&sort=price")
            #expect(whole.json["ids"]?.text == #"["c","a","d","b"]"#)
            #expect(whole.json["version"] == nil && whole.json["order_version"] == nil)
            let diff = Self.shelf + "/order/diff?include=descendants&from_sort=price&to_sort=-price"
            let moves = try await get(client, diff)
            #expect(moves.json["old_count"] == .number("4"))
            let same = try await get(client, diff, as: nil, [.ifNoneMatch: moves.headers[.eTag]!])
            #expect(same.status == 304)
            for path in ["/order?include=descendants&sort=position", "/events?include=descendants&sort=position"] {
                #expect(try await get(client, Self.shelf + path).status == 400)
            }
            #expect(try await get(client, diff + "&from_sort=x").status == 400)
            // The default of a shelf; a shelf below has what the other has not.
            _ = try await catalog.products.place(SKU("e")!, on: below, in: store)
            let token = try await TestAPI.token("writer", [.catalogWrite])
            let patched = try await client.execute(
                uri: Self.shelf,
                method: .patch,
                headers: [.contentType: "application/merge-patch+json", .authorization: "Bearer " + token],
                body: ByteBuffer(string: #"{"includes_descendants":true}"#)
            )
            #expect(patched.status == .ok)
            #expect(try await get(client, Self.shelf).json["includes_descendants"] == .bool(true))
            #expect(
                try await skus(get(client, Self.shelf + "/products?sort=price").json) == ["e", "c", "a", "d", "b"]
            )
            let unknown = try await get(client, Self.shelf + "/products?include=children")
            #expect(unknown.status == 400)
            let missing = try await get(client, "/v1/stores/s/shelves/none/products?include=descendants")
            #expect(missing.status == 404)
        }
    }

    @Test("A store's products are sorted, filtered and counted on all its shelves, and otherwise listed by SKU")
    func allShelves() async throws {
        try await withServer { client, catalog in
            let (store, other) = (CatalogKey("s")!, CatalogKey("y")!)
            _ = try await catalog.shelves.put(Shelf(key: other, title: "Y"), in: store)
            for (id, price) in [("e", Int64(50)), ("loose", 1)] {
                _ = try await catalog.products.put(Product(sku: SKU(id)!, name: id, priceMinor: price), in: store)
            }
            for id in ["a", "e"] { _ = try await catalog.products.place(SKU(id)!, on: other, in: store) }
            let list = "/v1/stores/s/products"
            // A product on no shelf is only in the list by SKU.
            for query in ["", "?total=false"] {
                #expect(try await skus(get(client, list + query).json) == ["a", "b", "c", "d", "e", "loose"])
            }
            let seen = try await pagesOfSeveral(client, list + "?sort=price&limit=2&total=true")
            #expect(seen == ["e", "c", "a", "d", "b"])
            // A page without a sort in its query continues as what it is.
            let counted = try await get(client, list + "?facets=brand,in_stock&limit=3")
            #expect(counted.json["facets"]?["total"] == .number("5"))
            let cursor = try #require(counted.json["page"]?["next_cursor"]?.string)
            let rest = try await skus(get(client, list + "?limit=3&cursor=\(cursor)").json)
            #expect(skus(counted.json).count == 3 && rest.count == 2)
            #expect(Set(skus(counted.json) + rest) == Set(seen))
            #expect(try await skus(get(client, list + "?in_stock=true&sort=-price").json) == ["d", "a", "c", "e"])
            let bySKU = try #require(try await get(client, list + "?limit=2").json["page"]?["next_cursor"]?.string)
            #expect(try await skus(get(client, list + "?limit=2&cursor=\(bySKU)").json) == ["c", "d"])
            for (query, part) in [
                ("sort=position", "position"), ("sort=price&sku=a", "sku names"),
                ("sort=price&include=descendants", "include"),
                ("sort=cheapest", "cheapest"), ("sku=a&cursor=x", "cursor"), ("sort=price&cursor=\(bySKU)", "cursor"),
                ("total=yes", "total"),
            ] {
                let answer = try await get(client, list + "?" + query)
                #expect(answer.status == 400, "\(query)")
                #expect(answer.json.text.contains(part), "\(query): \(answer.json.text)")
            }
            #expect(try await get(client, "/v1/stores/none/products?sort=price").status == 404)
        }
    }

    @Test("Facet counts match the results of choosing each value")
    func facetsCountPickerChoices() async throws {
        try await withServer { client, _ in
            let answer = try await get(
                client,
                Self.shelf + "/products?facets=brand,tag,in_stock,price&in_stock=true&brand=Zott&brand=None"
            )
            let facets = answer.json["facets"]?.text
            #expect(
                facets
                    == #"{"total":1,"brand":{"values":[{"value":"","count":1,"selected":false},{"value":"Arla","count":1,"selected":false},"#
                    + #"{"value":"Zott","count":1,"selected":true},{"value":"None","count":0,"selected":true}],"more":0},"#
                    + #""tag":{"values":[{"value":"","count":1,"selected":false}],"more":0},"#
                    + #""in_stock":{"values":[{"value":true,"count":1,"selected":true},{"value":false,"count":0,"selected":false}]},"#
                    + #""price":{"min":"2.00","max":"2.00","buckets":[{"price_min":null,"price_max":null,"count":1}],"unpriced":0}}"#,
                "\(facets ?? "none")"
            )
            #expect(try await get(client, Self.shelf + "/products").json["facets"] == nil)
        }
    }

    @Test("Orders and diffs of a filter contain the matching products only")
    func ordersAndDiffsAreFiltered()
        async throws
    {
        try await withServer { client, _ in
            let order = try await get(client, Self.shelf + "/order?sort=price&in_stock=true")
            #expect(strings(order.json["ids"]) == ["c", "a", "d"])
            let manual = try await get(client, Self.shelf + "/order?sort=position&in_stock=true")
            #expect(strings(manual.json["ids"]) == ["a", "c", "d"])
            // Its entity tag depends on more than the order; edits are conditional on the order's version.
            let whole = try await get(client, Self.shelf + "/order?sort=position").headers[.eTag]!
            #expect(manual.headers[.eTag] != whole)
            #expect(manual.headers[.eTag]!.hasPrefix(whole.dropLast()))
            let moved = try await client.execute(
                uri: Self.shelf + "/order/moves",
                method: .post,
                headers: [.contentType: "application/json", .ifMatch: manual.headers[.eTag]!],
                body: ByteBuffer(string: #"{"moves":[{"ids":["a"],"place":"first"}]}"#)
            )
            #expect(moved.status == .ok)
            let diff = try await get(client, Self.shelf + "/order/diff?from_sort=price&to_sort=name&in_stock=true")
            #expect(diff.json["old_count"] == .number("3"))
            #expect(strings(diff.json["moves"]).count == 1)
            #expect(diff.json["filter"]?["terms"]?.text == #"{"in_stock":true}"#)
            let tag = diff.headers[.eTag]!
            let others = Self.shelf + "/order/diff?from_sort=price&to_sort=name"
            #expect(try await get(client, others, as: nil, [.ifNoneMatch: tag]).status == 200)
            #expect(try await get(client, others + "&in_stock=true", as: nil, [.ifNoneMatch: tag]).status == 304)
            let from = try await send(
                client,
                .post,
                Self.shelf + "/order/diff?brand=Arla",
                #"{"from":["a","b","c","d"],"to_sort":"price"}"#,
                as: "ann"
            )
            #expect(from.json["new_count"] == .number("2"))
            #expect(from.json["deletes"]?.text.contains("\"d\"") == true)
        }
    }

    @Test("A remembered sort includes its filter")
    func rememberedSortIncludesFilter() async throws {
        try await withServer { client, _ in
            let own = "/v1/me/stores/s/shelves/x/sort"
            let put = try await send(
                client,
                .put,
                own,
                #"{"sort":"-price","filter":{"in_stock":true,"brand":"Arla"},"transition_limit":9}"#,
                as: "ann"
            )
            #expect(put.status == 200)
            #expect(put.json["filter"]?.text == #"{"brand":["Arla"],"in_stock":true}"#)
            // From name, available first (a c d b), to the one product that remains.
            #expect(put.json["transition"]?["new_count"] == .number("1"))
            #expect(put.json["transition"]?["deletes"]?.text.contains("\"b\"") == true)
            let setting = try await get(client, own, as: "ann")
            #expect(setting.json["sort"] == .string("-price"))
            #expect(setting.json["filter"] == put.json["filter"])
            let path = Self.shelf + "/products"
            let page = try await get(client, path, as: "ann")
            #expect(skus(page.json) == ["a"])
            #expect(page.json["filter"]?["source"] == .string("user"))
            // A filter in the request replaces the remembered one; a sort in the request ignores it.
            #expect(try await skus(get(client, path + "?in_stock=false", as: "ann").json) == ["b"])
            #expect(try await skus(get(client, path + "?sort=name", as: "ann").json) == ["a", "c", "d", "b"])
            #expect(try await skus(get(client, path, as: "bob").json) == ["a", "c", "d", "b"])
            let shelf = try await get(client, Self.shelf, as: "ann", [.acceptLanguage: "ru"])
            // A value that was read can be sent back.
            let back = try await client.execute(
                uri: Self.shelf,
                method: .put,
                headers: [.contentType: "application/json"],
                body: ByteBuffer(string: shelf.json.text)
            )
            #expect(back.status == .ok, "\(String(buffer: back.body))")
            let long = (0..<100).map { "\"\($0)" + String(repeating: "b", count: 200) + "\"" }.joined(separator: ",")
            let tooLong = try await send(
                client,
                .put,
                own,
                "{\"sort\":\"price\",\"filter\":{\"brand\":[\(long)]}}",
                as: "ann"
            )
            #expect(tooLong.status == 400)
            #expect(tooLong.json.text.contains("4096"))
            let options = try #require(shelf.json["filter_options"]?.elements)
            #expect(options.count == FilterKey.allCases.count)
            let stock = options.first { $0["filter"] == .string("in_stock") }
            #expect(stock?["title"] == .string("В наличии"))
            #expect(stock?["selected"] == .bool(true))
            // Without the shelf's value the store's applies; an invalid value is rejected.
            _ = try await send(client, .delete, own, "", as: "ann")
            let wide = "/v1/me/settings/stores/s/sort"
            let value = #"{"value":{"sort":"price","filter":{"price_max":"2"}}}"#
            #expect(try await send(client, .put, wide, value, as: "ann").status == 200)
            #expect(try await skus(get(client, path, as: "ann").json) == ["c", "b"])
            for wrong in [
                #"{"value":{"filter":{}}}"#, #"{"value":{"sort":"price","filter":{"colour":"red"}}}"#,
                #"{"value":{"sort":"price","limit":3}}"#, #"{"value":{"sort":"prices"}}"#,
            ] { #expect([400, 422].contains(try await send(client, .put, wide, wrong, as: "ann").status), "\(wrong)") }
            #expect(try await skus(get(client, path, as: "ann").json) == ["c", "b"])
        }
    }
}
