internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The endpoint that sets prices in bulk.
struct PriceEndpoint: EndpointGroup {
    let prices: any PriceStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post,
                "/v1/stores/{store}/prices",
                .scope(.pricesWrite),
                .setPrices,
                body: .large,
                timeLimit: TimeLimit.prices.request,
                cost: 20,
                set
            )
        ]
    }

    private func set(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: PriceOutcome.self)
        let changes = try PriceChange.list(body: body)
        let outcome = try await prices.setPrices(changes, in: call.parameters.store, pricedIn: nil, once: once)
        return .outcome(outcome.json)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let setPrices = Operation(
        "setPrices",
        .purchasesAndPrices,
        "Set prices",
        "Sets up to 10,000 prices, all or none.",
        parameters: [.idempotencyKey],
        body: .json("PriceChanges"),
        [200: .json("The prices are set.", "PriceResult")]
    )
}
