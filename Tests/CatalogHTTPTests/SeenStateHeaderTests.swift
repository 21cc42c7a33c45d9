import Catalog
import CatalogJSON
import HTTPTypes
import InMemoryCatalog
import Testing

@testable import CatalogHTTP

/// The header `Aisle-Seen`.
@Suite("States after writes", .timeLimit(.minutes(2))) struct SeenStateHeaderTests {
    private static let page = "/v1/stores/s/shelves/dairy/products?sort=price"
    /// The token of all states in memory.
    private static let token = Base64URL.encode(InMemoryCatalog.state.bytes)
    private static let seen = HTTPField.Name("Aisle-Seen")!

    @Test("Every successful write returns the token of the state after it, and reads return none")
    func writesAnswerTokens() async throws {
        let api = try await MemoryAPI.withShelf()
        let writes: [(HTTPRequest.Method, String, String?)] = [
            (.put, "/v1/stores/s", #"{"title":"S","currency":"EUR"}"#),
            (.patch, "/v1/stores/s/products/milk", #"{"price_minor":130}"#),
            (.post, "/v1/stores/s/shelves/dairy/order/moves", #"{"moves":[{"ids":["milk"],"place":"first"}]}"#),
            (.put, "/v1/me/settings/colour", #"{"value":"red"}"#),
            (.delete, "/v1/me/settings/colour", nil),
        ]
        for (method, path, body) in writes {
            let response = try await api.send(method, path, body)
            #expect((200..<300).contains(response.status), "\(path): \(response.status)")
            #expect(response.headers[Self.seen] == Self.token, "\(path)")
        }
        for path in [Self.page, "/v1/stores", "/v1/me/settings"] {
            #expect(try await api.send(.get, path).headers[Self.seen] == nil)
        }
    }

    @Test("A conflict returns the token of the state that it is about, and other errors return none")
    func conflictsAnswerTokens() async throws {
        let api = try await MemoryAPI.withShelf()
        let moves = "/v1/stores/s/shelves/dairy/order/moves"
        let body = #"{"moves":[{"ids":["milk"],"place":"first"}]}"#
        let stale = try await api.send(.post, moves, body, ["If-Match": "\"order-999\""])
        #expect(stale.status == 412)
        #expect(stale.headers[Self.seen] != nil)
        let malformed = try await api.send(.post, moves, "{")
        #expect(malformed.status == 400)
        #expect(malformed.headers[Self.seen] == nil)
    }

    @Test("A token can be sent with every request, and several with one")
    func tokensAreAccepted() async throws {
        let api = try await MemoryAPI.withShelf()
        let token = Self.token
        for header in [token, "\(token),\(token)", "\(token) , \(token)"] {
            #expect(try await api.send(.get, Self.page, nil, ["Aisle-Seen": header]).status == 200)
            #expect(try await api.send(.get, "/v1/stores", nil, ["Aisle-Seen": header]).status == 200)
        }
    }

    @Test(
        "A value that is not a token is a malformed request that names the header",
        arguments: ["", "x", "0/16B3740", "AA", "\(token),x"]
    )
    func rejectsOtherValues(value: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let response = try await api.send(.get, Self.page, nil, ["Aisle-Seen": value])
        #expect(response.status == 400)
        #expect(response.text("type") == "/problems/malformed-request")
        #expect(response.text("detail")?.contains("Aisle-Seen") == true)
    }

    @Test("Too many tokens are a malformed request")
    func limitsTokens() async throws {
        let api = try await MemoryAPI.withShelf()
        let value = Array(repeating: Self.token, count: 17).joined(separator: ",")
        #expect(try await api.send(.get, Self.page, nil, ["Aisle-Seen": value]).status == 400)
    }

    @Test("CORS allows the header in requests and exposes it in responses")
    func corsNamesTheHeader() async throws {
        let api = await MemoryAPI { $0.origins = ["https://shop.example"] }
        let response = try await api.send(
            .options,
            Self.page,
            nil,
            as: nil,
            ["Origin": "https://shop.example", "Access-Control-Request-Method": "GET"]
        )
        #expect(response.headers[.accessControlAllowHeaders]?.contains("Aisle-Seen") == true)
        #expect(response.headers[.accessControlExposeHeaders]?.contains("Aisle-Seen") == true)
    }

    @Test("Only pages of products, orders of shelves, their diffs and ranks may come from replicas")
    func replicasAnswerShelfReads() async {
        let api = await MemoryAPI().api
        let paths = Set(api.table.endpoints.filter(\.readsReplicas).map { "\($0.method.rawValue) \($0.path)" })
        let shelf = "/v1/stores/{store}/shelves/{shelf}"
        #expect(
            paths == [
                "GET \(shelf)/products", "GET \(shelf)/order", "GET \(shelf)/order/diff", "POST \(shelf)/order/diff",
                "POST \(shelf)/order/rank",
                "GET /v1/stores/{store}/products",
            ]
        )
        #expect(api.table.endpoints.allSatisfy { !$0.readsReplicas || $0.isReadOnly })
    }
}
