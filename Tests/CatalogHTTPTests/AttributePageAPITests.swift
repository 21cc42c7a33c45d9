import Catalog
import HTTPTypes
import JSON
import TestSupport
import Testing

/// Sorts, filters and facets by attributes through the API, on the in-memory catalog.
@Suite(.timeLimit(.minutes(2))) struct AttributePageAPITests {
    private static let shelf = "/v1/stores/s/shelves/dairy"
    private static let pages = shelf + "/products"

    /// Returns a catalog in which milk has 4.5 stars and nuts, brie 3 stars and no allergens, and curd neither.
    private static func api() async throws -> MemoryAPI {
        let api = try await MemoryAPI.withShelf()
        for (name, body) in [
            ("rating", #"{"type":"number","decimals":1,"natural":"desc","title":{"en":"Rating","hr":"Ocjena"}}"#),
            ("allergens", #"{"type":"set","values":[{"key":"nuts"},{"key":"milk"}]}"#), ("origin", #"{"type":"text"}"#),
        ] {
            #expect(try await api.send(.put, "/v1/stores/s/attributes/\(name)", body).status == 201)
        }
        for (sku, attributes) in [
            ("milk", #"{"rating":4.5,"allergens":["nuts"],"origin":"Istria"}"#),
            ("brie", #"{"rating":3,"allergens":[]}"#),
        ] {
            let body = #"{"attributes":\#(attributes)}"#
            #expect(try await api.send(.patch, "/v1/stores/s/products/\(sku)", body).status == 200)
        }
        return api
    }

    @Test("Pages, orders and diffs take attributes as sorts and filters")
    func sortsAndFilters() async throws {
        let api = try await Self.api()
        let page = try await api.send(.get, Self.pages + "?sort=-rating&limit=1")
        #expect(page.json["sort"]?["keys"] == .string("-rating"))
        #expect(page.texts("products", "sku") == ["milk"])
        let next = String(try #require(page.headers[.init("Link")!]).split(separator: ">")[0].dropFirst())
        #expect(try await api.send(.get, next).texts("products", "sku") == ["brie"])
        for (query, skus) in [
            ("rating_min=4", ["milk"]), ("attributes.rating_max=4.0", ["brie"]), ("rating=", ["curd"]),
            ("allergens_none=nuts", ["brie"]), ("allergens_any=", ["brie"]),
            ("origin=Istria&origin=", ["milk", "brie", "curd"]),
        ] {
            let found = try await api.send(.get, Self.pages + "?sort=-rating&\(query)")
            #expect(found.texts("products", "sku") == skus, "\(query)")
            #expect(
                try await api.send(.get, Self.shelf + "/order?sort=-rating&\(query)").texts("ids") == skus,
                "\(query)"
            )
            #expect(
                try await api.send(.get, "/v1/stores/s/products?sort=-rating&\(query)").texts("products", "sku") == skus
            )
        }
        let filtered = try await api.send(.get, Self.pages + "?rating_min=4.0")
        #expect(filtered.json["filter"]?["terms"]?.text == #"{"rating_min":"4"}"#)
        let diff = try await api.send(.get, Self.shelf + "/order/diff?from_sort=name&to_sort=-rating")
        #expect(diff.status == 200)
        let tag = try #require(page.headers[.eTag])
        let again = try await api.send(.get, Self.pages + "?sort=-rating&limit=1", nil, ["If-None-Match": tag])
        #expect(again.status == 304)
    }

    @Test("An unknown attribute is refused with the name of the parameter, and a hint")
    func unknown() async throws {
        let api = try await Self.api()
        for (path, parameter, hint) in [
            (Self.pages + "?sort=ratng", "sort", "rating"), (Self.pages + "?ratng_min=1", "ratng_min", "rating_min"),
            (Self.pages + "?lmit=1", "lmit", "limit"), (Self.pages + "?facets=ratng", "facets", "rating"),
            (Self.shelf + "/order?sort=ratng", "sort", "rating"),
            ("/v1/stores/s/products?ratng_min=1", "ratng_min", "rating_min"),
            (Self.shelf + "/order/diff?from_sort=ratng&to_sort=name", "from_sort", "rating"),
            (Self.shelf + "/order/diff?from_sort=name&to_sort=ratng", "to_sort", "rating"),
        ] {
            let problem = try await api.send(.get, path)
            #expect(problem.status == 400, "\(path)")
            #expect(problem.text("parameter") == parameter && problem.text("hint") == hint, "\(path)")
        }
    }

    @Test("An unknown parameter has the name that was written, and the parameters of its endpoint")
    func unknownParameters() async throws {
        let api = try await Self.api()
        let products = "/v1/stores/s/products"
        for (path, parameter, hint, other) in [
            (Self.pages + "?lmit=1", "lmit", "limit", nil), (Self.shelf + "/order?limit=5", "limit", nil, "total"),
            (Self.shelf + "/order?totl=1", "totl", nil, "total"),
            (Self.shelf + "/order?attributes.limit=5", "attributes.limit", nil, "limit"),
            (Self.shelf + "/order/diff?from_sort=name&to_sort=price&sort=price", "sort", nil, "sort"),
            (Self.shelf + "/order?members=true", "members", nil, "members"),
            (Self.shelf + "/order/diff?from_sort=name&to_sort=price&facets=brand", "facets", nil, "facets"),
            (Self.shelf + "/events?cursor=x", "cursor", nil, "cursor"),
            (Self.shelf + "/events?facets=brand", "facets", nil, "facets"),
            (Self.shelf + "/events?members=true", "members", nil, "members"),
            (Self.shelf + "/events?total=true", "total", nil, "total"),
            (products + "?include=descendants", "include", nil, "include"),
            (products + "?include=bogus&sku=milk", "include", nil, "include"),
            (products + "?q=milk&include=descendants", "include", nil, "include"),
            (products + "?sku=milk&fields=name", "fields", nil, "rating_min"),
            (products + "?sku=milk&rating_min=4", "rating_min", nil, "rating_min"),
            (products + "?barcode=4006381333931&fields=name", "fields", nil, "rating_min"),
        ] as [(String, String, String?, String?)] {
            let problem = try await api.send(.get, path)
            #expect(problem.status == 400 && problem.text("parameter") == parameter, "\(path)")
            #expect(problem.text("detail")?.hasPrefix("unknown query parameter") == true, "\(path)")
            if let hint { #expect(problem.text("hint") == hint, "\(path)") }
            let allowed = problem.texts("allowed")
            #expect(allowed.contains("in_stock"), "\(path)")
            if let other { #expect(!allowed.contains(other), "\(path)") }
        }
        #expect(try await api.send(.get, Self.pages + "?lmit=1").texts("allowed").contains("limit"))
        // Lists by SKU and pages of a store give the same error.
        for query in ["?include=descendants", "?include=bogus", "?q=milk&include=descendants", "?barcode=1&include="] {
            let detail = try await api.send(.get, products + query).text("detail")
            #expect(
                detail
                    == "unknown query parameter; this request does not take “include”, a parameter of pages; remove it",
                "\(query)"
            )
        }
        for query in ["?sort=price", "?facets=brand", "?total=true", "?members=true", "?cursor=x", "?limit=1"] {
            let problem = try await api.send(.post, Self.shelf + "/order/rank" + query, #"{"skus":[]}"#)
            #expect(
                problem.status == 400 && problem.text("detail")?.contains("a parameter of pages; remove it") == true,
                "\(query)"
            )
        }
        #expect(try await api.send(.get, "/v1/stores/s/suggest?q=m&include=descendants").status == 400)
        #expect(try await api.send(.get, Self.shelf + "/order?totl=1").text("hint") != "total")
        let ann = ["Authorization": "Bearer \(api.token(of: "ann"))"]
        let body = #"{"sort":"price","filter":{"ratng_min":1}}"#
        let problem = try await api.send(.put, "/v1/me/stores/s/shelves/dairy/sort", body, ann)
        #expect(problem.text("parameter") == "filter.ratng_min" && problem.text("hint") == "rating_min")
        #expect(problem.text("detail") == "unknown filter “ratng_min”")
    }

    @Test("Facets count attributes, with ranges, and values that are unknown apart")
    func facets() async throws {
        let api = try await Self.api()
        let page = try await api.send(.get, Self.pages + "?facets=rating,allergens,origin&allergens_any=nuts")
        #expect(
            page.json["facets"]?["rating"]?.text
                == #"{"type":"number","min":"4.5","max":"4.5","buckets":[{"min":null,"max":null,"count":1}],"unknown":0}"#
        )
        #expect(
            page.json["facets"]?["allergens"]?.text
                == #"{"type":"set","values":[{"value":"","count":1,"selected":false},{"value":"nuts","count":1,"selected":true}],"more":0,"unknown":1}"#
        )
        #expect(page.json["facets"]?["origin"]?["values"]?.elements?.count == 1)
        // The counts of a facet obey a requirement of the same attribute.
        let without = try await api.send(.get, Self.pages + "?allergens_none=nuts&facets=allergens")
        #expect(
            without.json["facets"]?["allergens"]?.text
                == #"{"type":"set","values":[{"value":"","count":1,"selected":false}],"more":0,"unknown":0}"#
        )
        let nine = "abcdefghi".map { "\($0)" }.joined(separator: ",")
        #expect(try await api.send(.get, Self.pages + "?facets=\(nine)").text("parameter") == "facets")
    }

    @Test("A facet has all values of an enum in their declared order")
    func enums() async throws {
        let api = try await Self.api()
        let keys = (1...150).map { "v\(150 - $0)" }
        let values = keys.map { #"{"key":"\#($0)"}"# }.joined(separator: ",")
        let declared = try await api.send(
            .put,
            "/v1/stores/s/attributes/grade",
            #"{"type":"enum","values":[\#(values)]}"#
        )
        #expect(declared.status == 201)
        _ = try await api.send(.patch, "/v1/stores/s/products/milk", #"{"attributes":{"grade":"v1"}}"#)
        let page = try await api.send(.get, Self.pages + "?facets=grade&grade=v3&grade=v149")
        let facet = page.json["facets"]?["grade"]
        #expect(facet?["more"]?.text == "0" && facet?["unknown"]?.text == "2")
        let counts = facet?["values"]?.elements ?? []
        #expect(counts.compactMap { $0["value"]?.text } == keys.map { "\"\($0)\"" })
        let found = counts.filter { $0["count"]?.text != "0" || $0["selected"] == .bool(true) }.map(\.text)
        #expect(
            found == [
                #"{"value":"v149","count":0,"selected":true}"#, #"{"value":"v3","count":0,"selected":true}"#,
                #"{"value":"v1","count":1,"selected":false}"#,
            ]
        )
    }

    @Test("A filter by attributes is remembered only with consent, and a view by a deleted attribute is ignored")
    func rememberedSorts() async throws {
        let api = try await Self.api()
        let ann = ["Authorization": "Bearer \(api.token(of: "ann"))"]
        let path = "/v1/me/stores/s/shelves/dairy/sort"
        let view = #""sort":"-rating","filter":{"rating_min":4,"in_stock":true}"#
        let without = try await api.send(.put, path, "{\(view)}", ann)
        #expect(without.json["filter"]?.text == #"{"in_stock":true}"#)
        let with = try await api.send(.put, path, "{\(view),\"remember_attributes\":true}", ann)
        #expect(with.json["filter"]?.text == #"{"in_stock":true,"rating_min":"4"}"#)
        let again = try await api.send(.put, path, String(decoding: with.body, as: UTF8.self), ann)
        #expect(again.json["filter"] == with.json["filter"], "a client may send back what it read")
        let page = try await api.send(.get, Self.pages, nil, ann)
        #expect(page.texts("products", "sku") == ["milk"])
        #expect(page.json["sort"]?.text == #"{"keys":"-rating","source":"user"}"#)
        for body in [
            #"{"sort":"ratng"}"#, #"{"sort":"price","filter":{"ratng_min":1},"remember_attributes":true}"#,
            #"{"sort":"price","filter":{"in_stok":true}}"#, #"{"sort":"price","filter":{"rating_min":"abc"}}"#,
        ] {
            #expect(try await api.send(.put, path, body, ann).status == 400, "\(body)")
        }
        let setting = "/v1/me/settings/stores/s/sort"
        #expect(try await api.send(.put, setting, #"{"value":"ratng"}"#, ann).text("parameter") == "value")
        let inner = #"{"value":{"sort":"ratng"}}"#
        #expect(try await api.send(.put, setting, inner, ann).text("parameter") == "value.sort")
        #expect(try await api.send(.put, setting, #"{"value":{\#(view)}}"#, ann).status == 422)
        #expect(
            try await api.send(.put, setting, #"{"value":{\#(view),"remember_attributes":true}}"#, ann).status == 200
        )
        #expect(try await api.send(.delete, "/v1/stores/s/attributes/rating?confirm=rating").status == 204)
        let ignored = try await api.send(.get, Self.pages, nil, ann)
        #expect(ignored.json["sort"]?.text == #"{"keys":"-popularity","source":"system","ignored":"user"}"#)
        let order = try await api.send(.get, Self.shelf + "/order", nil, ann)
        #expect(order.text("sort") == "-popularity" && order.text("source") == "system")
        #expect(order.text("ignored") == "user")
        let ranks = try await api.send(.post, Self.shelf + "/order/rank", #"{"skus":["milk"]}"#, ann)
        #expect(ranks.json["sort"] == ignored.json["sort"] && ranks.json["of"] == .integer(3))
        // A request that names its sort ignores nothing.
        let named = try await api.send(.get, Self.shelf + "/order?sort=price", nil, ann)
        #expect(named.status == 200 && named.json["ignored"] == nil)
        #expect(try await api.send(.get, path, nil, ann).text("sort") == "-rating")
        let picker = try await api.send(.get, Self.shelf, nil, ann)
        #expect(picker.texts("sort_options", "selected").count { $0 == "true" } == 1)
    }

    @Test("A picker has the attributes with their titles")
    func pickers() async throws {
        let api = try await Self.api()
        let picker = try await api.send(.get, Self.shelf, nil, ["Accept-Language": "hr"])
        #expect(picker.texts("sort_options", "title").contains("Ocjena: high to low"))
        let filters = try #require(picker.json["filter_options"]?.elements)
        let allergens = try #require(filters.first { $0["filter"] == .string("allergens_none") })
        #expect(
            allergens.text
                == #"{"filter":"allergens_none","title":"allergens: none of","type":"set","repeatable":true,"selected":null,"values":[{"value":"nuts","title":"nuts"},{"value":"milk","title":"milk"}]}"#
        )
    }

    @Test("The default sort of a shelf or a store must be a known one")
    func defaultSorts() async throws {
        let api = try await Self.api()
        let bodies = [
            Self.shelf: #"{"default_sort":"ratng"}"#, "/v1/stores/s": #"{"currency":"EUR","default_sort":"ratng"}"#,
        ]
        for (path, body) in bodies {
            let wrong = try await api.send(.put, path, body)
            #expect(wrong.text("parameter") == "default_sort" && wrong.text("hint") == "rating", "\(path)")
        }
        #expect(
            try await api.send(.patch, Self.shelf, #"{"default_sort":"-rating"}"#).text("default_sort") == "-rating"
        )
        let page = try await api.send(.get, Self.pages)
        #expect(page.json["sort"]?.text == #"{"keys":"-rating","source":"shelf"}"#)
        let copied = try await api.send(.put, Self.shelf + "/order", #"{"from_sort":"-rating"}"#)
        #expect(copied.status == 200)
        #expect(
            try await api.send(.put, Self.shelf + "/order", #"{"from_sort":"ratng"}"#).text("parameter") == "from_sort"
        )
    }
}
