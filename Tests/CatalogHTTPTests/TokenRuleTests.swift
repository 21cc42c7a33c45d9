import Catalog
import CatalogJSON
import Crypto
import CryptoExtras
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CatalogHTTP

/// Limits and times of tokens and their keys, each at its edge, and the reasons for rejections.
@Suite(.timeLimit(.minutes(15))) struct TokenRuleTests {
    private static let secret = Array("thirty-two bytes are the shortest secret".utf8)
    /// 2027-01-15T08:00:00Z, in seconds.
    private static let now: Int64 = 1_800_000_000

    private static func signed(_ claims: String, header: String = #"{"alg":"HS256"}"#) -> String {
        let text = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: secret))
        return text + "." + Base64URL.encode(Array(code))
    }

    private static func makeVerifier(
        rules: TokenVerifier.Rules = .init(),
        at seconds: @escaping @Sendable () -> Int64 = { now }
    ) -> TokenVerifier {
        TokenVerifier(
            keys: TokenKeys(secrets: [secret]),
            rules: rules,
            clock: { Timestamp(microseconds: seconds() * 1_000_000) }
        )
    }

    /// Returns why a token is rejected; nil for an accepted one.
    private static func rejection(
        _ token: String,
        _ verifier: TokenVerifier = makeVerifier()
    ) async throws -> String? {
        do {
            _ = try await verifier.verify(token)
            return nil
        } catch TokenError.invalid(let reason) { return reason }
    }

    @Test("The limits are those of the documentation")
    func constants() {
        #expect(TokenVerifier.limit == 8192)
        #expect(TokenVerifier.maximumLifetimeDays == 366)
        #expect(TokenKeys.minimumSecretLength == 32)
        #expect(TokenVerifier.Rules().leeway == 30)
        #expect(TokenVerifier.Rules().issuer == nil && TokenVerifier.Rules().audiences.isEmpty)
        #expect(TokenAlgorithm.allCases.map(\.rawValue) == ["HS256", "ES256", "RS256"])
    }

    @Test(
        "A token is valid from nbf to exp, with 30 seconds of leeway, and for at most 366 days",
        arguments: [
            (#""exp":1799999971"#, nil), (#""exp":1799999970"#, "the token has expired"),
            (#""exp":1831622400"#, nil), (#""exp":1831622401"#, "the token expires more than 366 days from now"),
            (#""exp":1800000600,"nbf":1800000030"#, nil),
            (#""exp":1800000600,"nbf":1800000031"#, "the token is not valid yet"),
            // Fractions are dropped.
            (#""exp":1799999971.9"#, nil), (#""exp":1799999970.9"#, "the token has expired"),
            (#""exp":1800000600,"nbf":0"#, nil), (#""iat":1"#, "the token has no exp"),
            (#""exp":1800000600,"nbf":"1""#, "the token's nbf is not a time in seconds"),
            (#""exp":1800000600,"nbf":-1"#, "the token's nbf is not a time in seconds"),
            (#""exp":99999999999"#, "the token expires more than 366 days from now"),
            (#""exp":100000000000"#, "the token's exp is not a time in seconds"),
        ] as [(String, String?)]
    )
    func lifetimes(claims: String, reason: String?) async throws {
        #expect(try await Self.rejection(Self.signed("{\"sub\":\"ann\",\(claims)}")) == reason)
    }

    @Test("A cached token is checked again with the same leeway")
    func cachedLifetimes() async throws {
        let seconds = Mutex(Self.now)
        let verifier = Self.makeVerifier(at: { seconds.withLock { $0 } })
        let token = Self.signed(#"{"sub":"ann","exp":1800000600,"nbf":1800000000}"#)
        for (time, reason) in [
            (1_800_000_000, nil), (1_799_999_970, nil), (1_799_999_969, "the token is not valid yet"),
            (1_800_000_629, nil), (1_800_000_630, "the token has expired"),
        ] as [(Int64, String?)] {
            seconds.withLock { $0 = time }
            #expect(try await Self.rejection(token, verifier) == reason, "\(time)")
        }
    }

    @Test("A token may have 8,192 bytes")
    func tokenLengths() async throws {
        // Four characters for three bytes of claims.
        func token(_ padding: Int) -> String {
            Self.signed(#"{"sub":"ann","exp":1800000600,"x":"\#(String(repeating: "x", count: padding))"}"#)
        }
        let base = token(0).utf8.count
        var padding = (8192 - base) / 4 * 3 - 3
        while token(padding + 1).utf8.count <= 8192 { padding += 1 }
        #expect(token(padding).utf8.count > 8188)
        #expect(try await Self.rejection(token(padding)) == nil)
        #expect(try await Self.rejection(token(padding + 1)) == "the token exceeds 8192 bytes")
    }

    @Test(
        "The reason for a rejection names the claim or the part of the token",
        arguments: [
            (#"{"exp":1800000600}"#, "the token's sub is missing, or is not 1 to 255 bytes of printable text"),
            (#"{"sub":"ann","exp":1800000600,"stores":7}"#, "the token's stores is not an array of store keys"),
            (#"{"sub":"ann","exp":1800000600,"stores":["A"]}"#, "the token's stores is not an array of store keys"),
            (
                #"{"sub":"ann","exp":1800000600,"customer":"a\u0001"}"#,
                "the token's customer is not 1 to 200 bytes of printable text"
            ),
            ("[]", "the token is not a JSON Web Token"), ("{", "the token is not a JSON Web Token"),
        ]
    )
    func reasons(claims: String, reason: String) async throws {
        #expect(try await Self.rejection(Self.signed(claims)) == reason)
    }

    @Test("A customer may have as many bytes as in purchases")
    func customers() async throws {
        for (length, isAccepted) in [(200, true), (201, false)] {
            let name = String(repeating: "c", count: length)
            let reason = try await Self.rejection(
                Self.signed(#"{"sub":"ann","exp":1800000600,"customer":"\#(name)"}"#)
            )
            #expect((reason == nil) == isAccepted)
        }
    }

    @Test("The id of a token has 1 to 128 bytes; another token is named by the first 8 bytes of its hash")
    func names() async throws {
        let id = String(repeating: "i", count: 128)
        let named = try await Self.makeVerifier().verify(Self.signed(#"{"sub":"ann","exp":1800000600,"jti":"\#(id)"}"#))
        #expect(named.token == id)
        let token = Self.signed(#"{"sub":"ann","exp":1800000600,"jti":"\#(id)i"}"#)
        let hash = SHA256.hash(data: Array(token.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        #expect(try await Self.makeVerifier().verify(token).token == "sha256:\(hash.joined())")
    }

    @Test(
        "An invalid header has its reason",
        arguments: [
            (#"{"alg":"none"}"#, "the token's algorithm must be one of HS256, ES256, RS256"),
            (#"{"alg":7}"#, "the token's algorithm must be one of HS256, ES256, RS256"),
            (#"{"alg":"HS256","crit":[]}"#, "the token's header has unsupported extensions"),
            (#"{"alg":"HS256","b64":true}"#, "the token's header has unsupported extensions"),
            (#"{"alg":"HS256","kid":7}"#, "the token's kid is not a string"),
            (#"{"alg":"ES256"}"#, "the token is not signed by a known key"),
            ("[]", "the token is not a JSON Web Token"),
        ]
    )
    func headers(header: String, reason: String) async throws {
        let claims = #"{"sub":"ann","exp":1800000600}"#
        #expect(try await Self.rejection(Self.signed(claims, header: header)) == reason)
        #expect(try await Self.rejection(Self.signed(claims, header: #"{"alg":"HS256","kid":"any"}"#)) == nil)
    }

    @Test("The issuer and the audience have their reasons")
    func issuers() async throws {
        let verifier = Self.makeVerifier(rules: .init(issuer: "i", audiences: ["a"]))
        for (claims, reason) in [
            (#""iss":"i","aud":"a""#, nil),
            (#""iss":"x","aud":"a""#, "this server does not accept the token's issuer (iss)"),
            (#""iss":"i","aud":"x""#, "the token's audience (aud) does not include this service"),
            (#""iss":"i""#, "the token's audience (aud) does not include this service"),
        ] as [(String, String?)] {
            let token = Self.signed("{\"sub\":\"ann\",\"exp\":1800000600,\(claims)}")
            #expect(try await Self.rejection(token, verifier) == reason)
        }
    }

    @Test("Unknown scopes are ignored, and scopes are separated by spaces")
    func scopes() async throws {
        let claims = #"{"sub":"ann","exp":1800000600,"scope":" order:write  prices:write,x catalog "}"#
        #expect(try await Self.makeVerifier().verify(Self.signed(claims)).scopes == [.orderWrite])
        let array = #"{"sub":"ann","exp":1800000600,"scope":["order:write"]}"#
        #expect(try await Self.makeVerifier().verify(Self.signed(array)).scopes.isEmpty)
    }

    // MARK: - Signing

    private static func parts(_ token: String) throws -> [String] {
        try token.split(separator: ".").prefix(2).map { part in
            String(decoding: try #require(Base64URL.decode(String(part))), as: UTF8.self)
        }
    }

    @Test("A signed token has the claims of its caller and of the rules, in seconds")
    func signedClaims() throws {
        let signer = TokenSigner(secret: Self.secret, rules: .init(issuer: "i", audiences: ["a", "b"]))
        let caller = Caller(
            user: UserID("ann")!,
            scopes: [.pricesWrite, .orderWrite],
            stores: [CatalogKey("t")!, CatalogKey("s")!],
            customer: "card",
            expiresAt: Timestamp(microseconds: 1_800_000_600_999_999),
            token: "7"
        )
        let token = signer.token(for: caller, issuedAt: Timestamp(microseconds: 1_800_000_000_999_999))
        #expect(
            try Self.parts(token) == [
                #"{"alg":"HS256","typ":"JWT"}"#,
                #"{"sub":"ann","iat":1800000000,"exp":1800000600,"jti":"7","iss":"i","aud":"a","#
                    + #""scope":"order:write prices:write","customer":"card","stores":["s","t"]}"#,
            ]
        )
        let plain = Caller(user: UserID("ann")!, expiresAt: Timestamp(microseconds: 1_800_000_600_000_000))
        let short = TokenSigner(secret: Self.secret).token(for: plain, issuedAt: Timestamp(microseconds: 0))
        #expect(try Self.parts(short)[1] == #"{"sub":"ann","iat":0,"exp":1800000600}"#)
    }

    // MARK: - Key sets

    private static let elliptic = P256.Signing.PrivateKey()

    private static func jwk(_ more: String, curve: String = "P-256") -> String {
        let point = Array(elliptic.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.encode(point[..<32]), Base64URL.encode(point[32...]))
        return #"{"kty":"EC","crv":"\#(curve)","x":"\#(x)","y":"\#(y)"\#(more)}"#
    }

    private static func set(_ keys: String...) throws(TokenError) -> TokenKeySet {
        try TokenKeySet(Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8))
    }

    @Test("A key set has its keys by kid, and without a kid only a single key")
    func keySets() throws {
        let one = try Self.set(Self.jwk(#","kid":"a""#))
        #expect(one.key("a") != nil && one.key("b") == nil && one.key(nil) != nil)
        let two = try Self.set(Self.jwk(#","kid":"a","use":"sig","alg":"ES256""#), Self.jwk(""))
        #expect(two.key("a") != nil && two.key(nil) == nil)
        let unnamed = try Self.set(Self.jwk(""))
        #expect(unnamed.key(nil)?.algorithm == .es256 && unnamed.key("a") == nil)
    }

    @Test("A document without usable keys has its reason")
    func unusableSets() {
        for document in ["", "[]", "{}", #"{"keys":{}}"#] {
            #expect(throws: TokenError.invalid("the key set is not a JSON object with “keys”")) {
                try TokenKeySet(Array(document.utf8))
            }
        }
        let empty = TokenError.invalid("the key set has no key for ES256 or RS256 signatures")
        #expect(throws: empty) { try Self.set() }
        for unusable in [
            Self.jwk(#","use":"enc""#), Self.jwk(#","d":"AA""#), Self.jwk(#","alg":"RS256""#),
            Self.jwk("", curve: "P-384"), #"{"kty":"OKP","crv":"P-256"}"#,
        ] {
            #expect(throws: empty, "\(unusable)") { try Self.set(unusable) }
        }
    }

    @Test("An RSA key must have 2,048 significant bits")
    func rsaKeys() throws {
        func jwk(_ modulus: [UInt8]) -> String {
            #"{"kty":"RSA","kid":"r","n":"\#(Base64URL.encode(modulus))","e":"AQAB"}"#
        }
        let modulus = Array(try _RSA.Signing.PrivateKey(keySize: .bits2048).publicKey.getKeyPrimitives().modulus)
        #expect(try Self.set(jwk(modulus)).key("r")?.algorithm == .rs256)
        #expect(try Self.set(jwk([0] + modulus)).key("r")?.algorithm == .rs256)
        for short in [Array(modulus.dropLast()), [0] + modulus.dropLast()] {
            #expect(throws: TokenError.self) { try Self.set(jwk(short)) }
        }
    }

    // MARK: - Fetching

    private final class Issuer: Sendable {
        let document = Mutex<[UInt8]?>(nil)
        let fetches = Mutex(0)
        let time = Mutex(ContinuousClock.now)

        var count: Int { fetches.withLock { $0 } }

        func load() throws -> [UInt8] {
            fetches.withLock { $0 += 1 }
            guard let bytes = document.withLock({ $0 }) else { throw CancellationError() }
            return bytes
        }

        func advance(_ duration: Duration) { time.withLock { $0 += duration } }

        func keys(_ secrets: [[UInt8]] = []) -> TokenKeys {
            TokenKeys(secrets: secrets, load: { try self.load() }, clock: { self.time.withLock { $0 } })
        }
    }

    @Test("A key set is fetched again for an unknown key 10 seconds after the last attempt")
    func retries() async throws {
        let issuer = Issuer()
        let keys = issuer.keys()
        await #expect(throws: TokenError.keysUnavailable) { try await keys.keys(.es256, "a") }
        issuer.advance(.milliseconds(9999))
        await #expect(throws: TokenError.keysUnavailable) { try await keys.keys(.es256, "a") }
        #expect(issuer.count == 1)
        issuer.document.withLock { $0 = Array(#"{"keys":[\#(Self.jwk(#","kid":"a""#))]}"#.utf8) }
        issuer.advance(.milliseconds(1))
        #expect(try await keys.keys(.es256, "a").count == 1)
        #expect(issuer.count == 2 && keys.generation.load(ordering: .relaxed) == 1)
        // The key has one algorithm.
        #expect(try await keys.keys(.rs256, "a").isEmpty)
        #expect(try await keys.keys(.es256, "b").isEmpty)
        #expect(issuer.count == 2)
        issuer.advance(.seconds(10))
        #expect(try await keys.keys(.es256, "b").isEmpty)
        #expect(issuer.count == 3 && keys.generation.load(ordering: .relaxed) == 2)
    }

    @Test("A key set is due for a refresh after 300 seconds, and again 10 seconds after a failure")
    func refreshes() async throws {
        let issuer = Issuer()
        issuer.document.withLock { $0 = Array(#"{"keys":[\#(Self.jwk(#","kid":"a""#))]}"#.utf8) }
        let keys = issuer.keys()
        // Before the first fetch, nothing is due.
        keys.refreshIfDue()
        #expect(await keys.refresh())
        #expect(issuer.count == 1)
        issuer.advance(.milliseconds(299_999))
        keys.refreshIfDue()
        #expect(issuer.count == 1)
        issuer.document.withLock { $0 = nil }
        issuer.advance(.milliseconds(1))
        keys.refreshIfDue()
        #expect(await eventually { issuer.count == 2 })
        // Waits for the attempt, or makes another one.
        #expect(await keys.refresh() == false)
        let attempts = issuer.count
        // The set stays in use.
        #expect(try await keys.keys(.es256, "a").count == 1)
        issuer.advance(.milliseconds(9999))
        keys.refreshIfDue()
        issuer.document.withLock { $0 = Array(#"{"keys":[\#(Self.jwk(#","kid":"b""#))]}"#.utf8) }
        issuer.advance(.milliseconds(1))
        keys.refreshIfDue()
        #expect(await eventually { keys.generation.load(ordering: .relaxed) == 2 })
        #expect(issuer.count == attempts + 1)
        #expect(try await keys.keys(.es256, "b").count == 1)
    }

    @Test("Secrets need no key set, and without a source only secrets are keys")
    func secretsAndSets() async throws {
        let keys = TokenKeys(secrets: [Self.secret, Self.secret])
        #expect(try await keys.keys(.hs256, "any").count == 2)
        #expect(try await keys.keys(.es256, nil).isEmpty)
        #expect(await keys.refresh())
        let issuer = Issuer()
        #expect(try await issuer.keys([Self.secret]).keys(.hs256, nil).count == 1)
        #expect(issuer.count == 0)
        #expect(await issuer.keys().refresh() == false)
        issuer.document.withLock { $0 = Array("{}".utf8) }
        #expect(await issuer.keys().refresh() == false)
    }
}
