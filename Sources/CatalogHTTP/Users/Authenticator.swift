internal import Catalog
internal import HTTPTypes
internal import Hummingbird

/// Authenticates requests.
struct Authenticator: Sendable {
    /// The verifier of tokens; nil rejects all tokens.
    let verifier: TokenVerifier?

    /// Returns the caller; nil without a token.
    ///
    /// A token must be valid even if none is required, so that a client learns about an expired token from its first
    /// response.
    func caller(of request: Request, for access: Access) async throws -> Caller? {
        if case .open = access { return nil }
        guard let header = request.headers[.authorization] else { return nil }
        return try await caller(header)
    }

    /// Checks that a caller has access to an endpoint.
    ///
    /// - Parameter store: the store of the request's path.
    func authorize(_ caller: Caller?, for access: Access, in store: CatalogKey?) throws {
        switch access {
        case .open, .optionalToken: break
        case .user: guard caller != nil else { throw Self.unauthenticated("this endpoint requires a token") }
        case .scope(let scope):
            guard let caller else {
                throw Self.unauthenticated("this endpoint requires a token with the scope \(scope.rawValue)")
            }
            guard caller.has(scope) else {
                throw Self.insufficient(scope, "the token lacks the scope \(scope.rawValue)")
            }
            guard caller.isValid(for: store) else {
                throw Self.insufficient(
                    scope,
                    store.map { "the token's claim “stores” does not include the store “\($0)”" }
                        ?? "this endpoint requires a token without the claim “stores”"
                )
            }
        }
    }

    /// Source: RFC 6750, section 3.1.
    private static func insufficient(_ scope: Scope, _ detail: String) -> Problem {
        var problem = Problem(.forbidden, detail)
        problem.headers[.wwwAuthenticate] =
            "Bearer realm=\"aisle\", error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
        return problem
    }

    private func caller(_ header: String) async throws -> Caller {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw Self.invalidToken("the Authorization header must be a Bearer token")
        }
        return try await self.caller(token: String(parts[1].drop { $0 == " " }))
    }

    /// - Throws: 401; `unavailable` if no key set could be fetched yet.
    func caller(token: String) async throws(Problem) -> Caller {
        guard let verifier else { throw Self.invalidToken("this server has no keys configured to verify tokens") }
        do { return try await verifier.verify(token) } catch {
            switch error {
            case .invalid(let reason): throw Self.invalidToken(reason)
            case .keysUnavailable:
                var problem = Problem(.unavailable, "the keys that verify tokens cannot be fetched yet; retry later")
                problem.headers[.retryAfter] = "1"
                throw problem
            }
        }
    }

    /// Returns the problem for a request without credentials, without an error code. Source: RFC 6750, section 3.1.
    static func unauthenticated(_ detail: String) -> Problem {
        var problem = Problem(.unauthenticated, detail)
        problem.headers[.wwwAuthenticate] = "Bearer realm=\"aisle\""
        return problem
    }

    static func invalidToken(_ reason: String) -> Problem {
        var problem = Problem(.unauthenticated, reason)
        problem.headers[.wwwAuthenticate] =
            "Bearer realm=\"aisle\", error=\"invalid_token\", error_description=\"\(reason.filter { $0 != "\"" && $0.isASCII })\""
        return problem
    }
}
