import Catalog
import CatalogHTTP
import HTTPTypes
import Testing

/// How long the tokens are valid that the server issues.
@Suite(.timeLimit(.minutes(15))) struct LifetimeTests {
    private static func time(_ name: String, _ response: MemoryAPI.Response) throws -> Int64 {
        let text = try #require(response.text(name))
        return try #require(Timestamp(rfc3339: text)).microseconds
    }

    @Test("A ticket is valid for 30 seconds")
    func tickets() async throws {
        let api = await MemoryAPI()
        let before = Timestamp.now().microseconds
        let response = try await api.send(.post, "/v1/me/tickets", "")
        let after = Timestamp.now().microseconds
        let end = try Self.time("expires_at", response)
        // Times in responses may be rounded down to the millisecond.
        #expect((before + 29_999_000...after + 30_000_000).contains(end))
    }

    @Test("A share is valid for 30 days")
    func shares() async throws {
        let api = await MemoryAPI()
        let list = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).text("id"))
        let response = try await api.send(.post, "/v1/me/lists/\(list)/shares", "")
        let (start, end) = (try Self.time("created_at", response), try Self.time("expires_at", response))
        #expect(end - start == 30 * 86_400_000_000)
    }
}
