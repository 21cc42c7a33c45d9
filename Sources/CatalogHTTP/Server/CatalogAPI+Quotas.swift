internal import Hummingbird

/// The quotas of clients.
extension CatalogAPI {
    /// Charges a request to a client. The points and the client are evaluated only if requests are limited.
    func charge(
        _ points: @autoclosure () -> Int,
        to client: @autoclosure () -> RateLimiter.Client,
        _ endpoint: Endpoint,
        _ quota: inout RateLimiter.Quota?
    ) throws {
        // Probes, web pages and the OpenAPI document are free.
        guard let limiter, endpoint.isCharged else { return }
        try limiter.charge(points(), to: client(), &quota)
    }

    /// Charges a client for the rows that were read and the length of the response, which are known only now.
    func settle(_ response: Response, _ call: Call, _ quota: inout RateLimiter.Quota?) {
        let points = Endpoint.points(rows: call.work.rows, responseLength: response.body.contentLength ?? 0)
        guard points > 0, let limiter, call.endpoint.isCharged else { return }
        limiter.settle(points, with: call.client, &quota)
    }
}
