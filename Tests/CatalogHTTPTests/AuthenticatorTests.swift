import Catalog
import CatalogJSON
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CatalogHTTP

/// How requests authenticate, and the challenges of those that do not (RFC 6750, section 3).
@Suite(.timeLimit(.minutes(15))) struct AuthenticatorTests {
    private static let secret = Array("a secret of thirty-two bytes, or more".utf8)
    private static let authenticator = Authenticator(verifier: TokenVerifier(keys: TokenKeys(secrets: [secret])))
    private static let token = TokenSigner(secret: secret).token(
        for: Caller(
            user: UserID("ann")!,
            expiresAt: Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
        )
    )

    private static func request(_ authorization: String?) throws -> Request {
        try Call.sample(.get, "/a", authorization.map { ["Authorization": $0] } ?? [:]).request
    }

    @Test("A token is sent with the scheme Bearer in any letter case, after one space or several")
    func acceptsTokens() async throws {
        for header in ["Bearer \(Self.token)", "bearer \(Self.token)", "BEARER   \(Self.token)"] {
            let caller = try await Self.authenticator.caller(of: Self.request(header), for: .optionalToken)
            #expect(caller?.user.text == "ann", "\(header.prefix(10))")
        }
        #expect(try await Self.authenticator.caller(of: Self.request(nil), for: .user) == nil)
    }

    @Test("An open endpoint ignores even an invalid token")
    func openEndpoints() async throws {
        #expect(try await Self.authenticator.caller(of: Self.request("Bearer x"), for: .open) == nil)
    }

    @Test(
        "Another scheme, or none, is an invalid token",
        arguments: ["Basic YW5uOng=", "Bearer", "Bearer ", "", "Bearer\u{9}x", "xBearer x"]
    )
    func otherSchemes(header: String) async throws {
        let problem = await #expect(throws: Problem.self) {
            _ = try await Self.authenticator.caller(of: Self.request(header), for: .optionalToken)
        }
        #expect(problem?.kind == .unauthenticated)
        #expect(problem?.detail == "the Authorization header must be a Bearer token")
        #expect(
            problem?.headers[.wwwAuthenticate]
                == #"Bearer realm="aisle", error="invalid_token", error_description="the Authorization header must be a Bearer token""#
        )
    }

    @Test("A reason in a header has neither quotes nor other characters than ASCII")
    func reasonsInHeaders() {
        let problem = Authenticator.invalidToken("a “b” \"c\" é")
        #expect(problem.detail == "a “b” \"c\" é")
        #expect(
            problem.headers[.wwwAuthenticate]
                == #"Bearer realm="aisle", error="invalid_token", error_description="a b c ""#
        )
    }

    @Test("Without a token, the challenge has no error")
    func missingTokens() {
        let problem = Authenticator.unauthenticated("d")
        #expect(problem.kind == .unauthenticated && problem.detail == "d")
        #expect(problem.headers[.wwwAuthenticate] == #"Bearer realm="aisle""#)
    }

    @Test("A server without keys rejects tokens, and one that cannot fetch keys asks to retry")
    func missingKeys() async throws {
        let none = await #expect(throws: Problem.self) {
            _ = try await Authenticator(verifier: nil).caller(token: "x")
        }
        #expect(none?.kind == .unauthenticated)
        #expect(none?.detail == "this server has no keys configured to verify tokens")
        let keys = TokenKeys(secrets: [], load: { throw CancellationError() })
        let text = Base64URL.encode(Array(#"{"alg":"ES256"}"#.utf8)) + "." + Base64URL.encode(Array("{}".utf8)) + ".AA"
        let later = await #expect(throws: Problem.self) {
            _ = try await Authenticator(verifier: TokenVerifier(keys: keys)).caller(token: text)
        }
        #expect(later?.kind == .unavailable && later?.headers[.retryAfter] == "1")
        #expect(later?.detail == "the keys that verify tokens cannot be fetched yet; retry later")
    }

    private static func caller(_ scopes: Set<Scope> = [], stores: Set<CatalogKey>? = nil) -> Caller {
        Caller(user: UserID("ann")!, scopes: scopes, stores: stores, expiresAt: Timestamp(microseconds: 0))
    }

    @Test("Open and optional endpoints need no caller, and a user's any")
    func accessWithoutScope() throws {
        for access in [Access.open, .optionalToken] {
            #expect(throws: Never.self) { try Self.authenticator.authorize(nil, for: access, in: nil) }
        }
        #expect(throws: Never.self) { try Self.authenticator.authorize(Self.caller(), for: .user, in: nil) }
        let problem = #expect(throws: Problem.self) { try Self.authenticator.authorize(nil, for: .user, in: nil) }
        #expect(problem?.detail == "this endpoint requires a token")
        #expect(problem?.headers[.wwwAuthenticate] == #"Bearer realm="aisle""#)
    }

    @Test("A scope must be of the token, and valid for the store")
    func accessWithScope() throws {
        let (store, other) = (CatalogKey("s")!, CatalogKey("t")!)
        let scope = Access.scope(.pricesWrite)
        for caller in [
            Self.caller([.pricesWrite]), Self.caller([.catalogWrite]), Self.caller([.pricesWrite], stores: [store]),
        ] {
            #expect(throws: Never.self) { try Self.authenticator.authorize(caller, for: scope, in: store) }
        }
        for (caller, store, detail) in [
            (Self.caller([.orderWrite]), store, "the token lacks the scope prices:write"),
            (
                Self.caller([.pricesWrite], stores: [other]), store,
                "the token's claim “stores” does not include the store “s”"
            ),
            (
                Self.caller([.pricesWrite], stores: [other]), nil,
                "this endpoint requires a token without the claim “stores”"
            ),
        ] as [(Caller, CatalogKey?, String)] {
            let problem = #expect(throws: Problem.self) {
                try Self.authenticator.authorize(caller, for: scope, in: store)
            }
            #expect(problem?.kind == .forbidden && problem?.detail == detail)
            #expect(
                problem?.headers[.wwwAuthenticate]
                    == #"Bearer realm="aisle", error="insufficient_scope", scope="prices:write""#
            )
        }
        let missing = #expect(throws: Problem.self) { try Self.authenticator.authorize(nil, for: scope, in: store) }
        #expect(missing?.kind == .unauthenticated)
        #expect(missing?.detail == "this endpoint requires a token with the scope prices:write")
    }
}
