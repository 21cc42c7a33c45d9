internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// Operational endpoints: liveness, readiness and the API description.
struct OperationEndpoints: EndpointGroup {
    let storage: any ReadinessSource
    let drainState: DrainState

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/livez", .open, timeLimit: nil, isDirect: true) { _ in .plain("ok\n") },
            Endpoint(.get, "/readyz", .open, timeLimit: nil, isDirect: true, ready),
            Endpoint(.get, "/openapi.json", .open, timeLimit: nil) { $0.file(OpenAPI.file) },
        ]
    }

    /// Returns whether reads and writes work, or only reads with `?for=reads`.
    private func ready(_ call: Call) async throws -> Response {
        try call.target.allow("for")
        let text = try call.target.value("for")
        guard let purpose = text.map({ Readiness.Purpose(rawValue: $0) }) ?? .writes else {
            throw CatalogError.malformed(
                parameter: "for",
                detail: "for must be reads or writes (got “\((text ?? "").prefix(64))”)",
                allowed: Readiness.Purpose.allCases.map(\.rawValue)
            )
        }
        if drainState.isDraining {
            var draining = Problem(.unavailable, "the server is draining; send requests to another server")
            draining.headers[.retryAfter] = "5"
            throw draining
        }
        let readiness = await storage.readiness()
        guard readiness.allows(purpose) else {
            throw readiness == .readOnly ? CatalogError.readOnly : CatalogError.unavailable
        }
        return .plain("ok\n")
    }
}
