internal import CatalogJSON
internal import Catalog
internal import HTTPTypes
internal import Hummingbird

// What comes in by the thousand.
extension CatalogAPI {
    /// `POST …/purchases`.
    func addPurchases(
        _ store: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow()
        let bytes = try await bodyBytes(request, bound: Route.orderBodyBound)
        let purchases = try Purchase.list(body: try json(of: bytes), now: .now())
        let answer = try await catalog.add(purchases, to: store, once: try idempotentCall(request, bytes, caller)) {
            RecordedAnswer(status: 202, body: $0.json)
        }
        return recorded(answer)
    }

    /// `POST …/prices`.
    func setPrices(
        _ store: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow()
        let bytes = try await bodyBytes(request, bound: Route.orderBodyBound)
        let answer = try await catalog.setPrices(
            try PriceChange.list(body: try json(of: bytes)),
            in: store,
            pricedIn: nil,
            once: try idempotentCall(request, bytes, caller)
        ) { RecordedAnswer(body: $0.json) }
        return recorded(answer)
    }
}
