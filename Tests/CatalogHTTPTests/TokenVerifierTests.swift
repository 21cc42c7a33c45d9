import Catalog
import CatalogHTTP
import CatalogJSON
import Crypto
import CryptoExtras
import Foundation
import Synchronization
import Testing

/// Valid and invalid tokens, created without the library that verifies them.
@Suite(.timeLimit(.minutes(15))) struct TokenVerifierTests {
    private static let secret = Array("thirty-two bytes are the shortest secret".utf8)
    private static let now = Timestamp(microseconds: 1_800_000_000_000_000)
    private static let elliptic = P256.Signing.PrivateKey()
    private static let other = P256.Signing.PrivateKey()
    private static let rsa = try! _RSA.Signing.PrivateKey(keySize: .bits2048)

    private static func part(_ json: String) -> String { Base64URL.encode(Array(json.utf8)) }

    private static func signed(_ header: String, _ claims: String, _ sign: ([UInt8]) throws -> [UInt8]) rethrows
        -> String
    {
        let text = part(header) + "." + part(claims)
        return text + "." + Base64URL.encode(try sign(Array(text.utf8)))
    }

    private static func mac(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    }

    private static func hs256(
        _ claims: String = #"{"sub":"ann","exp":1800000600}"#,
        header: String = #"{"alg":"HS256","typ":"JWT"}"#,
        key: [UInt8] = secret
    ) -> String {
        signed(header, claims) { mac(key, $0) }
    }

    private static func es256(_ kid: String?, key: P256.Signing.PrivateKey = elliptic) throws -> String {
        let header = kid.map { #"{"alg":"ES256","kid":"\#($0)"}"# } ?? #"{"alg":"ES256"}"#
        return try signed(header, #"{"sub":"ann","exp":1800000600}"#) {
            Array(try key.signature(for: $0).rawRepresentation)
        }
    }

    private static func jwk(_ kid: String, _ key: P256.Signing.PrivateKey, _ more: String = "") -> String {
        let point = Array(key.publicKey.rawRepresentation)
        return
            #"{"kty":"EC","crv":"P-256","kid":"\#(kid)","x":"\#(Base64URL.encode(point[..<32]))","y":"\#(Base64URL.encode(point[32...]))"\#(more)}"#
    }

    private static var rsaJWK: String {
        let numbers = try! rsa.publicKey.getKeyPrimitives()
        return
            #"{"kty":"RSA","kid":"r","use":"sig","alg":"RS256","n":"\#(Base64URL.encode(numbers.modulus))","e":"\#(Base64URL.encode(numbers.publicExponent))"}"#
    }

    private static func set(_ keys: String...) -> [UInt8] { Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8) }

    private static func verifier(
        secret: [UInt8]? = secret,
        set: [UInt8]? = nil,
        rules: TokenVerifier.Rules = .init(),
        clock: @escaping @Sendable () -> Timestamp = { now }
    ) async -> TokenVerifier {
        let secrets = [secret].compactMap { $0 }
        let keys = if let set { TokenKeys(secrets: secrets, load: { set }) } else { TokenKeys(secrets: secrets) }
        return TokenVerifier(keys: keys, rules: rules, clock: clock)
    }

    @Test("A valid token yields its user and scopes")
    func acceptsValidTokens() async throws {
        let verifier = await Self.verifier()
        let claims = #"{"sub":"guest:7","exp":1800000600,"nbf":1799999990,"scope":"openid catalog:write"}"#
        // Twice: the second time it is cached.
        for _ in 0..<2 {
            let caller = try await verifier.verify(Self.hs256(claims))
            #expect(caller.user == UserID("guest:7"))
            #expect(caller.user.isGuest)
            #expect(caller.scopes == [.catalogWrite])
            #expect(caller.expiresAt.microseconds == 1_800_000_600_000_000)
        }
        #expect(try await verifier.verify(Self.hs256()).scopes.isEmpty)
    }

    @Test("A token can be limited to stores")
    func readsStores() async throws {
        let verifier = await Self.verifier()
        let (some, none) = (
            #"{"sub":"ann","exp":1800000600,"stores":["a","b"]}"#, #"{"sub":"ann","exp":1800000600,"stores":[]}"#
        )
        #expect(try await verifier.verify(Self.hs256(some)).stores == [CatalogKey("a")!, CatalogKey("b")!])
        #expect(try await verifier.verify(Self.hs256(none)).stores == [])
        #expect(try await verifier.verify(Self.hs256()).stores == nil)
    }

    @Test("The customer of a token is its claim, or its subject")
    func readsCustomer() async throws {
        let verifier = await Self.verifier()
        let card = #"{"sub":"ann","exp":1800000600,"customer":"card 7"}"#
        #expect(try await verifier.verify(Self.hs256(card)).customer == "card 7")
        #expect(try await verifier.verify(Self.hs256()).customer == "ann")
    }

    @Test("While a secret is rotated, tokens of the old and the new one are accepted")
    func acceptsSeveralSecrets() async throws {
        let secrets = (0..<3).map { Array("secret number \($0), of thirty-two bytes or more".utf8) }
        let verifier = TokenVerifier(keys: TokenKeys(secrets: Array(secrets[..<2])), clock: { Self.now })
        for secret in secrets[..<2] {
            #expect(try await verifier.verify(Self.hs256(key: secret)).user == UserID("ann"))
        }
        await #expect(throws: TokenError.self) { try await verifier.verify(Self.hs256(key: secrets[2])) }
    }

    @Test("A signed token is verified with its claims", arguments: [nil, [], [CatalogKey("a")!]])
    func signedTokenIsVerified(stores: Set<CatalogKey>?) async throws {
        let end = Timestamp(microseconds: Self.now.microseconds + 60_000_000)
        let caller = Caller(
            user: UserID("ann")!,
            scopes: [.orderWrite, .pricesWrite],
            stores: stores,
            customer: "card 7",
            expiresAt: end,
            token: "token 7"
        )
        let token = TokenSigner(secret: Self.secret).token(for: caller, issuedAt: Self.now)
        #expect(try await Self.verifier().verify(token) == caller)
    }

    @Test("A token is named by its id if that is short and printable, otherwise by a hash")
    func tokenIsNamed() async throws {
        let verifier = await Self.verifier()
        let claims = #""sub":"ann","exp":1800000600"#
        let named = try await verifier.verify(Self.hs256("{\(claims),\"jti\":\"a b/7\"}"))
        #expect(named.token == "a b/7")
        let long = String(repeating: "x", count: 129)
        for id in [nil, "7", "\"\"", "\"a\\u0007\"", "\"\(long)\""] {
            let text = Self.hs256("{\(claims)\(id.map { ",\"jti\":\($0)" } ?? "")}")
            let name = try #require(try await verifier.verify(text).token)
            #expect(name.wholeMatch(of: /sha256:[0-9a-f]{16}/) != nil, "\(name)")
            #expect(!text.contains(name.dropFirst(7)))
            // The second time, it comes from the cache.
            #expect(try await verifier.verify(text).token == name)
        }
    }

    @Test(
        "Invalid claims are rejected",
        arguments: [
            #"{"exp":1800000600}"#, #"{"sub":"","exp":1800000600}"#, #"{"sub":7,"exp":1800000600}"#,
            #"{"sub":"a\u0007","exp":1800000600}"#, #"{"sub":"ann"}"#, #"{"sub":"ann","exp":"1800000600"}"#,
            #"{"sub":"ann","exp":1e300}"#, #"{"sub":"ann","exp":-1}"#, #"{"sub":"ann","exp":1799999900}"#,
            #"{"sub":"ann","exp":1800000600,"nbf":1800000100}"#, #"{"sub":"ann","exp":1900000000}"#,
            #"{"sub":"ann","exp":1800000600,"stores":"a"}"#, #"{"sub":"ann","exp":1800000600,"stores":["A b"]}"#,
            #"{"sub":"ann","exp":1800000600,"stores":[1]}"#, #"{"sub":"ann","exp":1800000600,"stores":null}"#,
            #"{"sub":"ann","exp":1800000600,"customer":7}"#, #"{"sub":"ann","exp":1800000600,"customer":""}"#,
            #"{"sub":"ann","exp":1800000600,"customer":null}"#,
            #"{"sub":"ann","sub":"bob","exp":1800000600}"#, #"["sub"]"#, "no json", "",
        ]
    )
    func rejectsInvalidClaims(claims: String) async throws {
        let verifier = await Self.verifier()
        await #expect(throws: TokenError.self) { try await verifier.verify(Self.hs256(claims)) }
    }

    @Test(
        "Invalid headers are rejected",
        arguments: [
            #"{"alg":"none"}"#, #"{"alg":"None"}"#, #"{"alg":"HS512"}"#, #"{"alg":"RS256"}"#, #"{"alg":"ES256"}"#,
            #"{}"#,
            #"{"alg":"HS256","crit":["x"],"x":1}"#, #"{"alg":"HS256","b64":false}"#, #"{"alg":"HS256","kid":7}"#,
            #"{"alg":["HS256"]}"#,
        ]
    )
    func rejectsInvalidHeaders(header: String) async throws {
        let verifier = await Self.verifier(set: Self.set(Self.jwk("e", Self.elliptic), Self.rsaJWK))
        await #expect(throws: TokenError.self) { try await verifier.verify(Self.hs256(header: header)) }
    }

    @Test("Altered, forged and oversized tokens are rejected")
    func rejectsForgedTokens() async throws {
        let verifier = await Self.verifier()
        let valid = Self.hs256()
        _ = try await verifier.verify(valid)
        for index in valid.indices {
            var altered = valid
            altered.replaceSubrange(index...index, with: valid[index] == "A" ? "B" : "A")
            await #expect(throws: TokenError.self, "\(altered)") { try await verifier.verify(altered) }
        }
        let unsigned = valid.split(separator: ".").dropLast().joined(separator: ".") + "."
        let long = Self.hs256(#"{"sub":"ann","exp":1800000600,"x":"\#(String(repeating: "x", count: 8192))"}"#)
        for token in [
            unsigned, String(unsigned.dropLast()), valid + "=", valid + ".", "a.b.c", "..", "", long,
            Self.hs256(key: Array("another secret of thirty-two bytes".utf8)), Self.hs256(key: []),
        ] {
            await #expect(throws: TokenError.self) { try await verifier.verify(token) }
        }
    }

    @Test("The issuer and the audience must match the configuration")
    func checksIssuerAndAudience() async throws {
        let rules = TokenVerifier.Rules(issuer: "https://id.example", audiences: ["aisle"])
        let verifier = await Self.verifier(rules: rules)
        let base = #""sub":"ann","exp":1800000600"#
        for good in [#""iss":"https://id.example","aud":"aisle""#, #""iss":"https://id.example","aud":["x","aisle"]"#] {
            #expect(try await verifier.verify(Self.hs256("{\(base),\(good)}")).user.text == "ann")
        }
        for bad in [
            #""iss":"https://id.example""#, #""aud":"aisle""#, #""iss":"https://id.example","aud":"aisle2""#,
            #""iss":"https://other.example","aud":"aisle""#, #""iss":["https://id.example"],"aud":"aisle""#,
            #""iss":"https://id.example","aud":[]"#, #""iss":"https://id.example","aud":7"#,
        ] {
            await #expect(throws: TokenError.self) { try await verifier.verify(Self.hs256("{\(base),\(bad)}")) }
        }
    }

    @Test("A token for one of several configured audiences is accepted")
    func acceptsSeveralAudiences() async throws {
        let verifier = await Self.verifier(rules: TokenVerifier.Rules(audiences: ["aisle", "shop"]))
        let base = #""sub":"ann","exp":1800000600"#
        for good in [#""aud":"aisle""#, #""aud":"shop""#, #""aud":["x","shop"]"#] {
            #expect(try await verifier.verify(Self.hs256("{\(base),\(good)}")).user.text == "ann")
        }
        for bad in [#""aud":"aisle,shop""#, #""aud":["x"]"#, #""aud":[]"#] {
            await #expect(throws: TokenError.self) { try await verifier.verify(Self.hs256("{\(base),\(bad)}")) }
        }
    }

    @Test("A key of a key set verifies its own algorithm only")
    func keysVerifyOwnAlgorithmOnly()
        async throws
    {
        let set = Self.set(Self.jwk("e", Self.elliptic), Self.rsaJWK)
        let verifier = await Self.verifier(set: set)
        #expect(try await verifier.verify(try Self.es256("e")).user.text == "ann")
        let claims = #"{"sub":"ann","exp":1800000600}"#
        let rs256 = try Self.signed(#"{"alg":"RS256","kid":"r"}"#, claims) {
            Array(try Self.rsa.signature(for: SHA256.hash(data: $0), padding: .insecurePKCS1v1_5).rawRepresentation)
        }
        #expect(try await verifier.verify(rs256).user.text == "ann")
        // The public key must not work as an HMAC secret.
        let pem = Array(Self.rsa.publicKey.pemRepresentation.utf8)
        let onlySet = await Self.verifier(secret: nil, set: set)
        for token in [
            try Self.es256("r"), try Self.es256("none"), try Self.es256(nil), try Self.es256("e", key: Self.other),
            Self.hs256(header: #"{"alg":"HS256","kid":"r"}"#, key: pem), Self.hs256(),
        ] {
            await #expect(throws: TokenError.self) { try await onlySet.verify(token) }
        }
        // With a single key, a token does not need a key id.
        let single = await Self.verifier(secret: nil, set: Self.set(Self.jwk("e", Self.elliptic)))
        #expect(try await single.verify(try Self.es256(nil)).user.text == "ann")
    }

    @Test("Keys that are not for signatures are ignored")
    func ignoresNonSignatureKeys() async throws {
        for unusable in [
            Self.jwk("e", Self.elliptic, #","use":"enc""#), Self.jwk("e", Self.elliptic, #","alg":"ES384""#),
            Self.jwk("e", Self.elliptic, #","d":"AAAA""#), #"{"kty":"oct","kid":"e","k":"c2VjcmV0"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"e","x":"AA","y":"AA"}"#, #"{"kid":"e"}"#, "7",
            #"{"kty":"RSA","kid":"e","n":"\#(Base64URL.encode([UInt8](repeating: 255, count: 128)))","e":"AQAB"}"#,
        ] {
            let verifier = await Self.verifier(set: Self.set(unusable, Self.jwk("o", Self.other)))
            #expect(try await verifier.verify(try Self.es256("o", key: Self.other)).user.text == "ann")
            await #expect(throws: TokenError.self, "\(unusable)") { try await verifier.verify(try Self.es256("e")) }
        }
    }

    private final class Issuer: Sendable {
        let document = Mutex<[UInt8]?>(nil)
        let fetches = Mutex(0)
        let clock = Mutex(ContinuousClock.now)

        func load() throws -> [UInt8] {
            fetches.withLock { $0 += 1 }
            guard let bytes = document.withLock({ $0 }) else { throw CancellationError() }
            return bytes
        }

        func advance(_ seconds: Int) { clock.withLock { $0 += .seconds(seconds) } }
    }

    @Test("Rotated keys are fetched, and unknown key ids do not trigger unlimited fetches")
    func fetchesRotatedKeys() async throws {
        let issuer = Issuer()
        let keys = TokenKeys(
            secrets: [],
            load: { try issuer.load() },
            clock: { issuer.clock.withLock { $0 } }
        )
        let verifier = TokenVerifier(keys: keys, clock: { Self.now })
        let (old, new) = (try Self.es256("old"), try Self.es256("new", key: Self.other))
        // If the issuer is unreachable from the start, tokens are not reported as invalid.
        await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(old) }
        issuer.document.withLock { $0 = Self.set(Self.jwk("old", Self.elliptic)) }
        await #expect(throws: TokenError.keysUnavailable) { try await verifier.verify(old) }
        issuer.advance(11)
        #expect(try await verifier.verify(old).user.text == "ann")
        #expect(issuer.fetches.withLock { $0 } == 2)
        for number in 0..<50 {
            await #expect(throws: TokenError.self) { try await verifier.verify(try Self.es256("stranger\(number)")) }
        }
        #expect(issuer.fetches.withLock { $0 } == 2)
        issuer.document.withLock { $0 = Self.set(Self.jwk("new", Self.other)) }
        issuer.advance(11)
        #expect(try await verifier.verify(new).user.text == "ann")
        #expect(issuer.fetches.withLock { $0 } == 3)
        // Tokens signed with the old key are invalid although they were cached.
        await #expect(throws: TokenError.self) { try await verifier.verify(old) }
        // If the issuer is unreachable, the known keys remain in use.
        issuer.document.withLock { $0 = nil }
        issuer.advance(1000)
        #expect(try await verifier.verify(new).user.text == "ann")
    }

    @Test("A withdrawn key is noticed even if only cached tokens arrive")
    func noticesWithdrawnKeys() async throws {
        let issuer = Issuer()
        issuer.document.withLock { $0 = Self.set(Self.jwk("old", Self.elliptic), Self.jwk("new", Self.other)) }
        let keys = TokenKeys(secrets: [], load: { try issuer.load() }, clock: { issuer.clock.withLock { $0 } })
        let verifier = TokenVerifier(keys: keys, clock: { Self.now })
        let old = try Self.es256("old")
        _ = try await verifier.verify(old)
        issuer.document.withLock { $0 = Self.set(Self.jwk("new", Self.other)) }
        issuer.advance(299)
        _ = try await verifier.verify(old)
        issuer.advance(2)
        // The fetch runs in the background, so the next request must wait for it.
        _ = try? await verifier.verify(old)
        await keys.refresh()
        await #expect(throws: TokenError.self) { try await verifier.verify(old) }
    }

    @Test("A cached token expires on time")
    func cachedTokenExpires() async throws {
        let time = Mutex(Self.now)
        let keys = TokenKeys(secrets: [Self.secret])
        let verifier = TokenVerifier(keys: keys, clock: { time.withLock { $0 } })
        _ = try await verifier.verify(Self.hs256())
        time.withLock { $0 = Timestamp(microseconds: $0.microseconds + 629_000_000) }
        _ = try await verifier.verify(Self.hs256())
        time.withLock { $0 = Timestamp(microseconds: $0.microseconds + 1_000_000) }
        await #expect(throws: TokenError.invalid("the token has expired")) { try await verifier.verify(Self.hs256()) }
    }
}
