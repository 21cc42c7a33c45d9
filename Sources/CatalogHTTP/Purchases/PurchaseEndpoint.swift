internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The endpoint that records purchases.
struct PurchaseEndpoint: EndpointGroup {
    let purchases: any PurchaseStore

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post,
                "/v1/stores/{store}/purchases",
                .scope(.purchasesWrite),
                .addPurchases,
                body: .large,
                timeLimit: TimeLimit.bulk.request,
                cost: 20,
                add
            )
        ]
    }

    private func add(_ call: Call) async throws -> Response {
        let (body, once) = try await call.recordableJSON(recording: PurchaseOutcome.self)
        let list = try Purchase.list(body: body, now: .now())
        let outcome = try await purchases.add(list, to: call.parameters.store, once: once)
        return .outcome(outcome.json, status: .accepted)
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let addPurchases = Operation(
        "addPurchases",
        .purchasesAndPrices,
        "Report purchases",
        "Reports up to 10,000 purchases and refunds, all or none. The next re-sort counts them.",
        parameters: [.idempotencyKey],
        body: .json("Purchases"),
        [202: .json("The purchases are stored.", "PurchaseResult")]
    )
}
