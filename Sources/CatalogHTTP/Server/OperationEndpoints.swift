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
            Endpoint(.get, "/livez", .open, .getLiveness, timeLimit: nil, runsOnEventLoop: true) { _ in .plain("ok\n")
            },
            Endpoint(.get, "/readyz", .open, .getReadiness, timeLimit: nil, runsOnEventLoop: true, ready),
            Endpoint(.get, "/openapi.json", .open, .getOpenAPI, timeLimit: nil) { $0.file(OpenAPI.file) },
        ]
    }

    /// Returns whether reads and writes work, or only reads with `?for=reads`.
    private func ready(_ call: Call) async throws -> Response {
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

// MARK: - Documentation

extension Operation {
    fileprivate static let getLiveness = Operation(
        "getLiveness",
        .operations,
        "Check that the process runs",
        "Always returns 200.",
        parameters: nil,
        [200: .component("Alive")]
    )

    fileprivate static let getReadiness = Operation(
        "getReadiness",
        .operations,
        "Check that the server can serve",
        "Returns within one second.",
        parameters: [Parameter("for", as: "ready_for")],
        [200: .component("Ready"), 503: .component("ReadOnly")]
    )

    fileprivate static let getOpenAPI = Operation(
        "getOpenAPI",
        .operations,
        "Get this document",
        "Returns this document.",
        parameters: nil,
        [200: .component("Description", isTagged: true)]
    )
}

/// The OpenAPI 3.1 description of the API, from `openapi.json`. Its paths follow from the endpoint table, and the lists of its components from
/// the types. The rest is written by hand.
package enum OpenAPI {
    /// The recorded document.
    package static let document = PackageResources.openapi_json
    static let file = StaticFile(document, "application/json")
}
