import Catalog
import Testing

@testable import CatalogPostgres

/// Re-sort requests as stored in the history.
@Suite(.timeLimit(.minutes(15))) struct ResortRequestTextTests {
    @Test("A request survives writing and reading")
    func requestsSurvive() throws {
        var request = ResortRequest(
            store: CatalogKey("corner"),
            shelves: [CatalogKey("dairy")!, CatalogKey("bread")!],
            changedSince: Timestamp(rfc3339: "2026-03-01T09:30:00Z"),
            diffs: .jsonPatch,
            jobs: 8,
            retentionDays: 30
        )
        #expect(ResortRequest(text: request.text) == request)
        request = ResortRequest()
        #expect(ResortRequest(text: request.text) == request)
    }

    @Test("Out-of-range numbers are clamped to their limits")
    func numbersAreLimited() throws {
        let request = try #require(ResortRequest(text: #"{"jobs":1000,"kept_days":0}"#))
        #expect(request.jobs == ResortRequest.jobsLimit)
        #expect(request.retentionDays == 1)
    }

    @Test(
        "Invalid request text is rejected",
        arguments: [
            "", "[]", "{", #"{"diff":"all"}"#, #"{"store":5}"#, #"{"store":"a b"}"#, #"{"shelves":"x"}"#,
            #"{"shelves":["x",1]}"#,
            #"{"changed_since":"yesterday"}"#, #"{"jobs":"2"}"#, #"{"kept_days":1.5}"#,
        ]
    )
    func othersAreNotRead(_ text: String) {
        #expect(ResortRequest(text: text) == nil)
    }
}
