import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CatalogHTTP

/// Every documented read. `AuditAPITests` has every documented write.
@Suite(.timeLimit(.minutes(15))) struct ReadTests {
    @Test("Every documented read returns 200 for what exists")
    func readsSucceed() async throws {
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
        let values = [
            "attribute": "rating", "store": "s", "shelf": "dairy", "sku": "milk", "list": list, "item": item,
            "key": "theme",
            "name": "supplier", "slug": "not-found",
        ]
        let templates = api.api.table.endpoints.filter { $0.operation != nil && $0.method == .get }.map(\.path)
        #expect(templates.count > 25)
        for template in templates.sorted() {
            let path = values.reduce(template) { $0.replacing("{\($1.key)}", with: $1.value) }
            var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
            head.headerFields[.authorization] = "Bearer \(api.token(of: "ann", writes: true))"
            // The body is not read, because that of a stream has no end.
            let response = await api.api.respond(to: Request(head: head, body: RequestBody(buffer: ByteBuffer())))
            #expect(response.status == .ok, "create what \(template) reads")
        }
    }
}
