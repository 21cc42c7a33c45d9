package import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// What a demonstration opens to everybody who reaches the server: sessions for which nobody is asked for a password, and
/// storms of prices. A server that others reach must not have one.
package final class Demo: Sendable {
    private let signer: TokenSigner
    /// Each store's days of price changes, and how many were played since the server started.
    private let storms: [CatalogKey: [[PriceChange]]]
    private let played = Mutex<[CatalogKey: Int]>([:])

    /// How long a session lasts, in seconds.
    private static let lifetime: Int64 = 12 * 3600

    /// - Parameters:
    ///   - signer: signs the sessions' tokens.
    ///   - storms: price changes by store and day, which begin anew after the last.
    package init(signer: TokenSigner, storms: [CatalogKey: [[PriceChange]]]) {
        self.signer = signer
        self.storms = storms.filter { !$0.value.isEmpty }
    }

    var stores: [CatalogKey] { storms.keys.sorted { $0.text < $1.text } }

    /// A session of a user, and when it ends.
    func session(of user: UserID, _ scopes: Set<Scope>) async throws -> (token: String, expiresAt: Timestamp) {
        let end = Timestamp(microseconds: Timestamp.now().microseconds + Self.lifetime * 1_000_000)
        return (try await signer.token(for: Caller(user: user, scopes: scopes, expiresAt: end)), end)
    }

    /// The next day of a store's prices, from 1 on; nil where the store has none.
    func nextDay(_ store: CatalogKey) -> (day: Int, of: Int, changes: [PriceChange])? {
        guard let days = storms[store] else { return nil }
        let index = played.withLock { played in
            defer { played[store, default: 0] += 1 }
            return played[store, default: 0] % days.count
        }
        return (index + 1, days.count, days[index])
    }

    /// Whether a host that is listened on is this machine for itself.
    package static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return ["localhost", "::1"].contains(host.lowercased())
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The same of the authority of a request: a host, in brackets where it is an IPv6 address, and a port.
    package static func isLoopback(authority: String) -> Bool {
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return isLoopback(String(authority[authority.index(after: authority.startIndex)..<end]))
        }
        return isLoopback(String(authority.prefix { $0 != ":" }))
    }
}

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
        guard let (day, days, changes) = try demo(request).nextDay(store) else {
            throw Problem(.notFound, "the demonstration has no prices to play for the store \(store)")
        }
        let known = try await catalog.products(store, changes.map(\.sku)).products
        let skus = Set(known.map(\.sku))
        let answer = try await catalog.setPrices(changes.filter { skus.contains($0.sku) }, in: store)
        let bytes = object { json in
            json.field("day", day)
            json.field("days", days)
            json.field("changed", answer.changed)
        }
        return json(bytes, cache: "no-store")
    }

    /// The demonstration, for a request that names this very machine: a page of another name that leads here is none of ours.
    private func demo(_ request: Request) throws -> Demo {
        guard let demo = options.demo else { throw Problem(.notFound, "this server is no demonstration") }
        guard Demo.isLoopback(authority: request.head.authority ?? "") else {
            throw Problem(.forbidden, "the demonstration is for this machine alone; use localhost or 127.0.0.1")
        }
        return demo
    }
}
