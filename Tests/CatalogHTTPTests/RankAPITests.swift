import HTTPTypes
import JSON
import Testing

/// The requests and responses of ranks.
@Suite struct RankAPITests {
    private static let path = "/v1/stores/s/shelves/dairy/order/rank"

    @Test("Ranks have the order, its size, and each product with its reason")
    func ranks() async throws {
        let api = try await MemoryAPI.withShelf()
        let found = try await api.send(
            .post,
            Self.path + "?price_max=2.00",
            #"{"skus":["milk","brie","x"],"sort":"price"}"#
        )
        #expect(found.status == 200 && found.headers[.cacheControl] == "no-store")
        #expect(found.json["of"] == .integer(2) && found.json["sort"]?["keys"] == .string("price"))
        #expect(found.json["version"] != nil && found.json["filter"] != .null && found.json["dimension"] == nil)
        guard case .array(let products)? = found.json["products"] else {
            Issue.record("no products: \(found.text("detail") ?? "")")
            return
        }
        #expect(
            products.map(\.text) == [
                #"{"sku":"milk","reason":"shown","rank":0,"neighbours":{"before":null,"after":"curd"},"filters":[],"tuple":[{"key":"in_stock","value":true},{"key":"price","value":129},{"key":"name","value":"Milk"},{"key":"sku","value":"milk"}]}"#,
                #"{"sku":"brie","reason":"filtered_out","rank":null,"neighbours":{"before":null,"after":null},"filters":["price_max"],"tuple":[{"key":"in_stock","value":true},{"key":"price","value":399},{"key":"name","value":"Brie"},{"key":"sku","value":"brie"}]}"#,
                #"{"sku":"x","reason":"not_on_shelf","rank":null,"neighbours":{"before":null,"after":null},"filters":[],"tuple":[]}"#,
            ]
        )
    }

    @Test("Ranks by unit price have the dimension that comes first")
    func dimension() async throws {
        let api = try await MemoryAPI.withShelf()
        let size = #"{"size":{"amount":"500","unit":"ml"}}"#
        #expect(try await api.send(.patch, "/v1/stores/s/products/milk", size).status == 200)
        let shelf = #"{"title":"Dairy","dimension":"volume"}"#
        #expect(try await api.send(.put, "/v1/stores/s/shelves/dairy", shelf).status == 200)
        let found = try await api.send(.post, Self.path, #"{"skus":["milk"],"sort":"-unit_price"}"#)
        #expect(found.json["dimension"] == .string("volume"))
        guard case .array(let products)? = found.json["products"] else {
            Issue.record("no products: \(found.text("detail") ?? "")")
            return
        }
        #expect(
            products.first?.text.contains(#"{"key":"unit_price","value":{"dimension":"volume","value":"0.258"}}"#)
                == true
        )
    }

    @Test("With descendants, the order is that of several shelves, which have no version")
    func descendants() async throws {
        let api = try await MemoryAPI.withShelf()
        let found = try await api.send(.post, Self.path + "?include=descendants", #"{"skus":["milk"],"sort":"-price"}"#)
        #expect(found.status == 200 && found.json["version"] == nil && found.json["of"] == .integer(3))
        let manual = try await api.send(.post, Self.path + "?include=descendants", #"{"skus":[],"sort":"position"}"#)
        #expect(manual.status == 400)
    }

    @Test("A repeated request with a key has the first response, and another one is refused")
    func repeats() async throws {
        let api = try await MemoryAPI.withShelf()
        let body = #"{"skus":["milk"],"sort":"price"}"#
        let first = try await api.send(.post, Self.path, body, ["Idempotency-Key": "k"])
        #expect(try await api.send(.patch, "/v1/stores/s/products/milk", #"{"price_minor":9}"#).status == 200)
        #expect(try await api.send(.post, Self.path, body, ["Idempotency-Key": "k"]).body == first.body)
        #expect(try await api.send(.post, Self.path, body).body != first.body)
        let other = try await api.send(.post, Self.path, #"{"skus":["curd"]}"#, ["Idempotency-Key": "k"])
        #expect(other.status == 422)
    }

    @Test(
        "Invalid requests are refused",
        arguments: [
            ("", "{}", 400), ("", #"{"skus":"milk"}"#, 400), ("", #"{"skus":[],"limit":1}"#, 400),
            ("", #"{"skus":[],"sort":"cheapest"}"#, 400), ("?limit=1", #"{"skus":[]}"#, 400),
            ("", #"{"skus":[""]}"#, 422),
        ] as [(String, String, Int)]
    )
    func errors(_ query: String, _ body: String, _ status: Int) async throws {
        #expect(try await MemoryAPI.withShelf().send(.post, Self.path + query, body).status == status)
    }
}
