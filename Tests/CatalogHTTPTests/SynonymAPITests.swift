import HTTPTypes
import Testing

/// The responses to changes of synonyms.
@Suite struct SynonymAPITests {
    @Test(
        "A PUT of the same lists in another order returns the stored ones, with their tag",
        arguments: ["/v1/synonyms", "/v1/stores/s/synonyms"]
    )
    func order(_ path: String) async throws {
        let api = try await MemoryAPI.withShelf()
        let first = try await api.send(.put, path, #"{"synonyms":[["a","b"],["c","d"]]}"#)
        #expect(first.status == 201 && first.headers[.eTag] != nil)
        let second = try await api.send(.put, path, #"{"synonyms":[["c","d"],["a","b"]]}"#)
        #expect(second.status == 200 && second.body == first.body && second.headers[.eTag] == first.headers[.eTag])
        let third = try await api.send(.put, path, #"{"synonyms":[["c","d"]]}"#)
        #expect(third.status == 200 && third.headers[.eTag] != first.headers[.eTag])
    }
}
