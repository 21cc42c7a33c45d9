import Catalog
import HTTPTypes
import JSON
import Testing

@testable import CatalogHTTP

/// The requests and responses of suggestions.
@Suite struct SuggestionAPITests {
    private static let path = "/v1/stores/s/suggest"

    @Test("Suggestions have the query, their kinds, and what they lead to")
    func suggestions() async throws {
        let api = try await MemoryAPI.withShelf()
        let found = try await api.send(.get, Self.path + "?q=mil")
        #expect(found.status == 200 && found.headers[.cacheControl] == "no-store" && found.headers[.eTag] == nil)
        #expect(
            String(decoding: found.body, as: UTF8.self)
                == #"{"query":"mil","suggestions":[{"kind":"word","text":"milk","matches":[{"from":0,"to":3}]},"#
                + #"{"kind":"product","sku":"milk","text":"Milk","matches":[{"from":0,"to":3}]}]}"#
        )
        let shelf = try await api.send(.get, Self.path + "?q=dai")
        #expect(shelf.texts("suggestions", "shelf") == ["dairy"] && shelf.texts("suggestions", "text") == ["Dairy"])
        #expect(try await api.send(.get, Self.path + "?q=arl").texts("suggestions", "kind").contains("brand"))
        // Users are not distinguished, and spaces count as they are typed.
        let spaced = try await api.send(.get, Self.path + "?q=%20brie+")
        #expect(spaced.text("query") == " brie " && spaced.texts("suggestions", "text") == ["Brie"])
    }

    /// Suggestions that took some work.
    private struct WorkingStore: SuggestionStore {
        let hasRead: Bool
        let indexedProducts: Int

        func suggestions(for request: SuggestionRequest) async throws(CatalogError) -> FoundSuggestions {
            FoundSuggestions([], hasRead: hasRead, indexedProducts: indexedProducts)
        }
    }

    @Test(
        "A request that reads the shelves costs as much as a page of them, and more for an index",
        arguments: [(false, 0, 2), (true, 0, 6), (true, 3_000, 9)]
    )
    func cost(_ hasRead: Bool, _ products: Int, _ points: Int) async throws {
        let store = WorkingStore(hasRead: hasRead, indexedProducts: products)
        let now = ContinuousClock.now
        let api = await MemoryAPI(suggestions: store) {
            $0.rateLimit = RateLimitPolicy("100/1")
            $0.clock = { now }
        }
        let found = try await api.send(.get, Self.path + "?q=mil")
        let quota = try #require(found.headers[.init("RateLimit")!])
        #expect(found.status == 200 && quota.hasPrefix(#""default";r=\#(100 - points);"#), "\(quota)")
    }

    @Test("A text without a word has no suggestions, and a limit restricts them")
    func limits() async throws {
        let api = try await MemoryAPI.withShelf()
        for query in ["", "?q=", "?q=-"] {
            let found = try await api.send(.get, Self.path + query)
            #expect(found.status == 200 && found.texts("suggestions").isEmpty, "\(query)")
        }
        #expect(try await api.send(.get, Self.path + "?q=mil&limit=1").texts("suggestions", "kind") == ["product"])
        #expect(try await api.send(.get, Self.path + "?q=mil&limit=20").texts("suggestions").count == 2)
    }

    @Test(
        "Wrong parameters are malformed, and an unknown store is not found",
        arguments: [
            ("/v1/stores/s/suggest?q=mil&limit=0", 400, "limit"), ("/v1/stores/s/suggest?q=mil&limit=21", 400, "limit"),
            ("/v1/stores/s/suggest?q=a%20b%20c%20d%20e%20f%20g%20h%20i", 400, "q"),
            ("/v1/stores/s/suggest?q=a&q=b", 400, "q"), ("/v1/stores/s/suggest?text=a", 400, "text"),
            ("/v1/stores/none/suggest?q=mil", 404, nil),
        ] as [(String, Int, String?)]
    )
    func errors(_ path: String, _ status: Int, _ parameter: String?) async throws {
        let found = try await MemoryAPI.withShelf().send(.get, path)
        #expect(found.status == status && found.text("parameter") == parameter)
    }
}
