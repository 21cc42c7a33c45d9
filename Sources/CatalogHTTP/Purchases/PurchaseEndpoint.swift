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
                body: .large,
                timeLimit: TimeLimit.bulk.request,
                cost: 20,
                add
            )
        ]
    }

    private func add(_ call: Call) async throws -> Response {
        try call.target.allow()
        let (body, once) = try await call.postedJSON()
        let list = try Purchase.list(body: body, now: .now())
        let outcome = try await purchases.add(list, to: call.parameters.store, once: once)
        return .outcome(outcome.json, status: .accepted)
    }
}
