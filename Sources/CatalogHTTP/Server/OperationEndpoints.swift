internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// What operators and tools ask: liveness, readiness and the description of the API.
struct OperationEndpoints: EndpointGroup {
    let readiness: @Sendable () async -> Readiness
    /// Whether the server was asked to stop, and still serves clients that know it.
    let isDraining: @Sendable () -> Bool

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/livez", .open, timeLimit: nil) { _ in .plain("ok\n") },
            Endpoint(.get, "/readyz", .open, timeLimit: nil, ready),
            Endpoint(.get, "/openapi.json", .open, timeLimit: nil) { $0.hashed(OpenAPI.document) },
        ]
    }

    /// Whether reads and writes work, or with `?for=reads` reads alone.
    private func ready(_ call: Call) async throws -> Response {
        try call.target.allow("for")
        let use = try call.target.value("for") ?? "writes"
        guard ["reads", "writes"].contains(use) else {
            throw CatalogError.malformed(
                parameter: "for",
                detail: "for must be reads or writes (got “\(use.prefix(64))”)",
                allowed: ["reads", "writes"]
            )
        }
        if isDraining() {
            var draining = Problem(.unavailable, "the server is draining: it stops once its requests are answered")
            draining.headers[.retryAfter] = "5"
            throw draining
        }
        switch await readiness() {
        case .ready: return .plain("ok\n")
        case .readOnly where use == "reads": return .plain("ok\n")
        case .readOnly: throw CatalogError.readOnly
        case .unavailable: throw CatalogError.unavailable
        }
    }
}
