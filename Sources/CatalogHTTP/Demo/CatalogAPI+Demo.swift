internal import CatalogJSON
internal import Catalog
internal import HTTPTypes
internal import Hummingbird

extension CatalogAPI {
    /// `GET /demo`: what the demonstration has, where the server is one.
    func demoParts() -> Response {
        let bytes = object { json in
            json.field("sessions", options.demo != nil)
            json.array("storms", options.demo?.stores ?? []) { $0.string($1.text) }
        }
        return json(bytes, cache: "no-store")
    }

    /// `POST /demo/tokens` with `{"user":"ann","scope":"catalog:write"}`, the scope where it is wanted.
    func demoToken(_ target: RequestTarget, _ request: Request) async throws -> Response {
        try target.allow()
        let demo = try demo(request)
        let body = try await body(request)
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
        let bytes = object { json in
            json.field("token", session.token)
            json.field("user", user.text)
            json.field("expires_at", session.expiresAt.rfc3339)
        }
        return json(bytes, status: .created, cache: "no-store")
    }

    /// `POST /demo/stores/{store}/storm`: the next day's prices.
    func demoStorm(_ store: CatalogKey, _ target: RequestTarget, _ request: Request) async throws -> Response {
        try target.allow()
        let catalog = catalog
        let played = try await demo(request).play(store) { changes in
            let known = Set(try await catalog.products(store, changes.map(\.sku)).products.map(\.sku))
            return try await catalog.setPrices(changes.filter { known.contains($0.sku) }, in: store).changed
        }
        guard let day = played else {
            throw Problem(.notFound, "the demonstration has no prices to play for the store \(store)")
        }
        let bytes = object { json in
            json.field("day", day.number)
            json.field("days", day.count)
            json.field("changed", day.changed)
        }
        return json(bytes, cache: "no-store")
    }

    /// The demonstration, for a request that comes from this very machine.
    ///
    /// A page of another site, whether it says so or leads its own name here, is none of ours; nor is what somebody else's
    /// request became on its way through a proxy.
    private func demo(_ request: Request) throws -> Demo {
        guard let demo = options.demo else { throw Problem(.notFound, "this server is no demonstration") }
        let authority = request.head.authority ?? ""
        let isForwarded = Self.forwarding.contains { request.headers[$0] != nil }
        let origin = request.headers[.origin]
        let isOurs = origin == nil || origin == "http://\(authority)"
        guard Demo.isLoopback(authority: authority), !isForwarded, isOurs else {
            throw Problem(
                .forbidden,
                "the demonstration is for this machine alone; use localhost or 127.0.0.1, without a proxy"
            )
        }
        return demo
    }

    private static let forwarding: [HTTPField.Name] = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP",
    ]
    .map { .init($0)! }
}
