import Catalog
import CatalogJSON
import Testing

/// Requests of re-sorts as the history keeps them.
@Suite(.timeLimit(.minutes(1))) struct ResortRequestTextTests {
    @Test("A request is read as it was written")
    func requestsSurvive() throws {
        var request = ResortRequest(
            store: CatalogKey("corner"),
            shelves: [CatalogKey("dairy")!, CatalogKey("bread")!],
            changedSince: Timestamp(rfc3339: "2026-03-01T09:30:00Z"),
            diffs: .jsonPatch,
            jobs: 8,
            keptDays: 30
        )
        #expect(ResortRequest(text: request.text) == request)
        request = ResortRequest()
        #expect(ResortRequest(text: request.text) == request)
    }

    @Test("Numbers beyond their limits are brought back into them")
    func numbersAreLimited() throws {
        let request = try #require(ResortRequest(text: #"{"jobs":1000,"kept_days":0}"#))
        #expect(request.jobs == ResortRequest.jobsLimit)
        #expect(request.retentionDays == 1)
    }

    @Test("A text that is not such a request is not read", arguments: ["", "[]", "{", #"{"diff":"all"}"#])
    func othersAreNotRead(_ text: String) {
        #expect(ResortRequest(text: text) == nil)
    }
}
