internal import JSON
internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// The endpoints of a demo server, open to everyone on this machine.
struct DemoEndpoints: EndpointGroup {
    /// nil if the server is not a demo.
    let demo: Demo?
    let products: any ProductStore
    let prices: any PriceStore

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/demo", .open, .getDemo, timeLimit: nil, features),
            Endpoint(.post, "/demo/tokens", .open, .createDemoToken, makeToken),
            Endpoint(
                .post,
                "/demo/stores/{store}/storm",
                .scope(.pricesWrite),
                .playStorm,
                timeLimit: TimeLimit.bulk.request,
                cost: 20,
                playStorm
            ),
        ]
    }

    /// `GET /demo`: the features of the demo, if the server is one.
    private func features(_ call: Call) -> Response {
        let bytes = JSONWriter.object { json in
            json.field("sessions", demo != nil)
            json.array("storms", demo?.stores ?? []) { $0.string($1.text) }
        }
        return .json(bytes, cache: "no-store")
    }

    /// `POST /demo/tokens` with `{"user":"ann","scope":"catalog:write"}`; the scope is optional.
    private func makeToken(_ call: Call) async throws -> Response {
        let demo = try demo(call)
        let body = try await call.json()
        guard case .string(let name)? = body["user"], let user = UserID(name) else {
            throw CatalogError.unprocessable(field: "user", detail: "user must be \(UserID.rule)")
        }
        var scopes: Set<Scope> = []
        switch body["scope"] {
        case nil, .null?: break
        case .string(let text)?:
            guard let scope = Scope(rawValue: text) else { fallthrough }
            scopes = [scope]
        default:
            let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
            throw CatalogError.unprocessable(field: "scope", detail: "scope must be one of: \(known)")
        }
        let session = try await demo.session(of: user, scopes)
        let bytes = JSONWriter.object { json in
            json.field("token", session.token)
            json.field("user", user.text)
            json.field("expires_at", session.expiresAt.rfc3339)
        }
        return .json(bytes, status: .created, cache: "no-store")
    }

    /// `POST /demo/stores/{store}/storm`: plays the next day's prices.
    private func playStorm(_ call: Call) async throws -> Response {
        let (store, products, prices) = (try call.parameters.store, products, prices)
        let played = try await demo(call).play(store) { changes in
            let known = Set(try await products.products(store, changes.map(\.sku)).products.map(\.sku))
            return try await prices.setPrices(changes.filter { known.contains($0.sku) }, in: store).changed
        }
        guard let day = played else {
            throw Problem(.notFound, "the demo has no price changes for store “\(store)”")
        }
        let bytes = JSONWriter.object { json in
            json.field("day", day.number)
            json.field("days", day.count)
            json.field("changed", day.changed)
        }
        return .json(bytes, cache: "no-store")
    }

    /// Returns the demo for a request from this machine.
    ///
    /// Requests from other origins are rejected, as are requests for another host name (DNS rebinding) and requests
    /// forwarded by a proxy.
    private func demo(_ call: Call) throws -> Demo {
        let request = call.request
        guard let demo = demo else { throw Problem(.notFound, "this server is not a demo") }
        let authority = request.head.authority ?? ""
        let isForwarded = Self.forwardingHeaders.contains { request.headers[$0] != nil }
        let origin = request.headers[.origin]
        let isSameOrigin = origin == nil || origin == "http://\(authority)"
        guard Demo.isLoopback(authority: authority), !isForwarded, isSameOrigin else {
            throw Problem(
                .forbidden,
                "the demo only accepts local requests; use localhost or 127.0.0.1, without a proxy"
            )
        }
        return demo
    }

    private static let forwardingHeaders: [HTTPField.Name] = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP",
    ]
    .map { .init($0)! }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let getDemo = Operation(
        "getDemo",
        .demo,
        "Get the features of the demo",
        "Returns what a demo server offers to users of its machine; `aisle dev` runs one.",
        parameters: nil,
        [200: .json("The features.", "DemoFeatures"), 500: .component("Fault")]
    )

    fileprivate static let createDemoToken = Operation(
        "createDemoToken",
        .demo,
        "Create a demo token",
        "Returns a token for any user. Only for local requests to a demo server.",
        body: .json("DemoTokenInput"),
        [
            201: .json("The token.", "DemoToken"), 403: .component("DemoForbidden"), 404: .component("NotFound"),
            503: .component("Unavailable"),
        ]
    )

    fileprivate static let playStorm = Operation(
        "playStorm",
        .demo,
        "Apply a day of price changes",
        """
        Applies the next day of price changes to a store of the seed catalog. Only for local \
        requests to a demo server.
        """,
        [200: .json("The prices are set.", "StormResult"), 403: .component("DemoForbidden")]
    )
}
