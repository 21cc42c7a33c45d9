internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The suggestions for searches that users are typing.
struct SuggestionEndpoint: EndpointGroup {
    let suggestions: any SuggestionStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get,
                "/v1/stores/{store}/suggest",
                .optionalToken,
                .suggest,
                timeLimit: TimeLimit.shelf.request,
                cost: 2,
                suggest
            )
        ]
    }

    private func suggest(_ call: Call) async throws -> Response {
        let text = try call.target.value("q") ?? ""
        let limit = try call.target.limit(default: Suggestion.defaultLimit, in: Suggestion.limits)
        let request = SuggestionRequest(store: try call.parameters.store, text: text, limit: limit)
        // Users type words that they may not want to leave in caches.
        let found = try await suggestions.suggestions(for: request)
        if found.hasRead { call.work.add(points: PageEndpoints.pointsForUnion) }
        call.work.add(rows: found.indexedProducts)
        return .json(found.suggestions.json(for: request), cache: "no-store")
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let suggest = Operation(
        "suggest",
        .search,
        "Suggest searches and products",
        """
        Returns suggestions for the text typed so far, `q`: completed queries, shelves, brands and products, in this order. \
        The last word may be incomplete. Products match as in a search, with synonyms and typing errors. Suggestions may miss \
        the changes of the last second, unlike all other responses. A text without a letter or a digit has none.
        """,
        parameters: [.query, .suggestionLimit],
        [200: .json("The suggestions.", "Suggestions", [])]
    )
}
